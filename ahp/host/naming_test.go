package host_test

import (
	"errors"
	"slices"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// leads checks that names find a terminal.
func leads(t testing.TB, h *host.Host, term *host.Terminal, names ...string) {
	t.Helper()
	for _, name := range names {
		if found, err := hosttest.Find(h, alice, name); found != term {
			t.Errorf("%q finds %v, %v instead of %v", name, found, err, term)
		}
	}
}

func TestARenamedTerminalIsFoundByBothNames(t *testing.T) {
	h := hosttest.New(t)
	term := run(t, h, alice, "old", "exec sleep 1000")
	c := door(t, h, alice, host.DoorSSH)
	heard := listen(t, h, eve)
	if was, err := c.GiveName(term, "new"); was != "old" || err != nil {
		t.Fatalf("it was %q, %v", was, err)
	}
	if e := heard.until(host.EventRenamed); e.Terminal != "new" || e.Was != "old" || e.By != "alice" {
		t.Errorf("the event is %+v", e)
	}
	leads(t, h, term, "old", "new", "ahp-terminal:/old")
	info := term.Info(alice)
	if info.Name != "new" || info.URI != "ahp-terminal:/old" || info.Title != "new" {
		t.Errorf("it is listed as %+v", info)
	}
	hosttest.Eventually(t, "the root's list has the NAME", func() bool {
		for _, i := range rootList(t, h, alice) {
			if i.Resource == term.URI() && i.Title == "new" && i.Termhost.Name == "new" {
				return true
			}
		}
		return false
	})

	// Another one may have the old NAME; as long as it does, that leads to it.
	other := run(t, h, alice, "old", "exec sleep 1000")
	if other.URI() == term.URI() || other.Name() != "old" {
		t.Errorf("the other one is %s at %s", other.Name(), other.URI())
	}
	leads(t, h, other, "old", other.URI())
	leads(t, h, term, "new", "ahp-terminal:/old")

	// So it is with the next host.
	next := after(t, killed(t, h))
	again := find(t, next, "new")
	if again.URI() != term.URI() {
		t.Errorf("it has the URI %s now", again.URI())
	}
	if o := find(t, next, "old"); o.URI() != other.URI() {
		t.Errorf("the old NAME leads to %s", o.URI())
	}
	if err := hosttest.Dispose(next, alice, find(t, next, "old")); err != nil {
		t.Fatal(err)
	}
	leads(t, next, again, "old", "new")
	if err := hosttest.Dispose(next, alice, find(t, next, "old")); err != nil {
		t.Error(err)
	}
	if _, err := hosttest.Find(next, alice, "new"); err == nil {
		t.Error("it is still there")
	}
}

func TestANameThatTheHostChoosesLeadsNowhereElse(t *testing.T) {
	h := hosttest.New(t)
	make := func() *host.Terminal {
		t.Helper()
		term, err := hosttest.Create(h, alice, host.CreateOptions{Argv: sh("exec sleep 1000"), Base: "x"})
		if err != nil {
			t.Fatal(err)
		}
		return term
	}
	first := make()
	if _, err := door(t, h, alice, host.DoorSSH).GiveName(first, "y"); err != nil {
		t.Fatal(err)
	}
	if second := make(); second.Name() == "x-1" || second.ID() != second.Name() {
		t.Errorf("the second one is %s at %s", second.Name(), second.URI())
	}
	leads(t, h, first, "x-1", "y")
}

func TestWhoMayNotRename(t *testing.T) {
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "exec sleep 1000")
	run(t, h, alice, "taken", "exec sleep 1000")
	var denied *authz.Denied
	var held *host.HeldError
	var exists *host.ExistsError
	var illegal *host.NameError
	dave := hosttest.Principal("dave", authz.Operator)
	for _, c := range []struct {
		who  authz.Principal
		name string
		want any
	}{
		{eve, "y", &denied}, {dave, "y", &held}, {carol, "taken", &exists}, {carol, "a/b", &illegal},
		{carol, "", &illegal}, {carol, "..", &illegal}, {alice, "-a", nil}, {carol, "x", nil},
		{guestOf(term, "guest", authz.Operator), "y", &denied},
	} {
		switch _, err := door(t, h, c.who, host.DoorSSH).GiveName(term, c.name); {
		case c.want == nil && err != nil, c.want != nil && !errors.As(err, c.want):
			t.Errorf("%s gives the NAME %q: %v", c.who.Name, c.name, err)
		}
	}
	if found, err := hosttest.Find(h, alice, "-a"); term.Name() != "x" || found != term {
		t.Errorf("it is called %s, and -a is %v, %v", term.Name(), found, err)
	}
}

// sees reports whether p is shown a terminal.
func sees(h *host.Host, p authz.Principal, term *host.Terminal) bool {
	list, _ := hosttest.As(h, p, (*host.Conn).Terminals)
	return slices.Contains(list, term)
}

func TestARenamedTerminalStaysTheGuests(t *testing.T) {
	h := hosttest.New(t)
	term := run(t, h, alice, "x", "exec sleep 1000")
	dora := guestOf(term, "dora", authz.Observer)
	c := door(t, h, alice, host.DoorSSH)
	if _, err := c.GiveName(term, "y"); err != nil {
		t.Fatal(err)
	}
	other := run(t, h, alice, "x", "exec sleep 1000")
	list, err := hosttest.List(h, dora)
	if err != nil || len(list) != 1 || list[0].Name != "y" {
		t.Errorf("she sees %+v, %v", list, err)
	}
	if found, err := hosttest.Find(h, dora, "x"); found != term {
		t.Errorf("x is %v for her, %v", found, err)
	}
	if sees(h, dora, other) {
		t.Error("she sees another one that has the NAME now")
	}
}

func TestAGuardIsNotLostByRenaming(t *testing.T) {
	g := newGuarded(t, "exec cat")
	agent := g.agent.c
	var denied *authz.Denied
	if _, err := agent.GiveName(g.term, "free"); !errors.As(err, &denied) {
		t.Errorf("an agent renames a guarded terminal: %v", err)
	}
	if _, err := g.ann.GiveName(g.term, "safe"); err != nil {
		t.Fatal(err)
	}
	if !g.term.Guarded() {
		t.Error("it is not guarded any more")
	}
	g.asks("ls\r")

	// The NAMEs stay guarded for agents: the former one and those of terminals that are gone.
	again, starting, err := begin(agent, host.CreateOptions{Name: "x", Argv: sh("exec cat")})
	if err != nil {
		t.Fatal(err)
	}
	if starting == nil || !again.Guarded() {
		t.Error("an agent has the old NAME without a guard")
	}
	if err := hosttest.Dispose(g.h, alice, g.term); err != nil {
		t.Fatal(err)
	}
	g.agent.create("loose", "/bin/sh", "-c", "exec cat")
	loose := find(t, g.h, "loose")
	if loose.Guarded() {
		t.Fatal("it is guarded before it is renamed")
	}
	if _, err := agent.GiveName(loose, "safe"); err != nil {
		t.Fatal(err)
	}
	if !loose.Guarded() {
		t.Error("an agent has given it a guarded NAME, and it is not guarded")
	}
	next := after(t, killed(t, g.h))
	if term := find(t, next, "safe"); term.URI() != loose.URI() {
		t.Errorf("the next host has %s", term.URI())
	}
}
