package host_test

import (
	"os"
	"path/filepath"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// awaitSpares waits until the folder of a host's spares has as many as there are to be.
func awaitSpares(t *testing.T, h *host.Host) {
	t.Helper()
	hosttest.Eventually(t, "the spares are made", func() bool {
		entries, err := os.ReadDir(filepath.Join(host.StateDir(h), "spare"))
		return err == nil && len(entries) == 4
	})
}

func TestATerminalsFolderIsMadeAhead(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.LogBytes = 1 << 20 }) // in segments that hold less
	awaitSpares(t, h)
	term := run(t, h, carol, "x", "seq 1 100000; exec cat")
	awaitOutput(t, h, term, "100000")
	awaitSpares(t, h) // there is another one in its place
	// All that comes later is in the folder as well, which has been moved.
	files, err := filepath.Glob(filepath.Join(host.StateDir(h), "terms", "*", "log.*"))
	if err != nil || len(files) < 2 {
		t.Errorf("its log is in %q, %v", files, err)
	}
	before := logged(t, h, term)
	dir := killed(t, h)
	later := after(t, dir)
	if got := logged(t, later, find(t, later, "x")); got.raw != before.raw {
		t.Errorf("after a restart there are %d bytes, %d before", len(got.raw), len(before.raw))
	}
	list, err := hosttest.List(later, carol)
	if err != nil || len(list) != 1 {
		t.Errorf("after a restart %d terminals are listed, %v", len(list), err)
	}
	awaitSpares(t, later) // those of the host that was killed are gone
	if err := later.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "spare")); !os.IsNotExist(err) {
		t.Errorf("a host that has ended leaves its spares: %v", err)
	}
}
