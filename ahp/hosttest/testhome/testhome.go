// Package testhome is for tests only: it gives the tests of a package a home folder of their own,
// where hosts, and the programs that they start, may write. It imports nothing of ours.
package testhome

import (
	"fmt"
	"os"

	"go.uber.org/goleak"
)

// Main runs a package's tests with HOME set to an empty folder, which it removes, and then fails if
// goroutines are left. It does not return.
func Main(m goleak.TestingM) {
	home, err := os.MkdirTemp("", "home-")
	if err == nil {
		err = os.Setenv("HOME", home)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(home)
		os.Exit(code)
	}))
}
