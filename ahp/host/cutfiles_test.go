package host_test

import (
	"os"
	"path/filepath"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// TestTheHostsOwnFilesCutAnywhereKeepNoHostFromStarting is about what is in the state folder
// besides the folders of terminals.
func TestTheHostsOwnFilesCutAnywhereKeepNoHostFromStarting(t *testing.T) {
	t.Parallel()
	step := 23 // each length is a host's life
	if slowtest.On(t) {
		step = 5 // in the middle of a line all are alike
	}
	h := hosttest.New(t, func(c *host.Config) { c.Record = host.RecordAll })
	connect(t, h, bot, "agent")
	awaitOutput(t, h, run(t, h, carol, "x", "echo one; exec cat"), "one")
	dir := killed(t, h)
	recording, err := filepath.Glob(filepath.Join(dir, "recordings", "*"))
	if err != nil || len(recording) != 1 {
		t.Fatalf("there are the recordings %q, %v", recording, err)
	}
	files := append(recording, filepath.Join(dir, "host.journal"), filepath.Join(dir, "serverseq"))
	for _, file := range files {
		whole, err := os.ReadFile(file)
		if err != nil || len(whole) == 0 {
			t.Fatalf("%s has %d bytes, %v", filepath.Base(file), len(whole), err)
		}
		for n := 0; n < len(whole); n += min(step, 1+len(whole)/8) {
			writeFile(t, file, string(whole[:n]))
			later, err := host.New(host.Config{Shell: "/bin/sh", StateDir: dir, MaxExited: 64, Persist: true})
			if err != nil {
				t.Fatalf("%s cut at %d: %v", filepath.Base(file), n, err)
			}
			if list, err := hosttest.List(later, carol); err != nil || len(list) != 1 {
				t.Errorf("%s cut at %d: %d terminals, %v", filepath.Base(file), n, len(list), err)
			}
			if _, err := hosttest.Conn(t, later, carol).Recordings(); err != nil {
				t.Errorf("%s cut at %d: %v", filepath.Base(file), n, err)
			}
			if err := later.Shutdown(t.Context()); err != nil {
				t.Errorf("%s cut at %d: %v", filepath.Base(file), n, err)
			}
		}
		writeFile(t, file, string(whole))
	}
}
