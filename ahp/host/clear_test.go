package host_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// screenText returns what a terminal's screen shows, without blank lines at its end.
func screenText(tb testing.TB, h *host.Host, term *host.Terminal) string {
	tb.Helper()
	screen, err := hosttest.Peek(h, alice, term, false)
	hosttest.Check(tb, err)
	return strings.TrimRight(string(screen), "\n")
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
			h := hosttest.New(t)
			p := connect(t, h, carol, "c")
			uri := p.create("x", "/bin/sh", "-c",
				"stty -icanon -echo;"+c.prints+"; printf '\033]0;printed\007'; read x; printf -- '-more'; read x")
			term := lookup(h, uri)
			awaitOutput(t, h, term, "printed")
			p.subscribe(uri)
			if got := p.dispatch(uri, ahp.TerminalCleared{}); got != "" {
				t.Fatal(got)
			}
			replays := func() {
				t.Helper()
				st := state(p.t, h, term)
				sameScreen(t, h, term, text(st))
				if strings.Contains(text(st), "secret") {
					t.Errorf("the content is %q", text(st))
				}
			}
			replays()
			if got := screenText(p.t, h, term); got != c.kept {
				t.Errorf("the screen shows %q, want %q", got, c.kept)
			}
			if v := attach(t, h, carol, "x", window); strings.Contains(string(v.out), "secret") {
				t.Errorf("a viewer that attaches later is sent %q", v.out)
			}
			p.dispatch(uri, ahp.TerminalInput{Data: []byte("\r")})
			awaitOutput(t, h, term, "-more")
			replays()
		})
	}
}

// Lines that a clear took away are not sent to a viewer whose screen was covered.
func TestAClearUnderAnOverlayBringsNothingBack(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := connect(t, h, carol, "c")
	uri := p.create("x", "/bin/sh", "-c",
		`for i in $(seq 20); do echo secret-$i-; done; printf '$ typed'; read x`)
	awaitOutput(t, h, lookup(h, uri), "typed")
	v := attach(t, h, carol, "x", window)
	if _, _, err := v.a.Cover(nil, host.Over{}, false); err != nil {
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
	h := hosttest.New(t)
	p := connect(t, h, carol, "c")
	uri := p.create("x", "/bin/sh", "-c", `printf 'before\033[?1049h\033[2;2Hfull screen'; read x`)
	term := lookup(h, uri)
	awaitOutput(t, h, term, "full screen")
	if got := p.dispatch(uri, ahp.TerminalCleared{}); got != "" {
		t.Fatal(got)
	}
	if st := state(p.t, h, term); !sameScreen(t, h, term, text(st)) {
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
	if st := state(owner.t, h, term); len(st.Content) != 0 {
		t.Errorf("the content is %q", text(st))
	}
}

// A clear leaves alone a string that the program is in the middle of: the rest of it is not shown
// as text.
func TestAClearInTheMiddleOfAStringDoesNotShowItsRest(t *testing.T) {
	t.Parallel()
	for _, begin := range []string{"\x1b]0;", "\x1bP+q", "\x1b_G", "\x1b]52;c;"} {
		h := hosttest.New(t)
		p := connect(t, h, carol, "c")
		x := newPrinter(t, h, carol, "x", "")
		if _, err := x.to.WriteString("printed" + begin + "the string"); err != nil {
			t.Fatal(err)
		}
		hosttest.Eventually(t, "it is read", func() bool { // what is not whole is shown to nobody
			logs, _ := filepath.Glob(filepath.Join(host.StateDir(h), "terms", "*", "log.*"))
			return slices.ContainsFunc(logs, func(name string) bool {
				log, err := os.ReadFile(name)
				return err == nil && bytes.Contains(log, []byte("the string"))
			})
		})
		if got := p.dispatch(x.term.URI(), ahp.TerminalCleared{}); got != "" {
			t.Fatal(got)
		}
		x.prints(" goes on\x1b\\after it")
		if got := screenText(t, h, x.term); got != "printedafter it<end of piece 1>" {
			t.Errorf("in the middle of %q: the screen shows %q", begin, got)
		}
		if st := state(t, h, x.term); !sameScreen(t, h, x.term, text(st)) {
			t.Errorf("in the middle of %q: the content is %q", begin, text(st))
		}
	}
}
