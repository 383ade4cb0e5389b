// Package mcptest has the tests of the MCP door with programs that people use: Claude Code, Codex
// and Gemini CLI, each with a scripted model in place of its own, MCP's Inspector and its
// conformance suite. They come from npm, at the versions in packages, and talk to a real host.
//
// No test runs in a plain go test. With TERMHOST_SLOW=1 a part runs that takes well below a minute;
// all run with
//
//	TERMHOST_SLOW=1 TERMHOST_CLIENTS=all go test ./cmd/termhost/mcptest
//
// Nothing but npm reaches the internet, and npm only for what it has not kept. Where its registry
// cannot be reached the tests are skipped aloud.
package mcptest

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

func TestMain(m *testing.M) {
	slowtest.Overlap()
	code := slowtest.Reporting(m).Run()
	if dir, err := scratch(); err != nil || os.RemoveAll(dir) != nil {
		fmt.Println("files are left:", dir, err)
		code = 1
	}
	os.Exit(code)
}

// scratch returns a folder for what the tests share: the program and the packages.
var scratch = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "mcptest-") })

// build builds termhost.
var build = sync.OnceValues(func() (path string, err error) {
	dir, err := scratch()
	if err != nil {
		return "", err
	}
	return hosttest.Build(dir)
})

// program returns the path of termhost.
func program(t testing.TB) string {
	t.Helper()
	path, err := build()
	hosttest.Check(t, err)
	return path
}

// all leaves a test to runs of all tests: see the package's comment.
func all(t testing.TB) {
	t.Helper()
	slowtest.Skip(t)
	if os.Getenv("TERMHOST_CLIENTS") != "all" {
		t.Skip("it takes long: it runs with TERMHOST_CLIENTS=all")
	}
}

// place returns a path below scratch.
func place(t testing.TB, names ...string) string {
	t.Helper()
	dir, err := scratch()
	hosttest.Check(t, err)
	return filepath.Join(append([]string{dir}, names...)...)
}
