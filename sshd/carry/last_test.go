package carry_test

import (
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/authz"
)

// reattaches attaches without a NAME, sees a text, and detaches. It does so in both ways.
func (b *box) reattaches(text string) {
	b.w.t.Helper()
	b.returns("attach", text)
	b.returns("-", text)
}

// returns attaches without a NAME in one way.
func (b *box) returns(line, text string) {
	b.w.t.Helper()
	p := b.sits(line)
	p.Sees(text)
	p.Types(pressed("d"))
	p.SeesAll()
	<-p.Status
}

// The last used terminal is that of all hosts.
func TestAttachWithoutANAMEShowsTheLastUsedOfAllHosts(t *testing.T) {
	t.Parallel()
	w, home, _ := newTown(t, "box1")
	home.run("new --on box1 -d -n late -- printf late-; cat")
	home.makes("home", "fresh", "fresh-")
	uses := func(name, text string) {
		t.Helper()
		p := home.sits("attach " + name)
		p.Sees(text)
		p.Types(pressed("d"))
		p.SeesAll()
		<-p.Status
	}
	uses("fresh", "fresh-")
	uses("box1/late", "late-")
	home.reattaches("late-")
	uses("fresh", "fresh-")
	home.reattaches("fresh-")

	p := home.sits("attach box1/late") // and with keys
	p.Sees("late-")
	p.Types(pressed("l"))
	p.Sees("fresh")
	p.Types("/fresh\r")
	p.Sees("fresh-")
	p.Types(pressed("\t"))
	p.Sees("late-")
	p.Types(pressed("d"))
	p.SeesAll()
	<-p.Status
	home.reattaches("late-")

	w.cut("box1", true)
	hosttest.Eventually(t, "box1 is silent", func() bool {
		out, _ := home.run("hosts")
		return strings.Contains(out, "unreachable")
	})
	if out, _ := home.run("attach"); !strings.Contains(out, "box1 is unreachable since") {
		t.Errorf("of a silent host it says %s", out)
	}
	home.returns("-", "fresh-") // which is for a shell
	w.cut("box1", false)
	w.sees(home, 2)
	home.run("rm box1/late")
	home.reattaches("fresh-")
}

// Who has used none, and holds none here, gets the only one that is held elsewhere.
func TestAttachWithoutANAMEShowsTheOnlyOneThatIsHeldElsewhere(t *testing.T) {
	t.Parallel()
	_, home, _ := newTown(t, "box1")
	id := "SHA256:" + strings.Repeat("A", 43)
	ann := authz.Principal{ID: id, Fingerprint: id, Name: "ann", Role: authz.Operator}
	home.run("new --on box1 -d -n others -- cat")
	as := func(line, want string) {
		t.Helper()
		p := home.sitsAs(ann, line)
		p.Sees(want)
		p.SeesAll()
		<-p.Status
	}
	as("attach", "there is no terminal to attach to")
	as("new --on box1 -d -n one -- exit 3", "box1/one")
	hosttest.Eventually(t, "it has ended", func() bool {
		out, _ := home.run("ls")
		return strings.Contains(out, "exited 3")
	})
	as("attach", "there is no terminal to attach to")
	as("new --on box1 -d -n two -- printf two-; cat", "box1/two")
	p := home.sitsAs(ann, "attach")
	p.Sees("two-")
	p.Types(pressed("d"))
	p.SeesAll()
	<-p.Status
	home.runner = newRunner(home) // as one that has just been started
	as("new --on box1 -d -n three -- cat", "box1/three")
	as("attach", "there are several, and none that you used last: box1/two, box1/three")
}
