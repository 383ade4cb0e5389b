package sshd

import (
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

func TestProgressIsShownToWhoComesAndGoneWithItsProgram(t *testing.T) {
	t.Parallel()
	const set, over = "\x1b]9;4;1;42", "\x1b]9;4;0\x1b\\"
	bash := slowtest.Program(t, "bash") // which reports its commands
	r := newRig(t, rigOptions{host: func(c *host.Config) { c.Shell, c.ShellIntegration = bash, true }})
	p := r.open(r.dial("alice"), 80, 24, "new -n work")
	p.typeIn("printf '\\033]9;4;1;42\\007'; sleep 1000\r")
	p.sees(set)
	const listed = `"progress": {
      "state": "normal",
      "percent": 42
    }`
	if ls := r.ssh("alice", "", "ls --json").stdout; !strings.Contains(ls, listed) {
		t.Errorf("the list is %s", ls)
	}
	late := r.open(r.dial("alice"), 80, 24, "attach work")
	late.sees(set)
	small := r.open(r.dial("alice"), 60, 20, "attach -r work")
	small.sees(set)
	small.typeIn("\x1cd")
	small.sees(over)
	p.typeIn("\x03")
	for _, who := range []*person{p, late} {
		who.sees(over)
	}
	hosttest.Eventually(t, "no list has it", func() bool {
		return !strings.Contains(r.ssh("alice", "", "ls --json").stdout, "progress")
	})
}

// Of a program without a shell that reports commands, only the end is known.
func TestProgressIsGoneWhenTheTerminalHasEnded(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", `new -d -n work -- printf '\033]9;4;3\a'; stty -icanon -echo; echo ready; head -c 1`)
	r.ssh("alice", "", "new -d -n home -- exec cat")
	p := r.open(r.dial("alice"), 80, 24, "attach home")
	p.typeIn("x")
	p.sees("x")
	p.typeIn("\x1cl")
	p.sees("work")
	p.typeIn("/work\r")
	p.sees("\x1b]9;4;3;0\x1b\\")
	if ls := r.ssh("alice", "", "ls --json").stdout; !strings.Contains(ls, `"indeterminate"`) {
		t.Errorf("the list is %s", ls)
	}
	p.typeIn("x")
	p.sees("\x1b]9;4;0\x1b\\")
	if ls := r.ssh("alice", "", "ls --json").stdout; strings.Contains(ls, "progress") {
		t.Errorf("the list is %s", ls)
	}
}

// A shell that reports no commands does not say that its job has ended.
func TestProgressIsGoneWithAJobOfAnyShell(t *testing.T) {
	t.Parallel()
	const over = "\x1b]9;4;0\x1b\\"
	r := newRig(t, rigOptions{host: func(c *host.Config) { c.Shell = "/bin/sh" }})
	p := r.open(r.dial("alice"), 80, 24, "new -n work")
	p.typeIn("echo up$((1+1))\r")
	p.sees("up2") // until its program runs, its process has connections of this one, as if made there
	small := r.open(r.dial("alice"), 60, 20, "attach -r work")
	p.typeIn("sh -c 'printf \"\\033]9;4;1;42\\007\"; exec sleep 1000'\r")
	for _, who := range []*person{p, small} {
		who.sees("\x1b]9;4;1;42")
	}
	p.typeIn("\x03")
	for _, who := range []*person{p, small} {
		who.sees(over)
	}
	if ls := r.ssh("alice", "", "ls --json").stdout; strings.Contains(ls, "progress") {
		t.Errorf("the list is %s", ls)
	}
}
