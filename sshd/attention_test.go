package sshd

import (
	"strings"
	"testing"

	"termhost/ahp/hosttest"
)

// ringer rings when it is interrupted, and waits for nobody.
const ringer = ` -- stty -echo; trap 'printf "\a"' INT; printf ready; while :; do sleep 60 & wait; done`

func TestATerminalThatRingsCallsThoseWhoLookElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	r.ssh("alice", "", "new -d -n away"+ringer)
	r.ssh("alice", "", "new -d -n other"+ringer)
	r.ssh("alice", "", "wait --match ready away")
	r.ssh("alice", "", "wait --match ready other")
	p := r.open(r.dial("alice"), 80, 24, "new -n work -- stty raw -echo; printf ready; exec cat -v")
	p.sees("ready")
	p.typeIn("\x1b]99;i=termhost:p=?;p=title,body\x1b\\\x1bP>|kitty(0.36)\x1b\\\x1b[?62;c")
	second := r.open(r.dial("alice"), 80, 24, "attach -r work")
	second.sees("ready")
	p.typeIn("k") // the window that is used
	p.sees("k")
	r.ssh("alice", "", "send --key ctrl-c away")
	p.sees("\x1b]99;i=termhost:p=body;away rang the bell\x1b\\")
	p.sees("\x1b[1;67H\x1b[0;7m 1 wants you ")
	second.sees(" 1 wants you ")
	if all := second.out.all(); strings.Contains(all, "rang the bell") || strings.Contains(all, "\a") {
		t.Error("both windows notify of it")
	}
	r.ssh("alice", "", "send --key ctrl-c other")
	p.sees(" 2 want you ")
	if ls := r.ssh("alice", "", "ls").stdout; strings.Count(ls, "running !") != 2 {
		t.Errorf("the list is %s", ls)
	}
	if ls := r.ssh("eve", "", "ls --json").stdout; strings.Count(ls, `"wantsYou": true`) != 3 {
		t.Errorf("for another the list is %s", ls)
	}
	p.sees("\x1b]99;i=termhost:p=body;other rang the bell\x1b\\") // in its time
	p.typeIn("\x1cn")
	p.sees("termhost: away rang the bell")
	p.typeIn("\x1cn")
	p.sees("termhost: other rang the bell")
	p.typeIn("\x1cn")
	p.sees("no other terminal wants you")
	p.typeIn("\x1cl")
	p.sees("* other")
	p.typeIn("work\r")
	p.sees("ready")
	if ls := r.ssh("alice", "", "ls --json").stdout; strings.Contains(ls, `"wantsYou": true`) {
		t.Errorf("what was looked at still wants somebody: %s", ls)
	}
	if screen := r.screen(); screen != "readyk" {
		t.Errorf("the program was typed %q", screen)
	}
}

func TestAttentionCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{door: func(c *Config) { c.Policy.Quiet = true }})
	r.ssh("alice", "", "new -d -n away"+ringer)
	r.ssh("alice", "", "wait --match ready away")
	p := r.open(r.dial("alice"), 80, 24, "new -n work -- stty raw -echo; printf ready; exec cat -v")
	p.sees("ready")
	r.ssh("alice", "", "send --key ctrl-c away")
	hosttest.Eventually(t, "it wants somebody", func() bool {
		return strings.Contains(r.ssh("alice", "", "ls").stdout, "running !")
	})
	p.typeIn("\x1cn")
	p.sees("termhost: away rang the bell")
	if all := p.out.all(); strings.Contains(all, "wants you") || strings.Contains(all, "\a") {
		t.Errorf("its person is told: %q", all)
	}
}

func TestEveryWindowIsToldOfANewHolder(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	b := r.open(r.dial("bob"), 80, 24, catV)
	b.sees("ready")
	e := r.window("eve", 80, 24, "attach work")
	e.sees("ready")
	a := r.window("alice", 80, 24, "attach work")
	a.sees("ready")
	a.typeIn("k")
	for _, p := range []*person{b, e.person} {
		p.sees("termhost: alice has the keyboard ")
	}
	e.typeIn("\x1c")
	e.sees("alice has the keyboard:")
	a.typeIn("\x1cr")
	b.sees("termhost: alice gave you the keyboard")
	e.typeIn("d")
	c := r.open(r.dial("carol"), 80, 24, "attach work")
	c.sees("ready")
	a.typeIn("k")
	c.sees("termhost: alice has the keyboard ")
	a.typeIn("\x1cr")
	c.sees("termhost: handed back to bob ")
	c.typeIn("\x1c")
	c.sees("bob has the keyboard:")
}
