package slowtest

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// Complete reports whether a test must not be left out because something is missing that it needs:
// with TERMHOST_REQUIRE_TOOLS set, as in .ci/full.
func Complete() bool { return os.Getenv("TERMHOST_REQUIRE_TOOLS") != "" }

// Missing skips a test aloud because something is missing that it needs. It fails the test if all
// are to run: see [Complete].
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if Complete() {
		t.Fatalf(format, args...)
	}
	leftOut.add(fmt.Sprintf(format, args...))
	t.Skipf("SKIPPED: "+format, args...)
}

// Program returns the path of a program that a test needs. Without it the test is [Missing].
func Program(t testing.TB, name string) (path string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "%v", err)
	}
	return path
}

// Programs is [Program] for several of which the paths are not needed.
func Programs(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		Program(t, name)
	}
}
