package carry_test

import (
	"context"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/sshd/verbs"
	"termhost/sshd/viewertest"
)

// makes makes a terminal on a host that prints a word, and shows what it is sent behind it.
func (b *box) makes(on, name, word string) {
	b.w.t.Helper()
	out, status := b.run("new --on " + on + " -d -n " + name +
		" -- stty raw -echo; printf " + word + "; exec cat -v")
	if status != 0 {
		b.w.t.Fatal(out)
	}
	hosttest.Eventually(b.w.t, name+" is ready", func() bool {
		out, _ := b.run("peek " + on + "/" + name)
		return strings.TrimSpace(out) == word
	})
}

// have checks what terminals show, by name.
func (b *box) have(want map[string]string) {
	b.w.t.Helper()
	for name, text := range want {
		if out, _ := b.run("peek " + name); strings.TrimSpace(out) != text {
			b.w.t.Errorf("%s has %q, want %q", name, out, text)
		}
	}
}

func TestKeysLeadFromHostToHostOnOneConnection(t *testing.T) {
	w, home, _ := newTown(t, "box1", "box2")
	for _, on := range []string{"home", "box1", "box2"} {
		home.makes(on, on+"t", "on-"+on+"-")
	}
	p := home.sits("attach homet")
	p.Sees("on-home-")
	p.Types("ant" + pressed("\t"))
	p.Sees("there is no other terminal to go back to")
	wants(w, home, "box1/box1t")
	counts(p, 1, "homet")
	p.Types(pressed("n") + "bee") // which come with the key, and are for box1
	p.SeesEach("box1/box1t waits for input", "bee")
	p.Types(pressed("\t") + "cat")
	p.SeesEach("home/homet", "cat")
	p.Types(pressed("\t") + pressed("\t") + pressed("\t") + "dog")
	p.Sees("dog")
	wants(w, home, "box2/box2t")
	counts(p, 1, "box1t")
	p.Types(pressed("n") + "elk")
	p.SeesEach("box2/box2t waits for input", "elk")
	p.Types(pressed("\t"))
	p.Sees("beedog")
	p.Types(pressed("d"))
	p.Sees("[detached: box1/box1t goes on running; `ssh -t HOST attach box1/box1t` comes back]")
	p.SeesAll()
	if status := <-p.Status; status != 0 {
		t.Errorf("status %d", status)
	}
	home.have(map[string]string{"homet": "on-home-antcat",
		"box1t": "on-box1-beedog", "box2t": "on-box2-elk"})
}

// wants has a terminal's program say that it waits, until the door knows.
func wants(w *town, home *box, name string) {
	w.t.Helper()
	if out, status := home.run("status " + name + " waiting"); status != 0 {
		w.t.Fatal(out)
	}
	hosttest.Eventually(w.t, name+" wants somebody", func() bool {
		out, _ := home.run("ls --waiting")
		return lists(out, name)
	})
}

func TestWhatIsTypedJustBeforeLeavingIsTyped(t *testing.T) {
	t.Parallel()
	_, home, _ := newTown(t, "box1")
	home.makes("home", "homet", "on-home-")
	home.makes("box1", "box1t", "on-box1-")
	p := home.sits("attach homet")
	p.Sees("on-home-")
	p.Types(pressed("l"))
	p.Sees("box1t")
	p.Types("/box1t\r")
	p.Sees("on-box1-")
	const all = "abcdefghijklmnopqrstuvwxyz"
	for _, key := range all {
		p.Types(string(key) + pressed("\t") + pressed("\t"))
	}
	p.Types("!")
	p.Sees("!")
	home.have(map[string]string{"homet": "on-home-", "box1t": "on-box1-" + all + "!"})
	p.Types(pressed("d"))
	p.SeesAll()
	<-p.Status
}

// What was typed ahead of the key that leaves is nobody's, however much it is.
func TestWhatIsTypedBehindTheLastKeyHoldsNothingUp(t *testing.T) {
	slowtest.Hurry(t)
	_, home, _ := newTown(t, "box1")
	for _, name := range []string{"home/here", "box1/there"} {
		on, terminal, _ := strings.Cut(name, "/")
		home.makes(on, terminal, "ready-")
		p := viewertest.Sit(t, verbs.Window{Cols: 80, Rows: 24},
			func(ctx context.Context, p *viewertest.Peer) int {
				p.In = strings.NewReader(pressed("d") + strings.Repeat("a", 256<<10))
				return home.runner.Exec(ctx, home.caller(p), "attach "+name).Status
			})
		p.SeesAll()
		if status := slowtest.Receive(t, "the end of "+name, p.Status); status != verbs.StatusOK {
			t.Errorf("%s: status %d", name, status)
		}
	}
}

func TestTheEndOfATerminalLeadsBack(t *testing.T) {
	w, home, _ := newTown(t, "box1")
	home.makes("home", "here", "here-")
	home.run("new --on box1 -d -n there -- printf there-; read x; exit 3")
	p := home.sits("attach here")
	p.Sees("here-")
	wants(w, home, "box1/there")
	p.Types(pressed("n"))
	p.Sees("there-")
	p.Types("\r")
	p.Sees("there exited with status 3")
	p.Types("\r")
	p.Sees("box1/there has ended; home/here")
	p.Types("again")
	p.Sees("again")
	home.run("rm here")
	p.Sees("[here was ended")
	p.SeesAll()
	<-p.Status
}

func TestAWayThatIsBlockedLeavesThePersonWhereTheyAre(t *testing.T) {
	w, home, boxes := newTown(t, "box1", "box2")
	home.makes("box1", "one", "one-")
	home.makes("box2", "two", "two-")
	p := home.sits("attach box1/one")
	p.Sees("one-")
	wants(w, home, "box2/two")
	p.Types(pressed("n"))
	p.Sees("two-")
	boxes[1].runner.Fleet = nil
	home.run("rm box1/one")
	p.Types(pressed("\t"))
	p.Sees("box1: there is no terminal")
	p.Types("still")
	p.Sees("still")
	p.Types(pressed("d"))
	p.SeesAll()
	<-p.Status
}

func TestTheListIsThatOfThePersonsHost(t *testing.T) {
	t.Parallel()
	_, home, _ := newTown(t, "box1", "box2")
	home.makes("home", "here", "here-")
	home.makes("box1", "one", "one-")
	home.makes("box2", "two", "two-")
	p := home.sits("attach box1/one")
	p.Sees("one-")
	p.Types(pressed("l"))
	p.Sees("box2")
	p.Types("/two\r" + "ant") // which come with the choice, and are for box2
	p.Sees("ant")
	p.Types(pressed("l"))
	p.Sees("box2")
	p.Types("\x1b[27u" + "bee")
	p.Sees("bee")
	p.Types(pressed("\t") + "cat")
	p.Sees("cat")
	p.Types(pressed("l"))
	p.Sees("here")
	p.Types("/here\r" + "dog")
	p.Sees("dog")
	p.Types(pressed("d"))
	p.SeesAll()
	<-p.Status
	home.have(map[string]string{"here": "here-dog", "one": "one-cat",
		"two": "two-antbee"})
}

// A look at the list leads back to the same screen on the same connection: Tab's way back and a
// taken keyboard stay.
func TestALookAtTheListKeepsThePlace(t *testing.T) {
	w, home, boxes := newTown(t, "box1")
	home.makes("box1", "one", "one-")
	home.makes("box1", "two", "two-")
	p := home.sits("attach box1/one")
	p.Sees("one-")
	wants(w, home, "box1/two")
	p.Types(pressed("n"))
	p.Sees("two-")
	began := watching(t, boxes[0], "two")
	p.Types(pressed("l"))
	p.Sees("one")
	p.Types("\x1b[27u")
	p.Sees("two-")
	p.Types("ant")
	p.Sees("ant")
	if now := watching(t, boxes[0], "two"); now != began {
		t.Errorf("who watches: %s, before the list %s", now, began)
	}
	p.Types(pressed("\t"))
	p.Sees("one-")
	p.Types(pressed("d"))
	p.SeesAll()
	<-p.Status
}

// watching says who watches a terminal of the host, by which connections.
func watching(t *testing.T, b *box, name string) string {
	t.Helper()
	out, status := b.run("who --json " + name)
	if status != 0 {
		t.Fatal(out)
	}
	return out
}
