package carry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/sshd/viewertest"
)

// settles has the program of a terminal say that it waits no more, until the door knows.
func settles(home *box, name string) {
	home.w.t.Helper()
	if out, status := home.run("status " + name + " working"); status != 0 {
		home.w.t.Fatal(out)
	}
	hosttest.Eventually(home.w.t, name+" wants nobody", func() bool {
		out, _ := home.run("ls --waiting")
		return !lists(out, name)
	})
}

// lists says whether ls has printed a row for a terminal, HOST/NAME, on the door or elsewhere.
func lists(out, name string) bool {
	on, terminal, _ := strings.Cut(name, "/")
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) >= 2 && (f[0] == name || slices.Contains(f[:2], on) && slices.Contains(f[:2], terminal)) {
			return true
		}
	}
	return false
}

// counts waits until the title of a person's terminal says how many want them.
func counts(p *viewertest.Person, n int, name string) {
	switch n {
	case 0:
		p.Sees("\x1b]2;" + name + "\x1b\\")
	case 1:
		p.Sees("\x1b]2;1 wants you · " + name + "\x1b\\")
	default:
		p.Sees(fmt.Sprintf("\x1b]2;%d want you · %s\x1b\\", n, name))
	}
}

// What wants a person counts wherever it is, and whichever host's terminal they see.
func TestWhatWantsYouIsCountedOverAllHosts(t *testing.T) {
	slowtest.Skip(t)
	w, home, _ := newTown(t, "box1", "box2")
	for _, name := range []string{"home/ant", "home/bee", "box1/cat", "box1/dog", "box2/elk", "box2/fox"} {
		on, terminal, _ := strings.Cut(name, "/")
		home.makes(on, terminal, terminal+"-ready-")
	}
	p := home.sits("attach ant")
	p.Sees("ant-ready-")
	wants(w, home, "box1/cat")
	counts(p, 1, "ant")
	wants(w, home, "box2/elk")
	counts(p, 2, "ant")
	wants(w, home, "home/bee")
	counts(p, 3, "ant")
	settles(home, "home/bee")
	counts(p, 2, "ant")
	p.Types(pressed("n")) // to cat, which does not want the person who looks at it
	p.Sees("cat-ready-")
	counts(p, 1, "cat")
	wants(w, home, "home/bee") // on the door
	counts(p, 2, "cat")
	wants(w, home, "box1/dog") // on the host that is shown
	counts(p, 3, "cat")
	wants(w, home, "box2/fox") // on a third one
	counts(p, 4, "cat")
	for n, name := range []string{"box2/fox", "home/bee", "box1/dog"} {
		settles(home, name)
		counts(p, 3-n, "cat")
	}
	p.Types(pressed("n")) // to elk, and cat wants somebody again
	p.Sees("elk-ready-")
	counts(p, 1, "elk")
	settles(home, "box1/cat")
	counts(p, 0, "elk")
	p.Types(pressed("d"))
	p.SeesAll()
	<-p.Status
}

// A person who comes with terminals waiting elsewhere is greeted with their number, on each host.
func TestTheGreetingCountsWhatWantsYouElsewhere(t *testing.T) {
	t.Parallel()
	w, home, _ := newTown(t, "box1", "box2")
	home.makes("home", "ant", "ant-ready-")
	home.makes("box1", "cat", "cat-ready-")
	home.makes("box2", "elk", "elk-ready-")
	wants(w, home, "home/ant")
	wants(w, home, "box2/elk")
	home.makes("box1", "dog", "dog-ready-")
	wants(w, home, "box1/dog")
	p := home.sits("attach box1/cat")
	p.Sees("termhost: 3 want you: box1/dog, 2 on other hosts")
	p.Types(pressed("d"))
	p.SeesAll()
	<-p.Status
	settles(home, "box1/dog")
	p = home.sits("attach ant")
	p.Sees("1 wants you ") // in the corner
	p.Types(pressed("d"))
	p.SeesAll()
	<-p.Status
}

// What goes on wanting somebody after a look does not keep the person from the others.
func TestTheKeyGoesToWhatWantsYouOnEachHostInTurn(t *testing.T) {
	w, home, _ := newTown(t, "box1", "box2")
	home.makes("home", "ant", "ant-ready-")
	home.makes("home", "bee", "bee-ready-")
	home.makes("box1", "cat", "cat-ready-")
	home.makes("box2", "elk", "elk-ready-")
	p := home.sits("attach ant")
	p.Sees("ant-ready-")
	for _, name := range []string{"box1/cat", "box2/elk", "home/bee"} {
		wants(w, home, name)
	}
	for _, name := range []string{"cat", "elk", "bee", "cat", "elk"} {
		p.Types(pressed("n"))
		p.Sees(name + "-ready-")
		counts(p, 2, name) // this host, which the next key asks, knows of both others
	}
	p.Types(pressed("d"))
	p.SeesAll()
	<-p.Status
}

// The picture of a silent host stands still, but for the count: there nobody can answer.
func TestWhatWantsYouOnASilentHostDoesNotCountInItsPicture(t *testing.T) {
	slowtest.Skip(t)
	w, home, _ := newTown(t, "box1", "box2")
	home.makes("box1", "cat", "cat-ready-")
	home.makes("box1", "dog", "dog-ready-")
	home.makes("box2", "elk", "elk-ready-")
	p := home.sits("attach box1/cat")
	p.Sees("cat-ready-")
	wants(w, home, "box1/dog")
	wants(w, home, "box2/elk")
	p.Sees(" 2 want you ")
	w.cut("box1", true)
	p.Sees("box1 is unreachable since")
	p.Sees(" 1 wants you ")
	settles(home, "box2/elk")
	p.Sees("\x1b[16X\x1b[m\x1b8\x1b7\x1b[24;1H") // the corner is empty, and then comes the notice
	w.cut("box1", false)
	p.Sees(" 1 wants you ")
	p.Types(pressed("d"))
	p.SeesAll()
	<-p.Status
}
