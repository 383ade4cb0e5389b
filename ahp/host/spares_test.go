package host

import (
	"os"
	"path/filepath"
	"testing"

	"termhost/ptypool/termlog"
)

// spareNames returns the names of the folders of a host's spares, once all are there.
func (h *Host) spareNames(t *testing.T) (names []string) {
	t.Helper()
	eventually(t, "the spares are made", func() bool {
		h.spares.mu.Lock()
		defer h.spares.mu.Unlock()
		return len(h.spares.ready) == spareFolders
	})
	entries, err := os.ReadDir(filepath.Join(h.cfg().StateDir, sparesDir))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if len(names) != spareFolders {
		t.Fatalf("there are the spares %q", names)
	}
	return names
}

func TestATerminalsFolderIsMadeAhead(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(c *Config) { c.LogBytes = 1 << 20 }) // in segments that hold less
	h.spareNames(t)
	term := run(t, h, carol, "x", "seq 1 100000; exec cat")
	term.awaitOutput(t, "100000")
	h.spareNames(t) // there is another one in its place
	// All that comes later is in the folder as well, which has been moved.
	files, err := filepath.Glob(filepath.Join(h.termsDir, "*", "log.*"))
	if err != nil || len(files) < 2 {
		t.Errorf("its log is in %q, %v", files, err)
	}
	before := logged(t, h, term)
	dir := killed(t, h)
	later := after(t, dir)
	if got := logged(t, later, find(t, later, "x")); got.raw != before.raw {
		t.Errorf("after a restart there are %d bytes, %d before", len(got.raw), len(before.raw))
	}
	list, err := later.List(carol)
	if err != nil || len(list) != 1 {
		t.Errorf("after a restart %d terminals are listed, %v", len(list), err)
	}
	later.spareNames(t) // those of the host that was killed are gone
	if err := later.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, sparesDir)); !os.IsNotExist(err) {
		t.Errorf("a host that has ended leaves its spares: %v", err)
	}
}

func TestSparesHaveLogsOfTheSizeThatIsConfigured(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(c *Config) { c.LogBytes = termlog.MinSize })
	old := h.spareNames(t)
	cfg := h.cfg().Config
	cfg.LogBytes = 4 * termlog.MinSize
	h.Configure(cfg)
	term := run(t, h, carol, "x", "exec cat") // whether the new ones are there yet or not
	if room := term.journal.log.Room(); room < termlog.MinSize/2 {
		t.Errorf("its log has room for %d bytes in a segment", room)
	}
	eventually(t, "the old ones are gone", func() bool {
		for _, name := range old {
			_, err := os.Stat(filepath.Join(h.cfg().StateDir, sparesDir, name))
			if err == nil {
				return false
			}
		}
		return true
	})
	h.spareNames(t)
}
