package sshd

import (
	"fmt"
	"io"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
)

// plainTerminals are those on which nothing is drawn.
func plainTerminals() map[string]func(*rig, *gossh.Client, string) *person {
	as := func(term string, cols, rows int) func(*rig, *gossh.Client, string) *person {
		return func(r *rig, c *gossh.Client, command string) *person {
			return r.openAs(c, term, cols, rows, command)
		}
	}
	return map[string]func(*rig, *gossh.Client, string) *person{
		"dumb": as("dumb", 80, 24), "no TERM": as("", 80, 24), "0x0": as("xterm-256color", 0, 0),
	}
}

// bell has a terminal ring that nobody looks at, so that it wants alice.
func (r *rig) bell(name string) {
	r.t.Helper()
	r.ssh("alice", "", "new -d -n "+name+` -- printf '\a'; exec sleep 1000`)
	r.shows(name, "")
}

// TestWhereNoScreenIsDrawnThePeerGetsTheProgramsBytes: the reference is sshd.
func TestWhereNoScreenIsDrawnThePeerGetsTheProgramsBytes(t *testing.T) {
	t.Parallel()
	want := &strings.Builder{}
	for i := range 2000 {
		fmt.Fprintf(want, "%d\r\n", i+1)
	}
	for name, open := range plainTerminals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{people: crew()})
			r.bell("other")
			for _, command := range []string{"run -- ", "new -n work -- "} {
				p := open(r, r.dial("alice"), command+"seq 2000; exit 3")
				if got := p.status(); got != 3 {
					t.Errorf("%s: status %d", command, got)
				}
				if got := p.out.all(); got != want.String() {
					t.Errorf("%s: %d bytes, beginning with %.100q", command, len(got), got)
				}
				r.ssh("alice", "", "rm --exited")
			}
			p := open(r, r.dial("alice"), "")
			p.typeIn("PS1=; stty -echo; echo set-$((1+1))\r")
			p.sees("set-2\r\n")
			before := len(p.out.all())
			p.typeIn("seq 2000; kill -9 $$\r")
			if got := p.status(); got != 128+9 {
				t.Errorf("the shell: status %d", got)
			}
			if got := p.out.all(); got[before:] != want.String() || strings.Contains(got, "\x1b") {
				t.Errorf("the shell: %.300q", got)
			}
		})
	}
}

// TestWhereNoScreenIsDrawnNobodyIsTold: no word of the present screen, of the keyboard, or of
// terminals that want the person.
func TestWhereNoScreenIsDrawnNobodyIsTold(t *testing.T) {
	t.Parallel()
	for name, open := range plainTerminals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{people: crew()})
			r.ssh("alice", "", "new -d -n work -- stty -echo; echo old; while read x; do echo \"<$x>\"; done")
			r.shows("work", "old")
			p := open(r, r.dial("alice"), "attach work")
			r.shows("work", "old")
			hosttest.Eventually(t, "it is attached", func() bool {
				return strings.Contains(r.ssh("alice", "", "who work").stdout, "alice")
			})
			p.typeIn("one\r")
			p.sees("<one>\r\n")
			bob := r.open(r.dial("bob"), 70, 20, "attach work")
			bob.sees("<one>")
			r.bell("other")
			p.typeIn("two\r")
			p.sees("<two>\r\n")
			r.ssh("alice", "", "rm work")
			p.status()
			got, _, _ := strings.Cut(p.out.all(), "[work was ended")
			if want := "<one>\r\n<two>\r\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestWhereNoScreenIsDrawnEveryKeyIsTheProgramsOwn: nothing is a command, or an answer.
func TestWhereNoScreenIsDrawnEveryKeyIsTheProgramsOwn(t *testing.T) {
	t.Parallel()
	for name, open := range plainTerminals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			p := open(r, r.dial("alice"), "run -- stty raw -echo; echo ready; head -c 8 | od -An -tx1")
			p.sees("ready")
			p.typeIn("\x1cd\x1c\x1c\x1b[?c")
			p.sees("1c 64 1c 1c 1b 5b 3f 63")
			p.status()
		})
	}
}

// TestAPeerThatDoesNotKnowItsWindowResizesNobody: until it does.
func TestAPeerThatDoesNotKnowItsWindowResizesNobody(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	a := r.open(r.dial("alice"), 101, 31, "new -n work -- while read x; do stty size; done")
	a.typeIn("\r")
	a.sees("31 101\r\n") // its program runs
	p := r.openAs(r.dial("alice"), "xterm-256color", 0, 0, "attach work")
	p.typeIn("\r")
	p.sees("31 101\r\n")
	a.sees("31 101")
	if err := p.s.WindowChange(32, 102); err != nil {
		t.Fatal(err)
	}
	r.sized("work", "102x32")
	p.typeIn("\r")
	p.sees("32 102\r\n")
}

// sized waits until a terminal has a size.
func (r *rig) sized(name, size string) {
	r.t.Helper()
	hosttest.Eventually(r.t, name+" is "+size, func() bool {
		return strings.Contains(r.ssh("alice", "", "ls --wide").stdout, size)
	})
}

// TestKeysThatAreRefusedWhereNoScreenIsDrawnAreToldOnTheErrorOutput as those of a command are.
func TestKeysThatAreRefusedWhereNoScreenIsDrawnAreToldOnTheErrorOutput(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "eve": asObserver}})
	r.ssh("alice", "", "new -d -n work -- exec cat")
	s, err := r.dial("eve").NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RequestPty("dumb", 24, 80, nil); err != nil {
		t.Fatal(err)
	}
	in, err := s.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, errs := newTranscript(), newTranscript()
	s.Stdout, s.Stderr = out, errs
	if err := s.Start("attach work"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, "x"); err != nil {
		t.Fatal(err)
	}
	hosttest.Eventually(t, "it is told", func() bool {
		return strings.Contains(errs.all(), "observers may only look")
	})
	if got := out.all(); got != "" {
		t.Errorf("the output is %q", got)
	}
}

// TestVerbsThatDrawSayThatTheyCannot instead of drawing on a dumb terminal.
func TestVerbsThatDrawSayThatTheyCannot(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n work -- exec cat")
	for _, command := range []string{"top", "replay work"} {
		p := r.openAs(r.dial("alice"), "dumb", 80, 24, command)
		if got := p.status(); got != 2 || !strings.Contains(p.out.all(), "draws on a screen") {
			t.Errorf("%s: %d, %q", command, got, p.out.all())
		}
	}
}
