package acp

import (
	"fmt"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// permits returns the params that tell of a permission about a terminal.
func permits(id, request string) params {
	return of(id).with("request", request).with("title", "send INT")
}

func TestPermissionsAreBoundedAndEndWithTheirConnection(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	m := NewMethods(h, nil)
	a, other := join(t, h, m, alice), join(t, h, m, alice)
	person, err := h.Connect(alice, host.DoorSSH)
	check(t, err)
	defer person.Close()
	listed := func(want int) {
		t.Helper()
		hosttest.Eventually(t, fmt.Sprint(want, " are listed"), func() bool {
			list, err := person.Asks()
			check(t, err)
			return len(list) == want
		})
	}
	id, name := a.create(command("cat"))
	other.refused(ahp.MethodACPPermission, permits(id, "1"), wire.CodeNoSuchTerminal)
	a.refused(ahp.MethodACPPermission, permits(id, ""), ahp.CodeInvalidParams)
	a.refused(ahp.MethodACPPermission, permits(id, strings.Repeat("x", maxRequest+1)),
		ahp.CodeInvalidParams)
	a.must(ahp.MethodACPPermission, permits(id, "1").with("over", true), nil) // it was never told
	for range 2 {
		a.must(ahp.MethodACPPermission, permits(id, "1"), nil)
	}
	listed(1)
	const most = 64
	for i := 2; i <= most; i++ {
		a.must(ahp.MethodACPPermission, permits(id, fmt.Sprint(i)), nil)
	}
	listed(most)
	a.refused(ahp.MethodACPPermission, permits(id, "more"), ahp.CodeNotPermitted)
	a.must(ahp.MethodACPPermission, permits(id, "1").with("over", true), nil)
	listed(most - 1)

	a.c.Close() // the command still runs, but nobody asks any more
	listed(0)
	term, err := hosttest.Find(h, alice, name)
	check(t, err)
	if _, exited := term.Exit(); exited {
		t.Error("the command has ended")
	}
}
