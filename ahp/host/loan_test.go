package host_test

import (
	"errors"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
)

// awaitHolder waits until a terminal is held by the principal of a name.
func awaitHolder(tb testing.TB, h *host.Host, term *host.Terminal, name string) {
	tb.Helper()
	hosttest.Eventually(tb, "it is held by "+name, func() bool {
		return host.HolderOf(term).Name == name
	})
}

// types types a key, which must reach the program.
func (v *viewer) types(key string) {
	v.t.Helper()
	if err := v.a.Input([]byte(key)); err != nil {
		v.t.Fatalf("%s types: %v", v.c.Principal().Name, err)
	}
}

// noted returns the next note for the viewer's person.
func (v *viewer) noted() host.Note {
	v.t.Helper()
	select {
	case n := <-v.a.Notes():
		return host.Note{Kind: n.Kind, Who: n.Who, To: n.To, First: n.First, Mine: n.Mine,
			Yours: n.Yours, Agent: n.Agent, Why: n.Why}
	case <-time.After(hosttest.Patience):
		v.t.Fatalf("%s is told nothing", v.c.Principal().Name)
		return host.Note{}
	}
}

func TestAKeyboardThatWasTakenGoesBackWithTheLastViewer(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "exec cat")
	owner := attach(t, h, carol, "x", window)
	first, second := attach(t, h, alice, "x", window), attach(t, h, alice, "x", window)
	reader := attach(t, h, alice, "x", host.AttachOptions{Cols: 80, Rows: 24, ReadOnly: true})
	operator := attach(t, h, bot, "x", window)
	first.types("k")
	for _, v := range []*viewer{owner, reader, operator} {
		if got := v.noted(); got != (host.Note{Kind: host.NoteHas, To: "alice", Yours: v == reader}) {
			t.Errorf("another viewer is told %+v", got)
		}
	}
	first.a.Close()
	awaitHolder(t, h, term, "alice") // there is another viewer
	operator.a.Close()
	awaitHolder(t, h, term, "alice")
	second.c.End(errors.New("lost"))
	second.a.Close()
	awaitHolder(t, h, term, "carol")
	if got := owner.noted(); got != (host.Note{Kind: host.NoteLeft, Who: "alice", To: "carol", Yours: true}) {
		t.Errorf("the holder is told %+v", got)
	}
	if got := reader.noted(); got != (host.Note{Kind: host.NoteLeft, Who: "alice", To: "carol", Mine: true}) {
		t.Errorf("a reader is told %+v", got)
	}
	owner.types("k")
	owner.a.Close()
	awaitHolder(t, h, term, "carol") // its own
}

func TestAKeyboardGoesBackTheWayItCame(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "exec cat")
	admin := func(name string) *viewer {
		p := authz.Principal{ID: name, Name: name, Role: authz.Admin}
		v := attach(t, h, p, "x", window)
		v.types("k")
		return v
	}
	ann, ben := admin("ann"), admin("ben")
	ben.a.Close()
	awaitHolder(t, h, term, "ann")
	ben, cid := admin("ben"), admin("cid")
	ben.a.Close() // does not hold it
	awaitHolder(t, h, term, "cid")
	cid.a.Close()
	awaitHolder(t, h, term, "ben") // whom it was taken from, wherever that one is
	ann.a.Fresh()
	ann.types("k") // takes back what was taken from her
	ann.a.Close()
	awaitHolder(t, h, term, "carol")
}

func TestWhatIsTakenBackIsAgainOnesOwn(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	mine := run(t, h, alice, "mine", "exec cat")
	boss := authz.Principal{ID: "boss", Name: "boss", Role: authz.Admin}
	v, other := attach(t, h, alice, "mine", window), attach(t, h, boss, "mine", window)
	other.types("k")
	v.types("k")
	other.a.Close()
	v.a.Close()
	awaitHolder(t, h, mine, "alice")
}

func TestAKeyboardStaysWhereItsFormerHolderIsNotKnownAnyMore(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock))
	agent := connect(t, h, bot, "agent")
	term := lookup(h, agent.create("x", "/bin/cat"))
	v := attach(t, h, alice, "x", window)
	v.types("k")
	agent.c.Close()
	clock.advance(time.Hour)
	connect(t, h, carol, "agent") // the clientId is another's by now
	v.a.Close()
	awaitHolder(t, h, term, "alice")
	// A key's SSH sessions stay that key's, however long it has been away.
	other := run(t, h, carol, "other", "exec cat")
	v = attach(t, h, alice, "other", window)
	v.types("k")
	clock.advance(time.Hour)
	connect(t, h, bot, "agent2") // forgets who has left
	v.a.Close()
	awaitHolder(t, h, other, "carol")
	if why := connect(t, h, alice, "boss").dispatch(other.URI(),
		ahp.TerminalClaimed{Claim: other.Info(alice).Claim}); why != "" {
		t.Errorf("it is held by a clientId that nobody has: %s", why)
	}
}

func TestAKeyboardThatNobodyTypesAtGoesBack(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock), func(c *host.Config) { c.KeyboardIdle = time.Minute })
	term := run(t, h, carol, "x", "exec cat")
	owner, v := attach(t, h, carol, "x", window), attach(t, h, alice, "x", window)
	v.types("k")
	if got := owner.noted(); got != (host.Note{Kind: host.NoteHas, To: "alice"}) {
		t.Errorf("the holder is told %+v", got)
	}
	clock.advance(40 * time.Second)
	v.types("k")
	v.types("\x1b[I") // no key
	clock.advance(40 * time.Second)
	host.Tend(h) // as the timer does
	awaitHolder(t, h, term, "alice")
	clock.advance(20 * time.Second)
	host.Tend(h)
	awaitHolder(t, h, term, "carol")
	want := host.Note{Kind: host.NoteIdle, Who: "alice", To: "carol", Yours: true}
	if got := owner.noted(); got != want {
		t.Errorf("the holder is told %+v", got)
	}
	want.Mine, want.Yours = true, false
	if got := v.noted(); got != want {
		t.Errorf("who had it is told %+v", got)
	}
	clock.advance(time.Hour)
	host.Tend(h)
	awaitHolder(t, h, term, "carol") // who has it without having taken it
}

func TestTheTimerReturnsAnIdleKeyboardOnly(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.KeyboardIdle = 20 * time.Millisecond })
	term := run(t, h, carol, "x", "exec cat")
	other := hosttest.New(t)
	never := run(t, other, carol, "x", "exec cat")
	for _, h := range []*host.Host{h, other} {
		attach(t, h, alice, "x", window).types("k")
	}
	awaitHolder(t, h, term, "carol")
	awaitHolder(t, other, never, "alice")
	attach(t, h, alice, "x", window).types("k")
	dispose(t, h, term) // with a timer that runs
}

func TestSendHandsBackAtOnce(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	agent := connect(t, h, bot, "agent")
	uri := agent.create("x", "/bin/sh", "-c", "echo ready; exec cat")
	term := lookup(h, uri)
	awaitOutput(t, h, term, "ready")
	agent.subscribe(uri)
	c, err := h.Connect(alice, host.DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	slowtest.Hurry(t)
	for _, part := range []string{"a", "c"} {
		if got := agent.dispatch(uri, ahp.TerminalInput{Data: []byte(part)}); got != "" {
			t.Fatalf("the agent types %s: %s", part, got)
		}
		awaitHeld(t, h, term, 0) // the person's key does not wait for it
		if err := c.Send(t.Context(), term, []byte("b")); err != nil {
			t.Fatal(err)
		}
		awaitHolder(t, h, term, "alice/bot")
	}
	if got := agent.dispatch(uri, ahp.TerminalInput{Data: []byte("\n")}); got != "" {
		t.Fatal(got)
	}
	awaitOutput(t, h, term, "abcb\r\nabcb")
}

func TestAnIdleKeyboardStaysOnceThatIsTurnedOff(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "exec cat")
	attach(t, h, alice, "x", window).types("k")
	host.Tend(h) // a timer of before
	awaitHolder(t, h, term, "alice")
}
