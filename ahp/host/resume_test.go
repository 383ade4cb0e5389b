package host

import (
	"reflect"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

func TestTheNextHostKnowsTheClients(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	p := connect(t, h, carol, "c")
	uri := p.create("x", "/bin/sh", "-c", "printf one; exec cat")
	h.lookup(uri).awaitOutput(t, "one")
	st := p.subscribe(uri)
	seen := h.store.Seq()
	attach(t, h, carol, "x", window)

	later := after(t, killed(t, h))
	c, err := later.Connect(alice, DoorWebSocket)
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
	now, _ := later.lookup(uri).ch.Terminal()
	st = mirror(st, uri, r.Actions)
	if g, w := text(st), text(now); g != w || st.Title != now.Title {
		t.Errorf("it has %q, the host %q", g, w)
	}
	if fresh.c.Shape() != p.c.Shape() {
		t.Error("it speaks another version now")
	}
	if got := later.LastUsed(carol); got != later.lookup(uri) {
		t.Errorf("used last: %v", got)
	}
}

func TestATerminalThatTookTheNameOfAnotherIsMissing(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	p := connect(t, h, carol, "c")
	uri := p.create("x", "/bin/cat")
	seen := h.store.Seq()
	later := after(t, killed(t, h))
	if err := later.DisposeNamed(carol, "x"); err != nil {
		t.Fatal(err)
	}
	run(t, later, carol, "x", "exec cat")
	if _, r := reconnect(t, later, "c", seen, ahp.SubscriptionRef(uri)); len(r.Missing) != 1 {
		t.Errorf("missing %q, and there are %d actions", r.Missing, len(r.Actions))
	}
}

func TestANameThatWasSpentStaysSpent(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	o := CreateOptions{Argv: []string{"/bin/true"}, Base: "job", Fresh: true}
	dir := ""
	for _, want := range []string{"job-1", "job-2", "job-3"} {
		term, err := h.Create(carol, o)
		if err != nil {
			t.Fatal(err)
		}
		if term.Name() != want {
			t.Errorf("it is called %s, want %s", term.Name(), want)
		}
		if err := h.Dispose(carol, term); err != nil {
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
	later := after(t, killed(t, h), func(c *Config) { c.ClientGrace = time.Hour })
	if term := later.lookup(gone); !term.exitedNow() {
		t.Error("a terminal waits that is not to wait")
	}
	again, r := reconnect(t, later, "owner", 1, ahp.SubscriptionRef(uri))
	if got := r.Owned[uri]; got.ClientSeq != owner.seq {
		t.Errorf("the host has got %+v, sent was %d", got, owner.seq)
	}
	again.seq = owner.seq
	again.print(uri, "after")
	term := later.lookup(uri)
	if st, _ := term.ch.Terminal(); text(st) != "before after" {
		t.Errorf("the content is %q", text(st))
	}
	if term.exitedNow() {
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
	e := term.exec.(*clientExecutor)
	term.term.Lock()
	e.taken++
	term.recordEvent(event{Owner: e.mark(10, 0)}, time.Now())
	e.feed([]byte("0123"))
	term.term.Unlock()
	later := after(t, killed(t, h), func(c *Config) { c.ClientGrace = time.Hour })
	again, r := reconnect(t, later, "owner", 1, ahp.SubscriptionRef(uri))
	if got := r.Owned[uri]; got.ClientSeq != owner.seq {
		t.Errorf("the host has got %+v, sent was %d", got, owner.seq)
	}
	again.seq = owner.seq
	again.print(uri, "0123456789")
	again.print(uri, "0123456789")
	if st, _ := later.lookup(uri).ch.Terminal(); text(st) != "before 01234567890123456789" {
		t.Errorf("the content is %q", text(st))
	}
}

func TestALoanIsKnownAfterARestart(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	term := run(t, h, carol, "x", "exec cat")
	owner := attach(t, h, carol, "x", window)
	attach(t, h, alice, "x", window).types("k")
	term.awaitHolder(t, "alice")
	_ = owner
	is := find(t, after(t, killed(t, h)), "x")
	if is.holder != term.holder || is.lent == nil || is.lent.from != term.lent.from ||
		is.prior == nil || is.prior.from != term.prior.from || is.lent.earlier != nil {
		t.Errorf("held by %+v, lent %+v, prior %+v", is.holder, is.lent, is.prior)
	}
}

// TestAnIdentityIsWhole: a right that is not written down would be lost with a restart, and a
// restriction, too.
func TestAnIdentityIsWhole(t *testing.T) {
	t.Parallel()
	p := authz.Principal{}
	v := reflect.ValueOf(&p).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Bool:
			f.SetBool(true)
		}
	}
	p.Role, p.Expires, p.Limits = authz.Operator, time.Unix(1, 2).UTC(), authz.Limits{Terminals: 3}
	if got := identityOf(p).principal(); got != p {
		t.Errorf("it becomes %+v, was %+v", got, p)
	}
}
