package sshd

import (
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
)

// askFor starts a command, or with "" a shell, on a pty as a client describes it (RFC 4254 section
// 6.2).
func (r *rig) askFor(c *gossh.Client, width, height uint32, modes, command string) *person {
	r.t.Helper()
	s, err := c.NewSession()
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { s.Close() })
	p := &person{t: r.t, s: s, out: newTranscript()}
	p.out.shown = newShown(80, 24)
	request := struct {
		Term                      string
		Cols, Rows, Width, Height uint32
		Modes                     string
	}{"xterm", 80, 24, width, height, modes}
	if ok, err := s.SendRequest("pty-req", true, gossh.Marshal(&request)); err != nil || !ok {
		r.t.Fatalf("pty-req: %v, %v", ok, err)
	}
	if p.in, err = s.StdinPipe(); err != nil {
		r.t.Fatal(err)
	}
	s.Stdout, s.Stderr = p.out, p.out
	start := s.Shell
	if command != "" {
		start = func() error { return s.Start(command) }
	}
	if err := start(); err != nil {
		r.t.Fatal(err)
	}
	return p
}

// TestANewTerminalHasTheModesOfItsUsers: in every way of making one; another's attach leaves them.
func TestANewTerminalHasTheModesOfItsUsers(t *testing.T) {
	t.Parallel()
	r := asSSHD(t, nil)
	modes := "\x03\x00\x00\x00\x08" + "\x01\x00\x00\x00\x18" + "\x26\x00\x00\x00\x00" +
		"\x35\x00\x00\x00\x00" + "\x00" // VERASE ^H, VINTR ^X, IXON off, ECHO off
	const other = "\x03\x00\x00\x00\x15\x00"
	const show = `stty -a | tr ';' '\n' | grep -E 'erase|intr|ixon|echo ' | tr '\n' ' '; echo end`
	want := func(p *person) {
		t.Helper()
		p.sees("end")
		for _, text := range []string{"intr = ^X", " erase = ^H", "-ixon", "-echo "} {
			if !strings.Contains(p.out.all(), text) {
				t.Errorf("no %q in %q", text, p.out.all())
			}
		}
	}
	want(r.askFor(r.dial("alice"), 0, 0, modes, show))
	want(r.askFor(r.dial("alice"), 0, 0, modes, "run -- "+show))
	want(r.askFor(r.dial("alice"), 0, 0, modes, "new -n work -- "+show+"; read x; "+show+"; read x"))
	again := r.askFor(r.dial("alice"), 0, 0, other, "attach work")
	again.sees("end")
	again.typeIn("\r")
	again.sees("end")
	if got := again.out.all(); strings.Contains(got, "^U ") || !strings.Contains(got, "erase = ^H") {
		t.Errorf("an attach changes the modes: %q", got)
	}
	shell := r.askFor(r.dial("alice"), 0, 0, modes, "")
	shell.typeIn(show + "\n")
	want(shell)
}

// TestAWindowsPixelsReachTheProgram from pty-req and from window-change, also at an attach.
func TestAWindowsPixelsReachTheProgram(t *testing.T) {
	t.Parallel()
	r := asSSHD(t, nil)
	const show = `python3 -c 'import fcntl, struct, termios; ` +
		`print("size", *struct.unpack("HHHH", fcntl.ioctl(0, termios.TIOCGWINSZ, bytes(8))), "end")'`
	loop := "while " + show + "; do read x || exit; done"
	change := func(p *person, cols, rows, width, height uint32) {
		t.Helper()
		size := struct{ Cols, Rows, Width, Height uint32 }{cols, rows, width, height}
		if _, err := p.s.SendRequest("window-change", false, gossh.Marshal(&size)); err != nil {
			t.Fatal(err)
		}
	}
	until := func(p *person, size string) {
		t.Helper()
		hosttest.Eventually(t, size, func() bool {
			p.typeIn("\r")
			p.sees("end")
			return strings.Contains(p.out.all(), "size "+size+" end")
		})
	}
	for _, command := range []string{"", "run -- ", "new -n work -- "} {
		p := r.askFor(r.dial("alice"), 800, 504, "\x00", command+loop)
		p.sees("size 24 80 800 504 end")
		change(p, 80, 24, 720, 480) // of another font
		until(p, "24 80 720 480")
		change(p, 100, 30, 1000, 630)
		until(p, "30 100 1000 630")
	}
	a := r.askFor(r.dial("alice"), 640, 384, "\x00", "attach work")
	until(a, "24 80 640 384")
	change(a, 1200, 24, 12000, 384) // of which the terminal gets a part
	until(a, "24 1000 10000 384")
}
