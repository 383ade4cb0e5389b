package acp

import (
	"testing"
	"time"

	"termhost/ahp/acp/wire"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// wanting returns why terminals want alice, by NAME.
func wanting(t *testing.T, h *host.Host) map[string]host.Want {
	t.Helper()
	list, err := hosttest.Conn(t, h, alice).Wanting()
	check(t, err)
	why := map[string]host.Want{}
	for _, w := range list {
		why[w.Terminal.Name()] = w.Why
	}
	return why
}

// TestWhatTheAgentHasReleasedWantsNobody is about commands that a person has not looked at. Until
// their agent is done with them they may want somebody, and from then on not.
func TestWhatTheAgentHasReleasedWantsNobody(t *testing.T) {
	t.Parallel()
	dir, change := stateDir(t)
	h := hosttest.New(t, change)
	a := connect(t, h, alice)
	ended, name := a.sh("exit 3")
	a.wait(ended)
	if why := wanting(t, h)[name]; why != host.WantExited {
		t.Errorf("%s wants her for %q", name, why)
	}
	_, running := a.sh("printf '\\a'; exec cat")
	hosttest.Eventually(t, "the bell rings", func() bool { return wanting(t, h)[running] != "" })

	a.must(wire.MethodRelease, of(ended), nil)
	if why, wants := wanting(t, h)[name]; wants {
		t.Errorf("%s, which is released, wants her for %q", name, why)
	}
	term, err := hosttest.Find(h, alice, running)
	check(t, err)
	a.s.Close() // with the connection all that is left is released
	<-term.Done()
	if left := wanting(t, h); len(left) > 0 {
		t.Errorf("there want her %v", left)
	}
	h, _ = next(t, killed(t, dir), time.Hour)
	if left := wanting(t, h); len(left) > 0 {
		t.Errorf("after a restart there want her %v", left)
	}
}
