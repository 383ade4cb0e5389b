package main

import (
	"fmt"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

const (
	// crowd is how many terminals a key has at once: nearly as many as it may.
	crowd = 118
	// crowdLines is how many lines of 100 bytes each of them prints: more than is kept of it.
	crowdLines = 60000
	// crowdLimit is how much memory they may cost the host together, in bytes, when all have
	// printed. While they print, garbage that waits for the collector comes on top: it may be as
	// much again. Without a bound it is more than a gigabyte.
	crowdLimit = 200 << 20
)

// fullTerminals is a host with the terminals of an operator, each of which prints more than is kept
// of it.
type fullTerminals struct {
	*besieged
	bob *gossh.Client
}

// fill makes count terminals, t0 and so on, and waits until all have printed. It calls look again
// and again meanwhile. The programs then wait for a line.
func fill(t *testing.T, count int, look func(*besieged)) fullTerminals {
	t.Helper()
	f := fullTerminals{besieged: besiege(t, 1000)}
	var err error
	f.bob, err = f.dial("bob")
	hosttest.Check(t, err)
	for i := range count {
		f.verb("new -d -n t%d -- sh -c 'seq -f %%099.0f %d; read x'", i, crowdLines)
		look(f.besieged)
	}
	last := fmt.Sprintf("%019d", crowdLines) // the end of the last line, on a row of its own
	for i := range count {
		hosttest.Eventually(t, "the last line", func() bool {
			look(f.besieged)
			return strings.HasSuffix(f.verb("peek t%d", i), last)
		})
	}
	return f
}

// verb runs a command for the operator.
func (f fullTerminals) verb(format string, args ...any) string {
	f.t.Helper()
	out, err := runOn(f.bob, fmt.Sprintf(format, args...))
	if err != nil {
		f.t.Fatal(out, err)
	}
	return out
}

// The logs of many terminals that print more than is kept of them have the end of it, without gaps.
func TestTheLogsOfManyTerminalsHaveNoGaps(t *testing.T) {
	slow(t)
	t.Parallel()
	f := fill(t, crowd, func(*besieged) {})
	lines := strings.Fields(f.verb("log t0"))[1:] // the first one may have lost its beginning
	for i, line := range lines {
		if want := fmt.Sprintf("%099d", crowdLines-len(lines)+i+1); line != want {
			t.Fatalf("line %d of %d is %s, want %s", i, len(lines), line, want)
		}
	}
	if len(lines) < 10000 {
		t.Errorf("its log has only %d lines", len(lines))
	}
}

// One operator has as many terminals as it may, and each of them prints more than is kept of it.
func TestMeasuresTheTerminalsOfAnOperator(t *testing.T) {
	slowtest.Measures(t)
	most := uint64(0)
	look := func(b *besieged) { most = max(most, residentOf(t, b.host.Cmd.Process.Pid)) }
	f := fill(t, crowd, look)
	pid := f.host.Cmd.Process.Pid
	running := residentOf(t, pid)
	for i := range crowd {
		f.verb("send t%d --enter x", i)
	}
	exited := residentOf(t, pid)
	t.Logf("at most %d MB, %d MB while they run, %d MB when most have exited",
		most>>20, running>>20, exited>>20)
	if max(running, exited) > crowdLimit || most > 2*crowdLimit {
		t.Errorf("more than %d MB, or more than twice as much for a moment", crowdLimit>>20)
	}
}
