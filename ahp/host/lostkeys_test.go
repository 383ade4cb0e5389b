package host_test

import (
	"errors"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// lineUnderWay is a terminal in which carol has typed the beginning of a line.
func lineUnderWay(t *testing.T) (h *host.Host, clock *laterClock, term *host.Terminal, v *viewer) {
	clock = newClock()
	h = hosttest.New(t, func(c *host.Config) { c.Now = clock.Now })
	term = run(t, h, carol, "x", "stty raw -echo; printf ready; exec cat")
	awaitOutput(t, h, term, "ready")
	v = attach(t, h, carol, "x", window)
	v.types("\r")
	clock.advance(time.Hour)
	for _, key := range "rm -rf /srv/pro" {
		v.types(string(key))
	}
	return h, clock, term, v
}

// lineTaken is lineUnderWay when alice has typed "|" and handed the keyboard back.
func lineTaken(t *testing.T) (clock *laterClock, term *host.Terminal, line *viewer) {
	h, clock, term, line := lineUnderWay(t)
	boss := attach(t, h, alice, "x", window)
	boss.types("|")
	if _, err := boss.handBack(); err != nil {
		t.Fatal(err)
	}
	return clock, term, line
}

// loses types a key, which must be lost because of who.
func (v *viewer) loses(key, why string) {
	v.t.Helper()
	var lost *host.LostError
	if err := v.a.Input([]byte(key)); !errors.As(err, &lost) || lost.Error() != why {
		v.t.Errorf("%q: %v, want that it is lost: %s", key, err, why)
	}
}

func TestALineGoesOnOnlyAfterAPauseWhenTheKeyboardWasTakenInItsMiddle(t *testing.T) {
	t.Parallel()
	for name, taker := range map[string]authz.Principal{
		"by somebody else": alice, "and may be taken again": hosttest.Principal("ann", authz.Admin),
	} {
		h, clock, term, line := lineUnderWay(t)
		if name != "by somebody else" { // an admin's line, whose next key would take it back
			ben := attach(t, h, hosttest.Principal("ben", authz.Admin), "x", window)
			ben.types("b")
			line = ben
		}
		boss := attach(t, h, taker, "x", window)
		boss.types("|")
		awaitOutput(t, h, term, "|")
		if name == "by somebody else" {
			if _, err := boss.handBack(); err != nil {
				t.Fatal(err)
			}
		}
		why := taker.Name + " took the keyboard while you typed"
		for _, key := range "jects/old\r" {
			line.loses(string(key), why)
			clock.advance(resumePause - time.Millisecond) // a slow typist
		}
		clock.advance(time.Millisecond)
		line.types("whole")
		awaitOutput(t, h, term, "|whole")
	}
}

func TestKeysThatWereRefusedInAPieceAreNotGoneOnWith(t *testing.T) {
	t.Parallel()
	h, clock, term, _ := lineUnderWay(t)
	boss := attach(t, h, alice, "x", window)
	late := attach(t, h, carol, "x", window)
	boss.types("|")
	clock.advance(time.Hour)
	refused := func(key string) {
		t.Helper()
		var held *host.HeldError
		if err := late.a.Input([]byte(key)); !errors.As(err, &held) {
			t.Fatalf("%q: %v", key, err)
		}
	}
	back := func() {
		t.Helper()
		if _, err := boss.handBack(); err != nil {
			t.Fatal(err)
		}
	}
	// One key by which somebody finds out who has the keyboard is no line.
	refused("x")
	back()
	late.types("1\r")

	clock.advance(time.Hour)
	boss.types("|")
	refused("l")
	refused("s")
	back()
	late.loses(" ", "you did not have the keyboard while you typed")
	late.a.Fresh() // such as by a key after the prefix
	late.types("2")
	awaitOutput(t, h, term, "|2")
}

func TestAnInterruptKeyIsNeverLost(t *testing.T) {
	t.Parallel()
	_, _, line := lineTaken(t)
	line.loses("j", "alice took the keyboard while you typed")
	line.types("\x03")
	line.types("fresh")
	line.shows("|\x03fresh")
}

// What continues a paste, or has waited for room, is lost however late it comes.
func TestTheRestOfAPasteIsLostHoweverLateItComes(t *testing.T) {
	t.Parallel()
	clock, _, line := lineTaken(t)
	clock.advance(time.Hour)
	var lost *host.LostError
	if err := line.a.InputLater([]byte("the rest of a paste\r")); !errors.As(err, &lost) {
		t.Errorf("the rest: %v", err)
	}
	line.loses("k", "alice took the keyboard while you typed")
}

// Reports of the viewer's terminal are no keys: they neither end what is lost nor are part of it.
func TestReportsHaveNoPartInALostLine(t *testing.T) {
	t.Parallel()
	clock, _, line := lineTaken(t)
	line.loses("j", "alice took the keyboard while you typed")
	clock.advance(resumePause - time.Millisecond)
	line.types("\x1b[I")
	clock.advance(time.Millisecond)
	line.types("k")
}
