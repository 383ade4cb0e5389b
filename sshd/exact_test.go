package sshd

import (
	"slices"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ptypool/vt"
)

// shown returns the screen of a terminal that has been sent what p has seen.
func (p *person) shown(cols, rows int) string {
	screen := vt.New(cols, rows, vt.Options{})
	screen.Feed([]byte(p.out.all()), nil)
	return strings.TrimRight(string(screen.AppendText(nil, true)), "\n")
}

// showsLine waits until a line of a window of 80 by 24 is text. Unlike [person.sees] it does not
// depend on how that was drawn: where something lies over the screen, or goes, text is drawn whole
// if all of it is there by then, and otherwise the rest comes after the drawing's end.
func (p *person) showsLine(text string) {
	p.t.Helper()
	hosttest.Eventually(p.t, "a line is "+text, func() bool {
		return slices.Contains(strings.Split(p.shown(80, 24), "\n"), text)
	})
}

// After something has lain over the screen, the viewer shows exactly the host's screen again.
func TestWhatWasCoveredComesBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "eve": asObserver}})
	p := r.open(r.dial("alice"), 80, 24, `new -n work -- stty -echo; for i in $(seq 1 60); do `+
		`printf '\033[3%dmline %d\033[m\r\n' $((i%8)) $i; done; `+
		`printf '\033[5;20r\033[7;9Hhere'; while read x; do printf ' and %s' $x; done`)
	p.sees("here")
	e := r.open(r.dial("eve"), 80, 24, "attach work")
	e.sees("here")
	e.typeIn("x")
	e.sees("observers may only look")
	for i, c := range []struct{ keys, shows, closes string }{
		{"\x1c?", "Any key closes this.", "q"},
		{"\x1cl", "* work", "\x1b"},
		{"\x1cc", "you have the keyboard", ""},
		{"\x1cr", "nobody had the keyboard before you", ""},
	} {
		p.typeIn(c.keys)
		p.sees(c.shows)
		word := "word" + string(rune('a'+i))
		p.typeIn(c.closes + word + "\r")
		p.sees(word)
	}
	want := func() string {
		return strings.TrimRight(r.ssh("alice", "", "peek --ansi work").stdout, "\n")
	}
	if !strings.Contains(want(), "wordd") {
		t.Fatalf("the screen is %q", want())
	}
	for name, viewer := range map[string]*person{"holder": p, "observer": e} {
		var got string
		hosttest.Eventually(t, name+"'s screen is the host's", func() bool {
			got = viewer.shown(80, 24)
			return got == want()
		})
	}
}
