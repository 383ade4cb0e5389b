package keys

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

func TestALoginIsTheFirstOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	l := OpenLogins(dir, log)
	for range 2 {
		if !l.First("SHA256:a") || l.First("SHA256:a") || l.First("two\nlines") {
			t.Error("the first login is not the first")
		}
		if l = OpenLogins(dir, log); l.First("SHA256:a") {
			t.Error("after a restart it is the first again")
		}
		if err := os.Remove(filepath.Join(dir, loginsName)); err != nil {
			t.Fatal(err)
		}
		l = OpenLogins(dir, log)
	}
	// A line that a crash has cut is nobody's.
	if err := os.WriteFile(filepath.Join(dir, loginsName), []byte("a\nb"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l = OpenLogins(dir, log); l.First("a") || !l.First("b") {
		t.Error("a cut line counts")
	}
}
