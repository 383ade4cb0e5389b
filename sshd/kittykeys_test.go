package sshd

import (
	"strings"
	"testing"
)

// pushing asks for kitty's keyboard protocol at q, as programs do, sets its flags at p and P, and
// shows all else, in lines that fit the windows: where a notice lies, they are drawn row by row.
const pushing = `new -n work -- stty raw -echo; printf ready; ` +
	`while key=$(dd bs=1 count=1 2>/dev/null); [ "$key" ]; do case $key in ` +
	`q) printf '\033[?u\033[c';; p) printf '\033[>1u<pushed>\r\n';; ` +
	`P) printf '\033[>1u<again>\r\n';; *) printf %s "$key" | cat -v;; esac; done`

const (
	shiftEnter = "\x1b[13;2u"
	withKeys   = "\x1b[?0u\x1b[?62c"
	without    = "\x1b[?62c"
)

// The program has kitty's keyboard protocol where the holder's terminal has it, and keys come as
// that sends them.
func TestTheKeyboardProtocolIsThatOfTheHoldersTerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24, pushing)
	p.sees("\x1b[?u\x1b[c")
	p.sees("ready")
	p.typeIn("q") // the answer waits for that of the terminal
	p.typeIn(withKeys + "x")
	p.sees("^[[?0u^[[?62;22;52c")
	p.typeIn("p")
	p.sees("\x1b[>1u")
	p.sees("<pushed>")
	p.typeIn(shiftEnter)
	p.sees("^[[13;2u")

	// One without it takes over. It gets none of the flags, and the program is told.
	other := r.open(r.dial("alice"), 80, 24, "attach work")
	other.sees("<pushed>")
	other.typeIn(without + "Kq")
	other.sees("K^[[?62;22;52c")
	other.typeIn("P")
	other.sees("<again>")
	if out := other.out.all(); strings.Contains(out, "u<again>") || strings.Contains(out, "\x1b[=") ||
		strings.Contains(out, "\x1b[>1u") {
		t.Errorf("it gets the flags: %q", out)
	}

	// A third one has it: it gets them when it has said so, and loses them at the end.
	third := r.open(r.dial("alice"), 80, 24, "attach work")
	third.sees("<again>")
	third.typeIn(withKeys)
	third.sees("\x1b[>1u\x1b[>1u")
	third.typeIn("Lq")
	third.sees("L^[[?1u^[[?62;22;52c")
	third.typeIn(shiftEnter)
	third.sees("^[[13;2u")
	third.typeIn("\x1b[92;5u\x1b[100u")
	third.sees("\x1b[<99u\x1b[=0u")
	third.sees("[detached")
}

// A program asks at once, and is not told before the terminal has answered, or has not for a while.
func TestWhoAsksForTheKeyboardProtocolAtOnceIsToldRightly(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	const asks = ` stty raw -echo; printf '\033[?u\033[c'; exec cat -v`
	for name, answers := range map[string]string{"has": withKeys, "lacks": without, "silent": ""} {
		p := r.open(r.dial("alice"), 80, 24, "new -n "+name+" --"+asks)
		p.sees("\x1b[?u\x1b[c")
		p.typeIn(answers)
		p.sees("^[[?62;22;52c")
		if has := strings.Contains(p.out.all(), "^[[?0u^[[?62"); has != (name == "has") {
			t.Errorf("%s: the program is told so: %v", name, has)
		}
	}
	for term, want := range map[string]string{"xterm-kitty": "^[[?0u^[[?62;22;52c", "linux": "^[[?62;22;52c"} {
		p := r.openAs(r.dial("alice"), term, 80, 24, "new -n "+term+" --"+asks)
		p.sees(want)
		if term == "linux" && strings.Contains(p.out.all(), "?0u") {
			t.Error("a console has the protocol")
		}
	}
}
