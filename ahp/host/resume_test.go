package host_test

import (
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

func TestTheNextHostKnowsTheClients(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := connect(t, h, carol, "c")
	uri := p.create("x", "/bin/sh", "-c", "printf one; exec cat")
	awaitOutput(t, h, lookup(h, uri), "one")
	st := p.subscribe(uri)
	seen := h.Stats().ServerSeq
	attach(t, h, carol, "x", window)

	later := after(t, killed(t, h))
	c, err := later.Connect(alice, host.DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, e := c.Initialize(initParams("1.0.0", "c")); e == nil {
		t.Error("somebody else may have the clientId")
	}
	fresh, r := reconnect(t, later, "c", seen, ahp.SubscriptionRef(uri), "ahp-terminal:/y")
	if len(r.Missing) != 1 || r.Missing[0] != "ahp-terminal:/y" {
		t.Errorf("missing %q", r.Missing)
	}
	last := seen
	for _, e := range r.Actions {
		if e.Seq() <= last {
			t.Errorf("serverSeq %d follows %d", e.Seq(), last)
		}
		last = e.Seq()
	}
	now := state(fresh.t, h, lookup(later, uri))
	st = mirror(st, uri, r.Actions)
	if g, w := text(st), text(now); g != w || st.Title != now.Title {
		t.Errorf("it has %q, the host %q", g, w)
	}
	if fresh.c.Shape() != p.c.Shape() {
		t.Error("it speaks another version now")
	}
	if got := hosttest.Conn(t, later, carol).LastUsed(); got != lookup(later, uri) {
		t.Errorf("used last: %v", got)
	}
}

func TestATerminalThatTookTheNameOfAnotherIsMissing(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := connect(t, h, carol, "c")
	uri := p.create("x", "/bin/cat")
	seen := h.Stats().ServerSeq
	later := after(t, killed(t, h))
	if err := hosttest.Dispose(later, carol, find(t, later, "x")); err != nil {
		t.Fatal(err)
	}
	run(t, later, carol, "x", "exec cat")
	if _, r := reconnect(t, later, "c", seen, ahp.SubscriptionRef(uri)); len(r.Missing) != 1 {
		t.Errorf("missing %q, and there are %d actions", r.Missing, len(r.Actions))
	}
}

func TestANameThatWasSpentStaysSpent(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	o := host.CreateOptions{Argv: []string{"/bin/true"}, Base: "job", Fresh: true}
	dir := ""
	for _, want := range []string{"job-1", "job-2", "job-3"} {
		term, err := hosttest.Create(h, carol, o)
		if err != nil {
			t.Fatal(err)
		}
		if term.Name() != want {
			t.Errorf("it is called %s, want %s", term.Name(), want)
		}
		if err := hosttest.Dispose(h, carol, term); err != nil {
			t.Fatal(err)
		}
		dir = killed(t, h)
		h = after(t, dir)
	}
}

func TestAClientExecutedTerminalWaitsForItsOwnerAcrossARestart(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	owner := connect(t, h, carol, "owner")
	uri, _ := owner.share("laptop", "1h")
	gone, _ := owner.share("hasty", "")
	owner.print(uri, "before ")
	later := after(t, killed(t, h), func(c *host.Config) { c.ClientGrace = time.Hour })
	if term := lookup(later, gone); !exited(term) {
		t.Error("a terminal waits that is not to wait")
	}
	again, r := reconnect(t, later, "owner", 1, ahp.SubscriptionRef(uri))
	if got := r.Owned[uri]; got.ClientSeq != owner.seq {
		t.Errorf("the host has got %+v, sent was %d", got, owner.seq)
	}
	again.seq = owner.seq
	again.print(uri, "after")
	term := lookup(later, uri)
	if st := state(again.t, h, term); text(st) != "before after" {
		t.Errorf("the content is %q", text(st))
	}
	if exited(term) {
		t.Error("it has ended")
	}
}

// A host that is killed may have logged a part of what the owner has sent at once.
func TestOutputOfAnOwnerThatWasLoggedInPartIsNotRepeated(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	owner := connect(t, h, carol, "owner")
	uri, term := owner.share("laptop", "1h")
	owner.print(uri, "before ")
	host.TakePart(term, 10, []byte("0123"))
	later := after(t, killed(t, h), func(c *host.Config) { c.ClientGrace = time.Hour })
	again, r := reconnect(t, later, "owner", 1, ahp.SubscriptionRef(uri))
	if got := r.Owned[uri]; got.ClientSeq != owner.seq {
		t.Errorf("the host has got %+v, sent was %d", got, owner.seq)
	}
	again.seq = owner.seq
	again.print(uri, "0123456789")
	again.print(uri, "0123456789")
	if st := state(again.t, h, lookup(later, uri)); text(st) != "before 01234567890123456789" {
		t.Errorf("the content is %q", text(st))
	}
}

func TestALoanIsKnownAfterARestart(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "exec cat")
	owner := attach(t, h, carol, "x", window)
	attach(t, h, alice, "x", window).types("k")
	awaitHolder(t, h, term, "alice")
	_ = owner
	is := find(t, after(t, killed(t, h)), "x")
	got, want := host.HolderOf(is), host.HolderOf(term)
	got.ClaimedAt, want.ClaimedAt = 0, 0 // by numbers that only a host's own clients know
	if got != want || got.Lenders != carol.ID || got.Priors != carol.ID+" < "+carol.ID {
		t.Errorf("it is held by %+v, was by %+v", got, want)
	}
}
