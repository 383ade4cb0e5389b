package host_test

import (
	"context"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// What agents type into a terminal that is guarded waits for a yes.
func TestWhoIsAnAgent(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, alice, "x", "exec cat")
	hosttest.Check(t, door(t, h, alice, host.DoorSSH).SetGuard(term, true))
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nobody waits for a yes
	inside, token := alice, bot
	token.Role = authz.Admin
	inside.Inside = true
	for _, c := range []struct {
		name  string
		who   authz.Principal
		door  string
		agent bool
	}{
		{"a key over ssh", alice, host.DoorSSH, false},
		{"a user of this machine", authz.ForUID(1000), host.DoorSSH, false},
		{"a token over ssh", token, host.DoorSSH, true},
		{"a process inside a terminal", inside, host.DoorSSH, true},
		{"AHP with a key", alice, host.DoorSubsystem, true},
		{"AHP with a token", token, host.DoorWebSocket, true},
		{"AHP on this machine", authz.ForUID(1000), host.DoorUnix, true},
		{"AHP through a forward", alice, host.DoorForward, true},
	} {
		conn, err := h.Connect(c.who, c.door)
		if err != nil {
			t.Fatal(err)
		}
		err = conn.Send(ctx, term, []byte("x"))
		if c.agent && err != context.Canceled || !c.agent && err != nil {
			t.Errorf("%s: an agent is not %v: %v", c.name, c.agent, err)
		}
		conn.Close()
	}
}
