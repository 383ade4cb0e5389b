package sshd

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ptypool/vt"
)

// crew is an admin, an operator and an observer.
func crew() map[string]string {
	return map[string]string{"alice": "", "bob": asOperator, "carol": asOperator, "eve": asObserver}
}

func TestWhoComesIsToldWhoHoldsTheKeyboard(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	r.ssh("bob", "", catVDetached)
	for name, want := range map[string]string{
		"alice": "termhost: bob has the keyboard; your first key takes it ",
		"carol": `termhost: bob has the keyboard; Ctrl-\ a asks for it `,
		"bob":   "",
		"eve":   "",
	} {
		p := r.open(r.dial(name), 80, 24, "attach work")
		if want != "" {
			p.sees(want)
			continue
		}
		p.sees("ready")
		p.typeIn("\x1c?") // whatever were shown before this would be shown by now
		p.sees("Any key closes this.")
		if strings.Contains(p.out.all(), "termhost: ") {
			t.Errorf("%s is told %q", name, p.out.all())
		}
	}
}

// TestTheKeyThatTakesTheKeyboardSaysSo is about one key, in a window of the terminal's size and in
// one to which the terminal is resized first.
func TestTheKeyThatTakesTheKeyboardSaysSo(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	b := r.open(r.dial("bob"), 80, 24, catV)
	b.sees("ready")
	for _, cols := range []int{80, 100} {
		a := r.open(r.dial("alice"), cols, 24, "attach work")
		a.sees("bob has the keyboard; your first key takes it")
		a.typeIn("k")
		a.sees(`you took the keyboard from bob; Ctrl-\ r hands it back`)
		a.typeIn("\x1cd")
		b.sees("you have the keyboard again")
	}
}

// catVDetached is catV without a viewer.
const catVDetached = "new -d -n work -- stty raw -echo; printf ready; exec cat -v"

func TestTheKeyboardComesBackWhenWhoTookItLeaves(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	b := r.open(r.dial("bob"), 80, 24, catV)
	b.sees("ready")
	typed := "ready"
	for _, leave := range []func(*person){
		func(p *person) { p.typeIn("\x1cd") },
		func(p *person) { p.s.Close() },
	} {
		a := r.open(r.dial("alice"), 80, 24, "attach work")
		a.sees("ready")
		a.typeIn("alices")
		typed += "alices"
		a.showsLine(typed)
		b.showsLine(typed)
		leave(a)
		hosttest.Eventually(t, "bob is told now", func() bool { // not only by a notice that is past
			return strings.Contains(b.shown(80, 24), "termhost: alice has left: you have the keyboard again")
		})
		b.typeIn("\x1c?q,") // the help takes the notice's place, and goes
		typed += ","
		b.showsLine(typed)
	}
	if got := r.screen(); got != typed {
		t.Errorf("the program was typed %q", got)
	}
}

func TestTheHolderIsAskedForTheKeyboard(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	a := r.open(r.dial("alice"), 80, 24, catV)
	a.sees("ready")
	b := r.open(r.dial("bob"), 80, 24, "attach work")
	b.sees(`alice has the keyboard; Ctrl-\ a asks for it`)
	b.typeIn("x")
	b.sees(`alice has the keyboard; ask with Ctrl-\ a, or an admin can take it`)
	b.typeIn("\x1ca")
	b.sees("you asked alice for the keyboard")
	a.sees(`bob asks for the keyboard: Ctrl-\ r gives it`)
	c := r.open(r.dial("carol"), 80, 24, "attach work")
	c.sees("alice has the keyboard")
	c.typeIn("\x1ca")
	a.sees(`carol asks for the keyboard, too: Ctrl-\ r gives it to bob`)
	e := r.open(r.dial("eve"), 80, 24, "attach work")
	e.sees("ready")
	e.typeIn("\x1ca")
	e.sees("observers may only look")
	a.typeIn("\x1cr")
	a.sees("you gave bob the keyboard")
	b.sees("alice gave you the keyboard")
	c.sees("alice gave bob the keyboard")
	b.typeIn("bobs")
	c.sees("bobs")
	b.typeIn("\x1cr")
	b.sees("handed back to alice")
	a.sees("bob gave you the keyboard")
}

func TestAnIdleKeyboardComesBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew(),
		host: func(c *host.Config) { c.KeyboardIdle = 200 * time.Millisecond }})
	b := r.open(r.dial("bob"), 80, 24, catV)
	b.sees("ready")
	a := r.open(r.dial("alice"), 80, 24, "attach work")
	a.sees("ready")
	a.typeIn("k")
	a.sees("you typed nothing for a while: bob has the keyboard again")
	b.sees("alice typed nothing for a while: you have the keyboard again")
}

func TestANoteWaitsUntilTheHelpIsClosed(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	a := r.open(r.dial("alice"), 80, 24, catV)
	a.sees("ready")
	b := r.open(r.dial("bob"), 80, 24, "attach work")
	b.sees("ready")
	a.typeIn("\x1c?")
	a.sees("Any key closes this.")
	b.typeIn("\x1ca")
	b.sees("you asked alice for the keyboard")
	a.typeIn("q")
	a.sees("bob asks for the keyboard")
	a.typeIn("END")
	a.sees("END")
	if got := r.screen(); got != "readyEND" {
		t.Errorf("the program was typed %q", got)
	}
}

// shows draws what a person has been shown, in a window of a size.
func (p *person) shows(cols, rows int) []byte {
	own := vt.New(cols, rows, vt.Options{})
	own.Feed([]byte(p.out.all()), nil)
	return own.AppendRedraw(nil, vt.Redraw{})
}

func TestANoticeInANarrowWindowIsWholeAndLeavesNoTrace(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	const cols, rows = 20, 8
	r.ssh("alice", "", `new -d -n work -- stty raw -echo; `+
		`printf '\033[44;1mblue\033[K\r\n\033[0;31m界界界界界界界界界界\r\n\033[7m0123456789012345678\033[m+';`+
		`printf '\033[8;1H\033[4mlast line\033[m\033[6;3Hready'; exec cat -v`)
	a := r.open(r.dial("alice"), cols, rows, "attach work")
	a.sees("ready")
	b := r.open(r.dial("bob"), cols, rows, "attach work")
	b.sees("ready")
	b.typeIn("\x1c?")
	b.sees("Any key closes")
	b.typeIn("qx")
	for _, line := range []string{"termhost: alice has", "the keyboard; ask  ", `with Ctrl-\ a, or  `,
		"an admin can take  ", "it                 "} {
		b.sees("\x1b[2K" + line)
	}
	covered := b.shows(cols, rows)
	want := a.shows(cols, rows)
	if bytes.Equal(covered, want) {
		t.Error("the notice is not on the screen")
	}
	b.typeIn("\x1c?q") // the help takes its place, and goes
	hosttest.Eventually(t, "the screen is as if nothing had lain over it", func() bool {
		return bytes.Equal(b.shows(cols, rows), want)
	})
}
