package host

import (
	"errors"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// awaitHolder waits until a terminal is held by the principal of a name.
func (t *Terminal) awaitHolder(tb testing.TB, name string) {
	tb.Helper()
	deadline := time.Now().Add(patience)
	for {
		t.term.Lock()
		holder := t.holder.name
		t.term.Unlock()
		if holder == name {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("it is held by %s, not by %s", holder, name)
		}
		time.Sleep(time.Millisecond)
	}
}

// types types a key, which must reach the program.
func (v *viewer) types(key string) {
	v.t.Helper()
	if err := v.a.Input([]byte(key)); err != nil {
		v.t.Fatalf("%s types: %v", v.c.principal.Name, err)
	}
}

// noted returns the next note for the viewer's person.
func (v *viewer) noted() Note {
	v.t.Helper()
	select {
	case n := <-v.a.Notes():
		n.by = ""
		return n
	case <-time.After(patience):
		v.t.Fatalf("%s is told nothing", v.c.principal.Name)
		return Note{}
	}
}

func TestAKeyboardThatWasTakenGoesBackWithTheLastViewer(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	term := run(t, h, carol, "x", "exec cat")
	owner := attach(t, h, carol, "x", window)
	first, second := attach(t, h, alice, "x", window), attach(t, h, alice, "x", window)
	reader := attach(t, h, alice, "x", AttachOptions{Cols: 80, Rows: 24, ReadOnly: true})
	operator := attach(t, h, bot, "x", window)
	first.types("k")
	for _, v := range []*viewer{owner, reader, operator} {
		if got := v.noted(); got != (Note{Kind: NoteHas, To: "alice", Yours: v == reader}) {
			t.Errorf("another viewer is told %+v", got)
		}
	}
	first.a.Close()
	term.awaitHolder(t, "alice") // there is another viewer
	operator.a.Close()
	term.awaitHolder(t, "alice")
	second.c.End(errors.New("lost"))
	second.a.Close()
	term.awaitHolder(t, "carol")
	if got := owner.noted(); got != (Note{Kind: NoteLeft, Who: "alice", To: "carol", Yours: true}) {
		t.Errorf("the holder is told %+v", got)
	}
	if got := reader.noted(); got != (Note{Kind: NoteLeft, Who: "alice", To: "carol", Mine: true}) {
		t.Errorf("a reader is told %+v", got)
	}
	owner.types("k")
	owner.a.Close()
	term.awaitHolder(t, "carol") // its own
}

func TestAKeyboardGoesBackTheWayItCame(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	term := run(t, h, carol, "x", "exec cat")
	admin := func(name string) *viewer {
		p := authz.Principal{ID: name, Name: name, Role: authz.Admin}
		v := attach(t, h, p, "x", window)
		v.types("k")
		return v
	}
	ann, ben := admin("ann"), admin("ben")
	ben.a.Close()
	term.awaitHolder(t, "ann")
	ben, cid := admin("ben"), admin("cid")
	ben.a.Close() // does not hold it
	term.awaitHolder(t, "cid")
	cid.a.Close()
	term.awaitHolder(t, "ben") // whom it was taken from, wherever that one is
	ann.types("k")             // takes back what was taken from her
	ann.a.Close()
	term.awaitHolder(t, "carol")
}

func TestWhatIsTakenBackIsAgainOnesOwn(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	mine := run(t, h, alice, "mine", "exec cat")
	boss := authz.Principal{ID: "boss", Name: "boss", Role: authz.Admin}
	v, other := attach(t, h, alice, "mine", window), attach(t, h, boss, "mine", window)
	other.types("k")
	v.types("k")
	other.a.Close()
	v.a.Close()
	mine.awaitHolder(t, "alice")
}

func TestAKeyboardStaysWhereItsFormerHolderIsNotKnownAnyMore(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := newHost(t, withClock(clock))
	agent := connect(t, h, bot, "agent")
	term := h.lookup(agent.create("x", "/bin/cat"))
	v := attach(t, h, alice, "x", window)
	v.types("k")
	agent.c.Close()
	clock.advance(time.Hour)
	connect(t, h, carol, "agent") // the clientId is another's by now
	v.a.Close()
	term.awaitHolder(t, "alice")
	// A key's SSH sessions stay that key's, however long it has been away.
	other := run(t, h, carol, "other", "exec cat")
	v = attach(t, h, alice, "other", window)
	v.types("k")
	clock.advance(time.Hour)
	connect(t, h, bot, "agent2") // forgets who has left
	v.a.Close()
	other.awaitHolder(t, "carol")
	if _, ok := h.holderOf(other.ch.Claim(), carol); !ok {
		t.Error("it is held by a clientId that nobody has")
	}
}

func TestAKeyboardThatNobodyTypesAtGoesBack(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := newHost(t, withClock(clock), func(c *Config) { c.KeyboardIdle = time.Minute })
	term := run(t, h, carol, "x", "exec cat")
	owner, v := attach(t, h, carol, "x", window), attach(t, h, alice, "x", window)
	v.types("k")
	if got := owner.noted(); got != (Note{Kind: NoteHas, To: "alice"}) {
		t.Errorf("the holder is told %+v", got)
	}
	clock.advance(40 * time.Second)
	v.types("k")
	v.types("\x1b[I") // no key
	clock.advance(40 * time.Second)
	h.returnIdle(term) // as the timer does
	term.awaitHolder(t, "alice")
	clock.advance(20 * time.Second)
	h.returnIdle(term)
	term.awaitHolder(t, "carol")
	want := Note{Kind: NoteIdle, Who: "alice", To: "carol", Yours: true}
	if got := owner.noted(); got != want {
		t.Errorf("the holder is told %+v", got)
	}
	want.Mine, want.Yours = true, false
	if got := v.noted(); got != want {
		t.Errorf("who had it is told %+v", got)
	}
	clock.advance(time.Hour)
	h.returnIdle(term)
	term.awaitHolder(t, "carol") // who has it without having taken it
}

func TestTheTimerReturnsAnIdleKeyboardOnly(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(c *Config) { c.KeyboardIdle = 20 * time.Millisecond })
	term := run(t, h, carol, "x", "exec cat")
	never := run(t, newHost(t), carol, "x", "exec cat")
	for _, x := range []*Terminal{term, never} {
		attach(t, x.host, alice, "x", window).types("k")
	}
	term.awaitHolder(t, "carol")
	never.awaitHolder(t, "alice")
	attach(t, h, alice, "x", window).types("k")
	h.remove(term, "") // with a timer that runs
}

func TestSendHandsBackAtOnce(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	agent := connect(t, h, bot, "agent")
	uri := agent.create("x", "/bin/sh", "-c", "stty -echo; echo ready; exec cat")
	term := h.lookup(uri)
	term.awaitOutput(t, "ready")
	agent.subscribe(uri)
	c, err := h.Connect(alice, DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, part := range []string{"a", "c"} {
		if got := agent.dispatch(uri, ahp.TerminalInput{Data: []byte(part)}); got != "" {
			t.Fatalf("the agent types %s: %s", part, got)
		}
		if err := c.Send(t.Context(), term, []byte("b")); err != nil {
			t.Fatal(err)
		}
		term.awaitHolder(t, "alice/bot")
	}
	if got := agent.dispatch(uri, ahp.TerminalInput{Data: []byte("\n")}); got != "" {
		t.Fatal(got)
	}
	term.awaitOutput(t, "abcb")
}

func TestAnIdleKeyboardStaysOnceThatIsTurnedOff(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	term := run(t, h, carol, "x", "exec cat")
	attach(t, h, alice, "x", window).types("k")
	h.returnIdle(term) // a timer of before
	term.awaitHolder(t, "alice")
}
