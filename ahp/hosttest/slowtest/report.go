package slowtest

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Tests runs the tests of a package, as [testing.M] does.
type Tests interface{ Run() int }

// Reporting returns a Tests that runs m and then tells the reader of a plain `go test ./...` which
// tests were left out and why: the go command shows nothing of a package that passes. It is for
// TestMain.
func Reporting(m Tests) Tests { return reporting{m} }

type reporting struct{ tests Tests }

func (r reporting) Run() int {
	code := r.tests.Run()
	if text := leftOut.summary(); text != "" && !testing.Verbose() {
		// A failure to write is one to a reader who has gone.
		if w, err := readerOf(os.Getppid()); err == nil {
			fmt.Fprintf(w, "skipped in %s: %s\n", packageName(os.Args[0]), text)
			w.Close()
		}
	}
	return code
}

// readerOf opens where the go command of these tests writes its errors.
func readerOf(pid int) (*os.File, error) {
	if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err != nil {
		return nil, err
	} else if string(bytes.TrimSpace(name)) != "go" {
		return nil, os.ErrNotExist
	}
	return os.OpenFile(fmt.Sprintf("/proc/%d/fd/2", pid), os.O_WRONLY|os.O_APPEND, 0)
}

// packageName returns the name of the package whose tests the program is: the go command calls it
// sshd.test.
func packageName(program string) string {
	return strings.TrimSuffix(program[strings.LastIndexByte(program, '/')+1:], ".test")
}

// reasons count the tests that were left out, by reason.
type reasons struct {
	mu    sync.Mutex
	count map[string]int
}

var leftOut reasons

func (r *reasons) add(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == nil {
		r.count = map[string]int{}
	}
	r.count[reason]++
}

// summary names the reasons, "" if there are none.
func (r *reasons) summary() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(r.count)) {
		parts = append(parts, fmt.Sprintf("%d (%s)", r.count[reason], reason))
	}
	return strings.Join(parts, ", ")
}
