package sshd

import (
	"fmt"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ptypool/vt"
)

// catV is a program that shows what it is typed.
const catV = "new -n work -- stty raw -echo; printf ready; exec cat -v"

// screen is what the terminal work shows.
func (r *rig) screen() string {
	r.t.Helper()
	return strings.TrimSpace(r.ssh("alice", "", "peek work").stdout)
}

func TestOnlyAKeyClosesTheHelpAndNothingElseIsLostOrTyped(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24, catV)
	p.sees("ready")
	help := func(then ...string) {
		t.Helper()
		p.typeIn("\x1c?")
		p.sees("Any key closes this.")
		p.sees("\x1b[?2004h") // so that a paste can be told from keys
		for _, text := range then {
			p.typeIn(text)
		}
		p.gone("Any key closes this.")
	}
	// Focus, mouse and a key that is let go close nothing.
	help("\x1b[I", "\x1b[<0;1;1M", "\x1b[M !!", "\x1b[57441;1:3u", "\x1b[63;1:3u", "q")
	help("\x1b[200~rm -rf precious\r\x1b[201~")
	help("\x1b[200~rm -rf", " precious\x1b[20", "1~", "\x1c?q")
	help("é")
	help("\xc3", "\xa9")
	help("\x1b[A")
	help("\x1b[233u")
	p.typeIn("\x1b[200~kept\x1b[201~\x1b[1;2REND")
	p.sees("END")
	want := "ready^[[<0;1;1M^[[M !!^[[57441;1:3u^[[200~kept^[[201~^[[1;2REND"
	if got := r.screen(); got != want {
		t.Errorf("the program was typed\n%s\nnot\n%s", got, want)
	}
}

// gone waits until text is not shown any more, in a window of 80 by 24.
func (p *person) gone(text string) {
	p.t.Helper()
	hosttest.Eventually(p.t, text+" goes", func() bool {
		return !strings.Contains(p.shown(80, 24), text)
	})
}

func TestThePrefixIsSentOnAsItCame(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24, catV)
	p.sees("ready")
	p.typeIn("\x1b[92;5u\x1b[92;5u,\x1b[92;5u\x1b[120u,\x1b[92;5u\x1b[57441;2u\x1b[92;5:3u?")
	p.sees("Any key closes this.")
	p.typeIn("qEND")
	p.sees("END")
	if got, want := r.screen(), "ready^[[92;5u,,^[[57441;2uEND"; got != want {
		t.Errorf("the program was typed\n%s\nnot\n%s", got, want)
	}
}

// counting prints numbered lines, more with each line it reads.
const counting = `stty -echo; i=0; ` +
	`up() { while [ $i -lt $1 ]; do i=$((i+1)); echo line-$i-end; done; echo at-$1; }; ` +
	`up 50; read x; up 150; read x; up 200; read x; up 230; read x`

// once checks that a terminal that was shown all this has each line once, in its scrollback or on
// its screen.
func (p *person) once(cols, rows, lines int) {
	p.t.Helper()
	own := vt.New(cols, rows, vt.Options{ScrollbackLines: 10000})
	own.Feed([]byte(p.out.all()), nil)
	history := string(own.AppendHistoryText(nil))
	next := 1
	for line := range strings.Lines(history) {
		var n int
		if _, err := fmt.Sscanf(line, "line-%d-end", &n); err != nil {
			continue
		}
		if n != next {
			p.t.Fatalf("line %d follows line %d:\n%s", n, next-1, history)
		}
		next = n + 1
	}
	if next != lines+1 {
		p.t.Fatalf("the last line is %d, want %d", next-1, lines)
	}
}

func TestNoticesCostNoScrollbackAndLoseNone(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24, "new -n work -- "+counting)
	p.sees("at-50\r\n")
	for range 3 {
		p.typeIn("\x1c?")
		p.sees("Any key closes this.")
		p.typeIn("q")
		p.gone("Any key closes this.")
	}
	p.once(80, 24, 50)
	p.typeIn("\x1c?")
	p.sees("Any key closes this.")
	for _, top := range []string{"line-129-end", "line-179-end"} { // while the rest is covered
		r.ssh("alice", "", "send --enter work")
		p.sees(top)
	}
	p.typeIn("q\r")
	p.sees("at-230")
	p.once(80, 24, 230)
}

func TestAViewerThatComesToFitTheTerminalGetsTheLinesItMissed(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "eve": asObserver}})
	p := r.open(r.dial("alice"), 80, 24, "new -n work -- "+counting)
	p.sees("at-50\r\n")
	e := r.open(r.dial("eve"), 90, 30, "attach work")
	e.sees("at-50")
	p.typeIn("\r")
	e.sees("at-150")
	p.resize(90, 30)
	hosttest.Eventually(t, "the terminal has the size of both", func() bool {
		return strings.Contains(r.ssh("alice", "", "ls").stdout, " 90x30 ")
	})
	p.typeIn("\r")
	e.sees("at-200")
	p.typeIn("\r")
	e.sees("at-230")
	e.once(90, 30, 230)
}

func TestTheClipboardAndTheBellReachAHolderWhoseScreenIsCovered(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": ""}})
	p := r.open(r.dial("alice"), 80, 24, `new -n work -- stty -echo; echo ready; while read x; do `+
		`printf '\033]52;c;Y2xpcA==\007\033]52;p;cHJpbQ==\007\a%s' "$x"; done`)
	p.sees("ready")
	small := r.open(r.dial("alice"), 40, 10, "attach -r work")
	small.sees("ready")
	other := r.open(r.dial("bob"), 40, 10, "attach work")
	other.sees("ready")
	second := r.open(r.dial("alice"), 60, 20, "attach work")
	second.sees("ready")
	p.typeIn("\x1c?") // p's window is not the terminal's any more: it did not type
	p.sees("Any key closes this.")
	second.typeIn("\x1c?")
	second.sees("Any key closes this.")
	r.ssh("alice", "", "send --enter work now-and")
	for _, v := range []*person{p, second} {
		v.sees("\x1b]52;c;Y2xpcA==\x07\x1b]52;p;cHJpbQ==\x07\x07")
		v.sees("now-and")
	}
	other.sees("now-and")
	small.sees("now-and")
	for _, v := range []*person{other, small} {
		if strings.Contains(v.out.all(), "]52") {
			t.Error("a viewer who does not hold the claim, or may only look, got the clipboard")
		}
	}
	if !strings.Contains(other.out.all(), "\a") {
		t.Error("a viewer with another window hears no bell")
	}
}

func TestWhoTakesTheKeyboardIsToldFromWhomOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": asOperator}})
	b := r.open(r.dial("bob"), 80, 24, catV)
	b.sees("ready")
	a := r.open(r.dial("alice"), 80, 24, "attach work")
	a.sees("ready")
	a.typeIn("\x1b[I") // no key
	a.typeIn("x")
	a.sees(`you took the keyboard from bob; Ctrl-\ r hands it back`)
	tells := func() bool { return strings.Contains(a.shown(80, 24), "you took") }
	hosttest.Eventually(t, "the notice goes", func() bool { return !tells() })
	a.typeIn("yEND")
	a.sees("END")
	if tells() {
		t.Error("it is told again with the next key")
	}
	a.typeIn("\x1cr")
	a.sees("handed back to bob")
}

func TestWhatAnAdminSendsLeavesTheKeyboardWhereItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": asOperator}})
	b := r.open(r.dial("bob"), 80, 24, catV)
	b.sees("ready")
	b.typeIn("one,")
	if got := r.ssh("alice", "", "send work two,"); got.status != 0 || got.stderr != "" {
		t.Errorf("send: %+v", got)
	}
	b.typeIn("three")
	b.sees("three")
	if got := r.screen(); got != "readyone,two,three" {
		t.Errorf("the program was typed %q", got)
	}
	if strings.Contains(b.out.all(), "alice") {
		t.Error("the holder is shown a notice of it")
	}
}

func TestWhoHoldsATerminalIsNotToldThatSomebodyElseDoes(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	c := r.dial("alice")
	p := r.open(c, 80, 24, catV)
	p.sees("ready")
	v := r.open(c, 80, 24, "attach -r work")
	v.sees("ready")
	v.typeIn("x")
	v.sees("this attach is read-only")
	v.typeIn("\x1c?")
	v.sees("terminal work (this attach is read-only)")
	if strings.Contains(v.out.all(), "has the keyboard") {
		t.Error("its own holder is told that somebody holds it")
	}
}

func TestTheTitleIsGivenBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24, `new -n work -- printf '\033]2;mine\007ready'; exec cat`)
	p.sees("\x1b[22;2t") // the title is kept
	p.sees("mine")
	p.sees("ready")
	p.typeIn("\x1cd")
	p.sees("\x1b[23;2t")
	p.sees("[detached")
	p.status()
}
