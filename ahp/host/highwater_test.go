package host_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termhost/ahp/host"
)

func TestTheServerSeqNeverFallsAcrossRestarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clock := newClock()
	start := func() *host.Host {
		h, err := host.New(host.Config{StateDir: dir, Now: clock.Now, Shell: "/bin/sh", MaxExited: 1})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	stop := func(h *host.Host) {
		if err := h.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	h := start()
	if got := h.Stats().ServerSeq; got < uint64(clock.Now().UnixMicro()) {
		t.Errorf("it begins at %d", got)
	}
	wait(t, "exit", run(t, h, carol, "x", "exit 0").Done())
	stop(h)
	last := h.Stats().ServerSeq
	clock.advance(-365 * 24 * time.Hour)
	h = start()
	if got := h.Stats().ServerSeq; got < last {
		t.Errorf("after a restart with the clock set back it begins at %d, below %d", got, last)
	}
	wait(t, "exit", run(t, h, carol, "y", "exit 0").Done())
	// The host is killed: it saves nothing at its end.
	last = h.Stats().ServerSeq
	killed, err := os.ReadFile(filepath.Join(dir, "serverseq"))
	if err != nil {
		t.Fatal(err)
	}
	stop(h)
	writeFile(t, filepath.Join(dir, "serverseq"), string(killed))
	h = start()
	if got := h.Stats().ServerSeq; got < last {
		t.Errorf("after a crash with the clock set back it begins at %d, below %d", got, last)
	}
	stop(h)
	for _, torn := range []string{"", "12", "x", "99999999999999999999", "9007199254740993", "-5"} {
		writeFile(t, filepath.Join(dir, "serverseq"), torn)
		h = start()
		if got := h.Stats().ServerSeq; got < uint64(clock.Now().UnixMicro()) || got > 1<<52 {
			t.Errorf("with %q in the file it begins at %d", torn, got)
		}
		stop(h)
	}
}

func TestAHostThatCannotWriteBeginsWithTheClock(t *testing.T) {
	t.Parallel()
	clock := newClock()
	var log bytes.Buffer
	h, err := host.New(host.Config{StateDir: filepath.Join(t.TempDir(), "none"), Now: clock.Now,
		Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if got := h.Stats().ServerSeq; got < uint64(clock.Now().UnixMicro()) {
		t.Errorf("it begins at %d", got)
	}
	if !strings.Contains(log.String(), "do not set it back") {
		t.Errorf("the log says %s", log.String())
	}
	_ = h.Shutdown(context.Background()) // which cannot write either
}
