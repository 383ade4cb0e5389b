package hosttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Dir returns a folder that is removed when the test ends. Unlike that of t.TempDir its path does
// not have the test's name in it: a socket's path has room for 107 bytes (unix(7)).
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "t")
	Check(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// shownLines is how many lines of a log a test shows when it fails: enough for what went wrong
// last.
const shownLines = 30

// LogFile returns a file for what programs that the test starts say on stderr. A test that fails
// shows the last lines.
func LogFile(t testing.TB) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	Check(t, err)
	t.Cleanup(func() {
		f.Close()
		if !t.Failed() {
			return
		}
		text, err := os.ReadFile(path)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		lines = lines[max(0, len(lines)-shownLines):]
		t.Logf("the log ends with (%v):\n%s", err, strings.Join(lines, "\n"))
	})
	return f
}
