package sshd

import (
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest/slowtest"
)

// Terminals jump between prompts by OSC 133, which over sshd comes from the shell as it is.
func TestMarksOfPromptsReachWindowsOfTheTerminalsSize(t *testing.T) {
	t.Parallel()
	const prompt = "\x1b]133;A;redraw=0\a"
	bash := slowtest.Program(t, "bash")
	r := newRig(t, rigOptions{host: func(c *host.Config) { c.Shell, c.ShellIntegration = bash, true }})
	p := r.open(r.dial("alice"), 80, 24, "new -n work")
	p.typeIn("PS1='<> '\r")
	p.sees(prompt + "\x1b[?2004h<> \x1b]133;B\a")
	p.typeIn("(echo one; exit 3)\r")
	p.sees("\x1b]133;C\aone\r\n\x1b]133;D;3\a" + prompt + "\x1b[?2004h<> \x1b]133;B\a")
	p.typeIn("seq 40\r")
	p.sees("40\r\n\x1b]133;D;0\a" + prompt + "\x1b[?2004h<> \x1b]133;B\a")

	late := r.open(r.dial("alice"), 80, 24, "attach work")
	const ends = "\x1b[K\r\n" // of a line that is drawn
	late.sees("\x1b]133;C\aone" + ends + "\x1b]133;D;3\a" + prompt + "<> \x1b]133;B\aseq 40" + ends +
		"\x1b]133;C\a1" + ends)
	late.sees("40" + ends + "\x1b]133;D;0\a" + prompt + "<> \x1b]133;B\a")
	small := r.open(r.dial("alice"), 60, 20, "attach -r work")
	small.sees("40")
	p.typeIn("echo t$((1+1))o\r")
	for _, who := range []*person{p, late, small} {
		who.sees("t2o")
	}
	if strings.Contains(small.out.all(), "\x1b]133") {
		t.Error("a window of another size gets marks")
	}
	for _, who := range []*person{p, late, small} {
		if strings.Contains(who.out.all(), "\x1b]633") {
			t.Error("a viewer gets the host's own marks")
		}
	}
	plain := r.openAs(r.dial("alice"), "dumb", 80, 24, "attach work")
	plain.typeIn("echo t$((2+1))ree\r")
	plain.sees("t3ree")
	plain.typeIn("echo f$((2+2))ur\r")
	plain.sees("f4ur")
	if strings.Contains(plain.out.all(), "\x1b]133") {
		t.Error("a terminal that draws nothing gets marks")
	}
}
