package host

import (
	"fmt"
	"testing"
	"time"

	"termhost/authz"
)

// Certificates for keys that live for minutes make a new principal of the same person each time.
func TestWhoeverHasLeftIsForgotten(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := newHost(t, withClock(clock))
	owner := connect(t, h, carol, "owner")
	owner.create("x", "/bin/cat")
	x, err := h.Find(carol, "x")
	if err != nil {
		t.Fatal(err)
	}
	const keys = 2000
	for i := range keys {
		id := fmt.Sprintf("SHA256:%08d%024d", i, 0)
		c, err := h.Connect(authz.Principal{ID: id, Name: "ci", Role: authz.Observer,
			Fingerprint: id}, DoorSSH)
		if err != nil {
			t.Fatal(err)
		}
		a, _, err := c.Attach(x, AttachOptions{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
		c.Close()
	}
	if got := h.Stats().Clients; got < keys {
		t.Fatalf("%d clients are known at first", got)
	}
	owner.c.Close() // but holds x
	clock.advance(24 * time.Hour)
	h.forgetAbsent()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.clients) != 1 || h.clients["owner"] == nil || len(h.lastUsed) > 1 {
		t.Errorf("a day later %d clients and %d uses are known", len(h.clients), len(h.lastUsed))
	}
}

// A person who comes back after lunch finds the terminal that was used last.
func TestTheLastUseIsRememberedForAWhile(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := newHost(t, withClock(clock))
	owner := connect(t, h, carol, "owner")
	owner.create("x", "/bin/cat")
	owner.create("y", "/bin/cat")
	x, err := h.Find(carol, "x")
	if err != nil {
		t.Fatal(err)
	}
	c, err := h.Connect(carol, DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	a, _, err := c.Attach(x, AttachOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	clock.advance(3 * lastUseMemory)
	h.forgetAbsent()
	a.Close()
	c.Close()
	owner.c.Close()
	clock.advance(lastUseMemory / 2)
	h.forgetAbsent()
	if h.LastUsed(carol) != x {
		t.Error("it is forgotten")
	}
}
