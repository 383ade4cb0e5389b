package host

import (
	"strings"
	"testing"

	"termhost/ahp"
)

// screenText returns what t's screen shows, without blank lines at its end.
func (t *Terminal) screenText() string {
	t.term.Lock()
	defer t.term.Unlock()
	return strings.TrimRight(string(t.term.Screen().AppendText(nil, false)), "\n")
}

// After a clear the content replays to the host's screen, at once and from then on: those who
// subscribe then see what all others see.
func TestAClearKeepsTheLineOfTheCursor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, prints, kept string
	}{
		{"a prompt below a long output",
			`for i in $(seq 100); do echo secret-$i-; done; printf "$ typed"`, "$ typed"},
		{"a prompt in the middle", `printf "secret\r\n$ typed"`, "$ typed"},
		{"something below the prompt", `printf "secret\r\n$ typed\r\n\nsecret\033[2;8H"`, "$ typed"},
		{"a cursor within the line", `printf "secret\r\n$ typed\033[3G"`, "$ typed"},
		{"colours and modes", `printf "secret\r\n\033[?2004h\033[31;44m$ typed"`, "$ typed"},
		{"a prompt on the first line", `printf "$ typed"`, "$ typed"},
		{"a prompt on the last line of the screen", `printf "secret\033[24H$ typed"`, "$ typed"},
		{"nothing at all", `printf ready; printf "\033[2J\033[H"`, ""},
		{"margins", `printf "above\033[5;10r\033[7Hwithin"`, "above\n\n\n\n\n\nwithin"},
		{"a full line", `printf "above\r\n%080d" 0`, "above\n" + strings.Repeat("0", 80)},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t)
			p := connect(t, h, carol, "c")
			uri := p.create("x", "/bin/sh", "-c",
				"stty -echo;"+c.prints+"; printf '\033]0;printed\007'; read x; printf -- '-more'; read x")
			term := h.lookup(uri)
			term.awaitOutput(t, "printed")
			p.subscribe(uri)
			if got := p.dispatch(uri, ahp.TerminalCleared{}); got != "" {
				t.Fatal(got)
			}
			replays := func() {
				t.Helper()
				st, _ := term.ch.Terminal()
				sameScreen(t, term, []byte(text(st)))
				if strings.Contains(text(st), "secret") {
					t.Errorf("the content is %q", text(st))
				}
			}
			replays()
			if got := term.screenText(); got != c.kept {
				t.Errorf("the screen shows %q, want %q", got, c.kept)
			}
			if v := attach(t, h, carol, "x", window); strings.Contains(string(v.out), "secret") {
				t.Errorf("a viewer that attaches later is sent %q", v.out)
			}
			p.dispatch(uri, ahp.TerminalInput{Data: []byte("\r")})
			term.awaitOutput(t, "-more")
			replays()
		})
	}
}

// Lines that a clear took away are not sent to a viewer whose screen was covered.
func TestAClearUnderAnOverlayBringsNothingBack(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	p := connect(t, h, carol, "c")
	uri := p.create("x", "/bin/sh", "-c",
		`for i in $(seq 20); do echo secret-$i-; done; printf '$ typed'; read x`)
	h.lookup(uri).awaitOutput(t, "typed")
	v := attach(t, h, carol, "x", window)
	if _, _, err := v.a.Cover(nil); err != nil {
		t.Fatal(err)
	}
	if got := p.dispatch(uri, ahp.TerminalCleared{}); got != "" {
		t.Fatal(got)
	}
	drawn, err := v.a.Uncover()
	if err != nil || strings.Contains(string(drawn), "secret") ||
		!strings.Contains(string(drawn), "$ typed") {
		t.Errorf("it is sent %q, %v", drawn, err)
	}
}

func TestClearPaintsAFullScreenProgramAnew(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	p := connect(t, h, carol, "c")
	uri := p.create("x", "/bin/sh", "-c", `printf 'before\033[?1049h\033[2;2Hfull screen'; read x`)
	term := h.lookup(uri)
	term.awaitOutput(t, "full screen")
	if got := p.dispatch(uri, ahp.TerminalCleared{}); got != "" {
		t.Fatal(got)
	}
	if st, _ := term.ch.Terminal(); !sameScreen(t, term, []byte(text(st))) {
		t.Errorf("the content is %q", text(st))
	}
}

// After its clear an owner draws its screen again by itself.
func TestAClearByAnOwnerLeavesTheContentEmpty(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	owner := connect(t, h, carol, "owner")
	uri, term := owner.share("laptop", "")
	owner.print(uri, "one\r\n$ ")
	if why := owner.dispatch(uri, ahp.TerminalCleared{}); why != "" {
		t.Fatal(why)
	}
	if st, _ := term.ch.Terminal(); len(st.Content) != 0 {
		t.Errorf("the content is %q", text(st))
	}
}

// A clear leaves alone a string that the program is in the middle of: the rest of it is not shown
// as text.
func TestAClearInTheMiddleOfAStringDoesNotShowItsRest(t *testing.T) {
	t.Parallel()
	for _, begin := range []string{"\x1b]0;", "\x1bP+q", "\x1b_G", "\x1b]52;c;"} {
		h := newHost(t)
		p := connect(t, h, carol, "c")
		term := fedTerminal(t, h, 80, 24)
		term.prints([]byte("printed" + begin + "the string"))
		term.term.Lock()
		got := term.clear(p.c.step(1), ahp.TerminalCleared{})
		term.term.Unlock()
		if got != "" {
			t.Fatal(got)
		}
		term.prints([]byte(" goes on\x1b\\after it"))
		if got := term.screenText(); got != "printedafter it" {
			t.Errorf("in the middle of %q: the screen shows %q", begin, got)
		}
		if st, _ := term.ch.Terminal(); !sameScreen(t, term, []byte(text(st))) {
			t.Errorf("in the middle of %q: the content is %q", begin, text(st))
		}
	}
}
