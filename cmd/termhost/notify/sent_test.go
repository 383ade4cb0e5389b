package notify_test

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/cmd/termhost/notify"
)

// TestARestartNotifiesOnlyOfWhatIsNew has one notifier after another with the same file.
func TestARestartNotifiesOnlyOfWhatIsNew(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "notified.json")
	const topic = "https://ntfy.example/t0pic"
	synctest.Test(t, func(t *testing.T) {
		run := func(log io.Writer, when []string, list ...host.Unseen) (told []string) {
			var mu sync.Mutex
			changes := make(chan struct{})
			n := notify.New(notify.Options{Changes: changes, Now: time.Now, File: file,
				Log: slog.New(slog.NewTextHandler(log, nil)), Unseen: func() []host.Unseen { return list }})
			notify.SetSend(n, func(title string) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, title)
			})
			n.SetTargets([]notify.Target{{Ntfy: topic, Principal: "ann", When: when}})
			changes <- struct{}{}
			time.Sleep(time.Minute)
			n.Close()
			return told
		}
		expect := func(told []string, want ...string) {
			t.Helper()
			if !slices.Equal(told, want) {
				t.Errorf("told are %q, want %q", told, want)
			}
		}
		build, deploy := asks("build", time.Now()), asks("deploy", time.Now())
		when := notify.DefaultReasons()
		expect(run(io.Discard, when, build), "build waits for an approval")
		expect(run(io.Discard, when))            // it is not known yet that it waits still
		expect(run(io.Discard, when, build))     // it is
		expect(run(io.Discard, when[:1], build)) // with other reasons it is the same target
		build.At = time.Now()
		expect(run(io.Discard, when, build, deploy), "2 terminals want you")
		text, err := os.ReadFile(file)
		hosttest.Check(t, err)
		if strings.Contains(string(text), "t0pic") || strings.Contains(string(text), "ntfy") {
			t.Errorf("the file has the address: %s", text)
		}
		time.Sleep(25 * time.Hour)
		expect(run(io.Discard, when, deploy))
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "build") {
			t.Errorf("what is not written anew is gone: %s, %v", text, err)
		}
		deploy.At = time.Now()
		expect(run(io.Discard, when, deploy), "deploy waits for an approval")
		if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), "build") {
			t.Errorf("what is a day old and over is not forgotten: %s, %v", text, err)
		}
		hosttest.Check(t, os.WriteFile(file, []byte("{"), 0o600))
		var log hosttest.Log
		expect(run(&log, when, deploy), "deploy waits for an approval")
		if !strings.Contains(log.String(), "notified.json: it is damaged") {
			t.Errorf("the log says %s", log.String())
		}
	})
}
