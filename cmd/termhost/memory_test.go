package main

import (
	"fmt"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
)

const (
	// crowd is how many terminals a key has at once: nearly as many as it may.
	crowd = 118
	// crowdLines is how many lines of 100 bytes each of them prints: more than is kept of it.
	crowdLines = 60000
	// crowdLimit is how much memory they may cost the host together, in bytes, when all have
	// printed. While they print, garbage that waits for the collector comes on top: it may be as
	// much again on a busy machine. Without a bound it is more than a gigabyte.
	crowdLimit = 200 << 20
)

// One operator has as many terminals as it may, and each of them prints more than is kept of it.
func TestTheTerminalsOfAnOperatorShareTheMemory(t *testing.T) {
	slow(t)
	t.Parallel()
	b := besiege(t, 1000)
	bob, err := b.dial("bob")
	if err != nil {
		t.Fatal(err)
	}
	verb := func(format string, args ...any) string {
		t.Helper()
		out, err := runOn(bob, fmt.Sprintf(format, args...))
		if err != nil {
			t.Fatal(out, err)
		}
		return out
	}
	pid, most := b.host.Cmd.Process.Pid, uint64(0)
	for i := range crowd {
		verb("new -d -n t%d -- sh -c 'seq -f %%099.0f %d; read x'", i, crowdLines)
		most = max(most, residentOf(t, pid))
	}
	last := fmt.Sprintf("%019d", crowdLines) // the end of the last line, on a row of its own
	for i := range crowd {
		hosttest.Eventually(t, "the last line", func() bool {
			most = max(most, residentOf(t, pid))
			return strings.HasSuffix(verb("peek t%d", i), last)
		})
	}
	running := residentOf(t, pid)
	lines := strings.Fields(verb("log t0"))[1:] // the first one may have lost its beginning
	for i, line := range lines {
		if want := fmt.Sprintf("%099d", crowdLines-len(lines)+i+1); line != want {
			t.Fatalf("line %d of %d is %s, want %s", i, len(lines), line, want)
		}
	}
	if len(lines) < 10000 {
		t.Errorf("its log has only %d lines", len(lines))
	}
	for i := range crowd {
		verb("send t%d --enter x", i)
	}
	exited := residentOf(t, pid)
	t.Logf("at most %d MB, %d MB while they run, %d MB when most have exited",
		most>>20, running>>20, exited>>20)
	if max(running, exited) > crowdLimit || most > 2*crowdLimit {
		t.Errorf("more than %d MB, or more than twice as much for a moment", crowdLimit>>20)
	}
}
