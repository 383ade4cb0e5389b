// Package pagetest has the tests of the page: a real browser shows the page of a real host. VS
// Code's client of a host runs in that browser, too.
//
// A plain go test runs one of them; all run with TERMHOST_SLOW=1, and none without chromium.
package pagetest

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

func TestMain(m *testing.M) {
	slowtest.Overlap()
	code := slowtest.Reporting(m).Run()
	if err := endBrowser(); err != nil {
		fmt.Println("the browser's files are left:", err)
		code = 1
	}
	if programDir != "" {
		if err := os.RemoveAll(programDir); err != nil {
			fmt.Println(err)
			code = 1
		}
	}
	os.Exit(code)
}

// programDir has the program; "": nobody has asked for it.
var programDir string

// build builds termhost, which is on the PATH from then on.
var build = sync.OnceValues(func() (path string, err error) {
	if programDir, err = os.MkdirTemp("", "termhost-"); err != nil {
		return "", err
	}
	if path, err = hosttest.Build(programDir); err != nil {
		return "", err
	}
	return path, os.Setenv("PATH", programDir+":"+os.Getenv("PATH"))
})

// program returns the path of termhost.
func program(t testing.TB) string {
	t.Helper()
	path, err := build()
	hosttest.Check(t, err)
	return path
}
