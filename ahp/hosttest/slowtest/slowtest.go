// Package slowtest is for tests only: it says which of them run in a plain go test, and how many at
// once. It imports nothing of ours, so that the tests of every package can use it.
//
// A plain go test leaves out tests that take many seconds, or programs that few machines have, and
// does others less often. With TERMHOST_SLOW=1 all is done, as in .ci/run.
package slowtest

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// On reports whether the slow tests run.
func On() bool { return os.Getenv("TERMHOST_SLOW") != "" }

// Skip skips a test unless the slow ones run.
func Skip(t testing.TB) {
	t.Helper()
	if !On() {
		t.Skip("a slow test: it runs with TERMHOST_SLOW=1")
	}
}

// Overlap has two parallel tests run at once on each processor, unless -parallel says otherwise:
// tests of terminals wait for other programs more than they compute. It is called in TestMain.
func Overlap() {
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err) // the tests are not initialized
	}
}
