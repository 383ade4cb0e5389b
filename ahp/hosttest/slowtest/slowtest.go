// Package slowtest is for tests only: it says which of them run in a plain go test, and how many at
// once. It imports nothing of ours, so that the tests of every package can use it.
//
// A plain go test leaves out tests that take many seconds, or programs that few machines have, and
// does others less often. With TERMHOST_SLOW=1 all is done, as in .ci/full. What measures runs only
// with TERMHOST_MEASURE=1.
package slowtest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// Variable is the environment variable with which the slow tests run.
const Variable = "TERMHOST_SLOW"

// On reports whether the slow tests run. If they do not, it adds the name of the test, which then
// leaves something out, to the file that TERMHOST_SLOW_LIST names. So .ci/full knows which tests it
// has to run once more.
func On(t testing.TB) bool {
	t.Helper()
	if os.Getenv(Variable) != "" {
		return true
	}
	if file := os.Getenv("TERMHOST_SLOW_LIST"); file != "" {
		if err := list(file, t.Name()); err != nil {
			t.Errorf("TERMHOST_SLOW_LIST: %v", err)
		}
	}
	return false
}

// list adds a line with the name of a test to a file.
func list(file, test string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	test, _, _ = strings.Cut(test, "/")
	_, err = fmt.Fprintln(f, test)
	return errors.Join(err, f.Close())
}

// Skip skips a test unless the slow ones run.
func Skip(t testing.TB) {
	t.Helper()
	if !On(t) {
		leftOut.add("slow: TERMHOST_SLOW=1 runs them")
		t.Skip("a slow test: it runs with TERMHOST_SLOW=1")
	}
}

// Overlap has three parallel tests run at once on each processor, unless -parallel says otherwise:
// tests of terminals wait for other programs more than they compute. It is called in TestMain.
func Overlap() {
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		panic(err) // the tests are not initialized
	}
}
