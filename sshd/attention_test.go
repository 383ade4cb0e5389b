package sshd

import (
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
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
	p.sees(oneWants)
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

// What waits for an answer wants somebody still after a look.
func TestTheKeyForWhatWantsYouGoesToEachInTurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	names := []string{"one", "two", "three"}
	for _, name := range names {
		r.ssh("alice", "", "new -d -n "+name+` -- printf "Overwrite? [y/N] "; read x`)
		if got := r.ssh("alice", "", "wait --blocked "+name); got.status != 0 {
			t.Fatalf("%+v", got)
		}
	}
	p := r.open(r.dial("alice"), 80, 24, "new -n work -- stty raw -echo; printf ready; exec cat -v")
	p.sees("ready")
	// One that on a busy machine seems to work for a moment comes first again; still no two keep
	// the third away.
	seen := func(name string) bool {
		return strings.Contains(p.out.all(), "termhost: "+name+" waits for input")
	}
	for range 20 {
		p.typeIn("\x1cn")
		p.sees(" waits for input")
	}
	for _, name := range names {
		if !seen(name) {
			t.Errorf("%s has had no turn", name)
		}
	}
}

func TestWhatWantsYouIsSaidAtTheStartAndStays(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	r.waits("one")
	r.waits("two")
	r.ssh("alice", "", "new -d -n work -- stty -echo; printf ready; read x; "+
		`printf '\033]2;mine\007'; stty raw; exec cat -v`)
	r.ssh("alice", "", "wait --match ready work")
	p := r.open(r.dial("alice"), 80, 24, "attach work")
	p.sees("termhost: 2 want you: one, two · Ctrl-\\ n ")
	p.sees("\x1b]2;2 want you · work\x1b\\")
	p.typeIn("\r") // the program sets a title
	p.sees("\x1b]2;2 want you · mine\x1b\\")
	r.ssh("alice", "", "send --enter one y")
	p.sees("\x1b]2;1 wants you · mine\x1b\\")
	r.ssh("alice", "", "rm two")
	p.sees("\x1b]2;mine\x1b\\")
	if got := r.screen(); got != "ready" {
		t.Errorf("the program was typed %q", got)
	}
}

// waits makes a terminal that waits for input, and goes on for long after it.
func (r *rig) waits(name string) {
	r.t.Helper()
	r.ssh("alice", "", "new -d -n "+name+` -- printf "Overwrite? [y/N] "; read x; exec sleep 1000`)
	if got := r.ssh("alice", "", "wait --blocked "+name); got.status != 0 {
		r.t.Fatalf("%+v", got)
	}
}

func TestTheNumberOfThoseThatWantYouIsRight(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.waits("one")
	r.ssh("alice", "", "new -d -n gone -- true")
	r.ssh("alice", "", "wait gone")
	r.ssh("alice", "", "new -d -n work -- printf ready; exec sleep 1000")
	r.ssh("alice", "", "wait --match ready work")
	p := r.open(r.dial("alice"), 80, 24, "attach work")
	p.sees("\x1b]2;2 want you · work\x1b\\")
	p.typeIn("\x1cn")
	p.sees("\x1b]2;1 wants you · one\x1b\\")
	p.typeIn("\x1c\t") // one still waits
	p.sees("\x1b]2;2 want you · work\x1b\\")
	other := r.open(r.dial("alice"), 80, 24, "attach one")
	p.sees("\x1b]2;1 wants you · work\x1b\\")
	other.typeIn("\x1cd")
	p.sees("\x1b]2;2 want you · work\x1b\\")
	r.ssh("alice", "", "rm gone")
	p.sees("\x1b]2;1 wants you · work\x1b\\")
	r.ssh("alice", "", "send --enter one y")
	p.sees("\x1b]2;work\x1b\\")
}

// oneWants is the mark at the right end of 80 columns, below the cursor, which is in the first row.
const oneWants = "\x1b[2;67H\x1b[0;7m 1 wants you "

// The mark is drawn where nothing is printed. What is printed takes it away, and goes to the viewer
// as it is from then on.
func TestTheMarkStaysUntilSomethingIsPrinted(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.waits("one")
	r.ssh("alice", "", "new -d -n work -- stty raw -echo; printf ready; exec cat -v")
	r.ssh("alice", "", "wait --match ready work")
	p := r.open(r.dial("alice"), 80, 24, "attach work")
	p.sees(oneWants)
	p.typeIn("\x1c\x1b") // the line at the bottom goes
	p.sees(oneWants)
	p.typeIn("k")
	p.sees("readyk")
	p.getsOutputAsItIs()
	if slowtest.On(t) {
		p.sees(oneWants)
	}
	r.ssh("alice", "", "send --enter one y")
	p.sees("\x1b]2;work\x1b\\")
	p.getsOutputAsItIs()
}

// getsOutputAsItIs waits until nothing comes with what a program prints. The first key takes away
// what is still shown over the screen.
func (p *person) getsOutputAsItIs() {
	p.t.Helper()
	hosttest.Eventually(p.t, "the output comes as it is", func() bool {
		before := p.out.all()
		p.typeIn("typed")
		p.sees("typed")
		return p.out.all() == before+"typed"
	})
}

func TestARequestForTheKeyboardIsSeenElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	r.ssh("bob", "", "new -d -n away -- exec sleep 1000")
	b := r.open(r.dial("bob"), 80, 24, catV)
	b.sees("ready")
	c := r.open(r.dial("carol"), 80, 24, "attach away")
	c.sees("bob has the keyboard")
	c.typeIn("\x1ca")
	c.sees("you asked bob for the keyboard")
	b.sees("carol asks for the keyboard of away: Ctrl-\\ n goes there")
	if ls := r.ssh("bob", "", "ls").stdout; !strings.Contains(ls, "running (carol asks for the keyboard) !") {
		t.Errorf("the list is %s", ls)
	}
	b.typeIn("\x1cn")
	b.sees("carol asks for the keyboard: Ctrl-\\ r gives it")
	b.typeIn("\x1cr")
	c.sees("bob gave you the keyboard")
}

// TestARequestForTheKeyboardIsSaidWhateverWasSaidBefore: what wants the person at the start does not
// keep it from being said.
func TestARequestForTheKeyboardIsSaidWhateverWasSaidBefore(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	r.ssh("bob", "", "new -d -n away -- exec sleep 1000")
	r.ssh("bob", "", "new -d -n one -- 'printf \"go on? \"; read x'")
	r.ssh("bob", "", "wait --blocked one")
	r.ssh("bob", "", "new -d -n work "+strings.TrimPrefix(catV, "new -n work "))
	c := r.open(r.dial("carol"), 80, 24, "attach away")
	c.sees("bob has the keyboard")
	b := r.open(r.dial("bob"), 80, 24, "attach work")
	b.sees("1 wants you: one")
	c.typeIn("\x1ca")
	c.sees("you asked bob for the keyboard")
	b.sees("carol asks for the keyboard of away")
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
