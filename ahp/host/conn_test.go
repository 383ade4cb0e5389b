package host

import (
	"testing"

	"termhost/authz"
)

func TestWhoIsAnAgent(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	inside := alice
	inside.Inside = true
	for _, c := range []struct {
		name  string
		who   authz.Principal
		door  string
		agent bool
	}{
		{"a key over ssh", alice, DoorSSH, false},
		{"a user of this machine", authz.ForUID(1000), DoorSSH, false},
		{"a token over ssh", bot, DoorSSH, true},
		{"a process inside a terminal", inside, DoorSSH, true},
		{"AHP with a key", alice, DoorSubsystem, true},
		{"AHP with a token", bot, DoorWebSocket, true},
		{"AHP on this machine", authz.ForUID(1000), DoorUnix, true},
		{"AHP through a forward", alice, DoorForward, true},
	} {
		conn, err := h.Connect(c.who, c.door)
		if err != nil {
			t.Fatal(err)
		}
		if got := conn.agent(); got != c.agent {
			t.Errorf("%s: an agent is %v", c.name, got)
		}
		conn.Close()
	}
}
