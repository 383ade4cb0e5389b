package sshd

import "testing"

const family = "👩\u200d👩\u200d👧"

// says has a viewer's terminal answer whether it knows mode 2027: see DECRQM.
func (p *person) says(state string) {
	p.t.Helper()
	p.typeIn("\x1bP>|a terminal\x1b\\\x1b[?62c")
	p.sees("\x1b[?2027$p\x1b[c")
	p.typeIn("\x1b[?1016;0$y\x1b[?2027;" + state + "$y\x1b[?62c")
}

// Whether the program may have clusters measured is what the holder's terminal can do. All that look
// measure as the screen does.
func TestClustersAreMeasuredAsTheHoldersTerminalCan(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24, `new -n work -- stty raw -echo; printf ready; `+
		`while key=$(dd bs=1 count=1 2>/dev/null); [ "$key" ]; do case $key in `+
		`q) printf '\033[?2027$p';; h) printf '\033[?2027h';; `+
		`n) printf '\r\n';; f) printf '`+family+`\033[6n';; *) printf %s "$key" | cat -v;; esac; done`)
	p.sees("ready")
	p.typeIn("q")
	p.sees("^[[?2027;0$y") // that is not known yet
	p.says("2")
	p.typeIn("q")
	p.sees("^[[?2027;2$y")
	p.typeIn("nf")
	p.sees(family)
	p.sees("^[[2;7R")
	p.typeIn("nhf")
	p.sees("\x1b[?2027h")
	p.sees("^[[3;3R")
	p.typeIn("q")
	p.sees("^[[?2027;1$y")

	// One that does not know the mode takes over: it is off for all, and known no more.
	other := r.open(r.dial("alice"), 80, 24, "attach work")
	other.sees("ready")
	other.says("0")
	other.typeIn("q")
	other.sees("^[[?2027;0$y")
	p.sees("\x1b[?2027l")
	p.sees("^[[?2027;0$y")
	other.typeIn("nf")
	p.sees("^[[4;7R")

	// And back.
	p.typeIn("q")
	p.sees("\x1b[?2027h")
	p.sees("^[[?2027;1$y")
}
