package host_test

import (
	"fmt"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// Certificates for keys that live for minutes make a new principal of the same person each time.
func TestWhoeverHasLeftIsForgotten(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock))
	owner := connect(t, h, carol, "owner")
	owner.create("x", "/bin/cat")
	x, err := hosttest.Find(h, carol, "x")
	if err != nil {
		t.Fatal(err)
	}
	const keys = 2000
	for i := range keys {
		id := fmt.Sprintf("SHA256:%08d%024d", i, 0)
		c, err := h.Connect(authz.Principal{ID: id, Name: "ci", Role: authz.Observer,
			Fingerprint: id}, host.DoorSSH)
		if err != nil {
			t.Fatal(err)
		}
		a, _, err := c.Attach(x, host.AttachOptions{ReadOnly: true})
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
	host.Tend(h)
	if kept := host.KeptOf(h); h.Stats().Clients != 1 || kept.Uses > 1 {
		t.Errorf("a day later %d clients and %d uses are known", h.Stats().Clients, kept.Uses)
	}
	if _, e := initialize(t, h, bot, "owner"); e == nil {
		t.Error("the clientId of one who holds a terminal is free")
	}
}

// A person who comes back after lunch finds the terminal that was used last.
func TestTheLastUseIsRememberedForAWhile(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock))
	owner := connect(t, h, carol, "owner")
	owner.create("x", "/bin/cat")
	owner.create("y", "/bin/cat")
	x, err := hosttest.Find(h, carol, "x")
	if err != nil {
		t.Fatal(err)
	}
	c, err := h.Connect(carol, host.DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	a, _, err := c.Attach(x, host.AttachOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	clock.advance(3 * lastUseMemory)
	host.Tend(h)
	a.Close()
	c.Close()
	owner.c.Close()
	clock.advance(lastUseMemory / 2)
	host.Tend(h)
	if hosttest.Conn(t, h, carol).LastUsed() != x {
		t.Error("it is forgotten")
	}
}
