package sshd

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ptypool/vt"
)

// goes makes a fifo from which a program reads a line when it may go on. It may find the end of the
// line before there.
func (r *rig) goes() (goesOn func()) {
	r.t.Helper()
	hosttest.Check(r.t, syscall.Mkfifo(r.path("go"), 0o600))
	return func() {
		r.t.Helper()
		hosttest.Check(r.t, os.WriteFile(r.path("go"), []byte("\n"), 0))
	}
}

// TestOutputUnderTheGreetingIsTheProgramsOwn: the reference is sshd.
func TestOutputUnderTheGreetingIsTheProgramsOwn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	goesOn := r.goes()
	r.bell("other")
	want := &strings.Builder{}
	for i := range 2000 {
		fmt.Fprintf(want, "%d\r\n", i+1)
	}
	r.ssh("alice", "", "new -d -n work -C "+r.path("")+
		" -- stty -icanon -echo; printf ready; until read x <go; do :; done; seq 2000; read x; seq 2000; printf END; exec sleep 1000")
	r.shows("work", "ready")
	p, _ := r.sshOnPty("alice", "", "attach work")
	hosttest.Eventually(t, "the notice and the title are shown", func() bool {
		shown := p.out.all()
		return strings.Contains(shown, "1 wants you: other") &&
			strings.Contains(shown, "\x1b]2;1 wants you · work\x1b\\")
	})
	before := len(p.out.all())
	goesOn()
	p.sees("2000\r\n")
	p.typeIn("\r")
	p.sees("END")
	got := p.out.all()[before:]
	if back, ok := strings.CutSuffix(got, want.String()+want.String()+"END"); !ok ||
		strings.Contains(back, "\n") {
		t.Errorf("the program's output is %.300q ...", got)
	}
}

// screens finds what turns a terminal to its other screen.
var screens = regexp.MustCompile(`\x1b\[\?([\d;]*;)?(47|1047|1049)(;[\d;]*)?[hl]`)

// parted is what TestWhatLiesOver... has a program print, a part at a time.
func parted(parts []string) (command string) {
	command = "new -n work -- stty -icanon -echo; "
	for _, part := range parts {
		command += "printf '" + strings.ReplaceAll(part, "\x1b", `\033`) + "'; until read x <go; do :; done; "
	}
	return command + "printf END; exec sleep 1000"
}

// A full-screen program stays on the alternate screen while help, a list, a question and notices
// come and go over it, and only what it does itself turns to the other screen. In the end both
// screens are the program's.
func TestWhatLiesOverAFullScreenProgramLeavesItThere(t *testing.T) {
	t.Parallel()
	parts := []string{
		"before\r\n$ \x1b7\x1b[?1049h\x1b[?1h\x1b[2;23r\x1b[H\x1b[44mfull screen\x1b[m",
		"\x1b[24;1Hmore of it\x1b[5;5H",
		"\x1b[?1049lafter\r\n$ vim\r\n\x1b[?1049h\x1b[Hagain\x1b[3;3H", // below the help
		"\x1b[?1049lended\r\n$ ",                                       // below the list
		"\x1b[?1049h\x1b[Hlast\x1b[10;10H",                             // below the question
		"\x1b[2;1Hof all",
		"\x1b[?1049lover\r\n",
	}
	want := []string{"full screen", "more of it", "again", "ended", "last", "of all", "over"}
	r := newRig(t, rigOptions{people: crew()})
	goesOn := r.goes()
	w := r.window("alice", 80, 24, strings.Replace(parted(parts), "new ", "new -C "+r.path("")+" ", 1))
	w.sees("full screen")
	next, raw := 0, vt.New(80, 24, vt.Options{})
	raw.Feed([]byte(parts[0]), nil)
	prints := func() {
		t.Helper()
		goesOn()
		next++
		raw.Feed([]byte(parts[next]), nil)
		w.sees(want[next])
	}
	send := r.agentOf()
	decided := make(<-chan error)
	for _, c := range []struct {
		keys, shows, closes string
		below               bool // something is printed meanwhile
	}{
		{"\x1c?", "Any key closes this.", "q", false},
		{"\x1cl", "* work", "\x1b", false},
		{"\x1cg", "work is guarded", "", false},
		{"\x1cg", "work is not guarded", "", true}, // which takes it away
		{"\x1c?", "Any key closes this.", "q", true},
		{"\x1cl", "* work", "\x1b", true},
		{"", "wants to type", "n", true},
		{"\x1c?", "Any key closes this.", "q", true},
	} {
		before, turns := len(w.out.all()), len(screens.FindAllString(parts[min(next+1, len(parts)-1)], -1))
		if c.keys == "" {
			w.typeIn("\x1cg")
			w.sees("work is guarded")
			decided = send("rm -rf x")
		}
		w.typeIn(c.keys)
		w.sees(c.shows)
		if c.below {
			prints()
		} else {
			turns = 0
		}
		if c.keys == "" {
			w.sees("y types it") // it was seen for long enough
		}
		closing := len(w.out.all())
		w.typeIn(c.closes)
		w.gone(c.shows)
		if c.keys == "" {
			if err := <-decided; err == nil {
				t.Error("what was refused is typed")
			}
		}
		got := screens.FindAllString(w.out.all()[closing:], -1)
		if c.closes != "" && raw.AltScreen() && len(got) > 0 {
			t.Errorf("when %s goes the screens are turned by %q", c.shows, got)
		}
		got = screens.FindAllString(w.out.all()[before:], -1)
		if len(got) > 0 && turns == 0 || turns > 0 && len(got) == 0 {
			t.Errorf("with %s the screens are turned by %q", c.shows, got)
		}
	}
	for next+1 < len(parts) {
		prints()
	}
	exact := string(raw.AppendRedraw(nil, vt.Redraw{}))
	hosttest.Eventually(t, "the terminal is the program's", func() bool {
		return w.state(true) == exact
	})
}

// A title, a notification and the mark that come in the middle of a program's sequence leave it
// whole.
func TestWhatWantsYouDoesNotCutASequence(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	goesOn := r.goes()
	p := r.open(r.dial("alice"), 80, 24, "new -n work -C "+r.path("")+` -- stty -icanon -echo; `+
		`printf 'ready\033[3'; until read x <go; do :; done; printf '1;4'; until read x <go; do :; done; printf 'mred'; exec sleep 1000`)
	p.sees("ready\x1b[3") // it is late
	r.bell("other")
	p.sees("\x1b]2;1 wants you · work\x1b\\\x1b[3")
	p.sees(oneWants)
	goesOn()
	p.sees("1;4")
	r.bell("another")
	p.sees("\x1b]2;2 want you · work\x1b\\\x1b[31;4")
	goesOn()
	p.sees("mred")
	raw := vt.New(80, 24, vt.Options{})
	raw.Feed([]byte("ready\x1b[31;4mred"), nil)
	want := strings.TrimRight(string(raw.AppendText(nil, true)), "\n")
	hosttest.Eventually(t, "the text is the program's", func() bool { return p.shown(80, 24) == want })
}

// In a window of another size, where all is drawn, the mark stays, and output ends a notice.
func TestANoticeInAWindowOfAnotherSize(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	r.bell("other")
	goesOn := r.goes()
	p := r.open(r.dial("alice"), 80, 24, "new -n work -C "+r.path("")+` -- stty -icanon -echo; `+
		`printf '\033[5;1Hready'; until read x <go; do :; done; printf more; exec sleep 1000`)
	p.sees("ready")
	small := r.open(r.dial("alice"), 60, 5, "attach -r work")
	small.sees("termhost: 1 wants you: other")
	small.sees(" 1 wants you ")
	x := vt.New(60, 5, vt.Options{})
	x.Feed([]byte(small.out.all()), nil)
	lines := strings.Split(string(x.AppendText(nil, false)), "\n")
	if !strings.HasPrefix(lines[0], "termhost: ") || lines[4] != "ready" {
		t.Errorf("with the cursor in the last row it shows %q", lines)
	}
	goesOn()
	small.sees("readymore")
	hosttest.Eventually(t, "the notice goes, the mark stays", func() bool {
		shown := small.shown(60, 5)
		return !strings.Contains(shown, "termhost: ") && strings.Contains(shown, " 1 wants you ")
	})
}
