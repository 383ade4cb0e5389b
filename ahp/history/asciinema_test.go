package history_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"termhost/ahp/hosttest/slowtest"

	"termhost/ahp/history"
)

// asPlayed returns what a player should make of events.
func asPlayed(h history.Header, events []history.Event) (output string, sizes []string, markers int) {
	var b strings.Builder
	sizes = []string{fmt.Sprintf("%dx%d", h.Cols, h.Rows)}
	for _, ev := range events {
		switch ev.Kind {
		case history.Output:
			for _, r := range string(ev.Text) { // each byte that is not UTF-8 becomes U+FFFD
				b.WriteRune(r)
			}
		case history.Resize:
			sizes = append(sizes, fmt.Sprintf("%dx%d", ev.Cols, ev.Rows))
		case history.Marker:
			markers++
		}
	}
	return b.String(), sizes, markers
}

// casts are recordings for players.
func casts() map[string]struct {
	h      history.Header
	events []history.Event
} {
	h, events := busy(rand.New(rand.NewSource(7)))
	return map[string]struct {
		h      history.Header
		events []history.Event
	}{
		"sample": {history.Header{Cols: 80, Rows: 24, Term: "xterm", Title: "t", Began: time.Now()}, sample},
		"busy":   {h, append(events, history.Event{At: events[len(events)-1].At, Kind: history.Exit, Code: 1})},
		// Without an event players refuse it.
		"empty": {history.Header{Cols: 80, Rows: 24}, []history.Event{{Kind: history.Output}}},
	}
}

// The asciinema of Debian 12 knows version 2 only.
func TestAsciinema2PlaysOurCasts(t *testing.T) {
	slowtest.Programs(t, "asciinema", "script")
	for name, c := range casts() {
		file := filepath.Join(t.TempDir(), "x.cast")
		if err := os.WriteFile(file, []byte(encode(history.V2, c.h, c.events)), 0o600); err != nil {
			t.Fatal(err)
		}
		// It needs a terminal, which it leaves in raw mode.
		cmd := exec.Command("script", "-qefc", "asciinema cat "+file, "/dev/null")
		cmd.Stdin = nil
		cmd.Env = append(os.Environ(), "ASCIINEMA_CONFIG_HOME="+t.TempDir())
		got, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v: %.500s", name, err, got)
		}
		if want, _, _ := asPlayed(c.h, c.events); string(got) != want {
			t.Errorf("%s: %d bytes are played, of %d; they begin with %.300q", name, len(got),
				len(want), got)
		}
	}
}

func TestAsciinemaPlayerPlaysOurCasts(t *testing.T) {
	slowtest.Skip(t)
	slowtest.Programs(t, "node", "npm")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	npm := exec.Command("npm", "install",
		"--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		slowtest.Missing(t, "npm install: %v\n%s", err, out)
	}
	for name, c := range casts() {
		for _, version := range []int{history.V2, history.V3} {
			cmd := exec.Command("node", filepath.Join(dir, "play.mjs"))
			cmd.Stdin = strings.NewReader(encode(version, c.h, c.events))
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s, version %d: %v", name, version, err)
			}
			var got struct {
				Output   string
				Sizes    []string
				Duration float64
				Markers  []any
				Failed   string
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			output, sizes, markers := asPlayed(c.h, c.events)
			if got.Output != output || len(got.Markers) != markers || got.Failed != "" ||
				!slices.Equal(slices.Compact(got.Sizes), slices.Compact(sizes)) {
				t.Errorf("%s, version %d: %d bytes of %d, %d markers of %d, sizes %v of %v, %s", name,
					version, len(got.Output), len(output), len(got.Markers), markers, got.Sizes, sizes,
					got.Failed)
			}
		}
	}
}
