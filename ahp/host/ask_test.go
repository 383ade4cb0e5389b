package host_test

import (
	"errors"
	"fmt"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

func TestTheHolderIsAskedAndGives(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock))
	term := run(t, h, carol, "x", "exec cat")
	holder, again := attach(t, h, carol, "x", window), attach(t, h, carol, "x", window)
	admin, operator := attach(t, h, alice, "x", window), attach(t, h, bot, "x", window)
	asks := func(v *viewer) {
		t.Helper()
		if name, here, err := v.ask(); name != "carol" || !here || err != nil {
			t.Fatalf("%s asks %q, here %v, %v", v.c.Principal().Name, name, here, err)
		}
	}
	asks(operator)
	asks(operator) // is not shown again
	asks(admin)
	for _, v := range []*viewer{holder, again} {
		for _, who := range []string{"alice/bot", "alice"} {
			if got := v.noted(); got != (host.Note{Kind: host.NoteAsked, Who: who, First: "alice/bot"}) {
				t.Errorf("the holder is told %+v", got)
			}
		}
		if len(v.a.Notes()) != 0 {
			t.Error("the holder is told again and again")
		}
	}
	clock.advance(requestPause)
	asks(operator)
	if got := holder.noted(); got.Who != "alice/bot" {
		t.Errorf("after a while the holder is told %+v", got)
	}
	if name, err := holder.giveAsked(); name != "alice/bot" || err != nil {
		t.Fatalf("given to %q, %v", name, err)
	}
	want := host.Note{Kind: host.NoteGiven, Who: "carol", To: "alice/bot", Yours: true}
	if got := operator.noted(); got != want {
		t.Errorf("who asked is told %+v", got)
	}
	operator.types("k")
	if name, err := operator.giveAsked(); name != "" || err != nil {
		t.Errorf("a wish that was for another holder: %q, %v", name, err)
	}
	operator.a.Close()
	awaitHolder(t, h, term, "carol")
}

func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	run(t, h, carol, "x", "exec cat")
	own := attach(t, h, carol, "x", window)
	if _, _, err := own.ask(); message(err) != haveIt {
		t.Errorf("the holder asks: %v", err)
	}
	var denied *authz.Denied
	for name, v := range map[string]*viewer{
		"observer":  attach(t, h, eve, "x", window),
		"read-only": attach(t, h, alice, "x", host.AttachOptions{Cols: 80, Rows: 24, ReadOnly: true}),
	} {
		if _, _, err := v.ask(); !errors.As(err, &denied) {
			t.Errorf("%s asks: %v", name, err)
		}
		if _, err := v.giveAsked(); !errors.As(err, &denied) {
			t.Errorf("%s gives: %v", name, err)
		}
	}
	for i := range maxRequests + 1 {
		p := authz.Principal{ID: fmt.Sprint("op", i), Name: "op", Role: authz.Operator}
		_, _, err := attach(t, h, p, "x", window).ask()
		if full := i == maxRequests; (message(err) == manyAsk) != full || !full && err != nil {
			t.Errorf("number %d asks: %v", i, err)
		}
	}
}

func TestAWishEndsWithTheOneWhoHasItAndAwaitsAHolderWhoIsAway(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock))
	run(t, h, carol, "x", "exec cat")
	operator, gone := attach(t, h, bot, "x", window), attach(t, h, alice, "x", window)
	for _, v := range []*viewer{gone, operator} {
		if name, here, err := v.ask(); name != "carol" || here || err != nil {
			t.Fatalf("asks %q, here %v, %v", name, here, err)
		}
	}
	gone.a.Close()
	holder := attach(t, h, carol, "x", window)
	if got := holder.noted(); got.Who != "alice/bot" || got.First != "alice/bot" {
		t.Errorf("who comes is told %+v", got)
	}
	clock.advance(requestTime)
	if name, err := holder.giveAsked(); name != "" || err != nil {
		t.Errorf("an old wish: given to %q, %v", name, err)
	}
}

func TestARefusalSaysWhoHoldsATerminal(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "exec cat")
	v := attach(t, h, bot, "x", window)
	for name, err := range map[string]error{
		"types":    v.a.Input([]byte("k")),
		"claims":   v.a.Claim(),
		"sends":    v.c.Send(t.Context(), term, []byte("k")),
		"disposes": hosttest.Dispose(h, bot, term),
	} {
		var held *host.HeldError
		var denied *authz.Denied
		if !errors.As(err, &held) || !errors.As(err, &denied) || held.Holder != "carol" ||
			held.Terminal != "x" || held.Agent {
			t.Errorf("%s: %v", name, err)
		}
	}
	var held *host.HeldError
	if err := hosttest.Dispose(h, eve, term); err == nil || errors.As(err, &held) {
		t.Errorf("one who would not be let if it held it, either: %v", err)
	}
	agents, err := hosttest.Create(h, bot, host.CreateOptions{Name: "y", Argv: []string{"cat"}, Claim: sessionClaim,
		Agent: "gem\x1bini"})
	if err != nil {
		t.Fatal(err)
	}
	w := attach(t, h, carol, "y", window)
	if err := w.a.Input([]byte("k")); !errors.As(err, &held) || !held.Agent ||
		held.Error() != "alice/bot/gem_ini has the keyboard of y; an admin can take it" {
		t.Errorf("an agent's: %v", err)
	}
	if k, name := w.a.Keyboard(); k != host.KeyboardWaits || name != "alice/bot/gem_ini" {
		t.Errorf("%v, %q", k, name)
	}
	for v, want := range map[*viewer]host.Keyboard{
		attach(t, h, bot, "y", window):   host.KeyboardHere,
		attach(t, h, alice, "y", window): host.KeyboardTakes,
		attach(t, h, eve, "y", window):   host.KeyboardNone,
		v:                                host.KeyboardAsks,
	} {
		if k, _ := v.a.Keyboard(); k != want {
			t.Errorf("%s: %v, want %v", v.c.Principal().Name, k, want)
		}
	}
	if err := hosttest.Dispose(h, bot, agents); err != nil {
		t.Error(err)
	}
}
