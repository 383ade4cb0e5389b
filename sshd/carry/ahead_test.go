package carry_test

import (
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"termhost/ahp/fleet"
	"termhost/ahp/fleet/roster"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/sshd/viewertest"
)

// leaving is a person at a terminal, of home or of another host, for whom Tab leads to box1/one.
type leaving struct {
	*viewertest.Person
	home  *box
	at    string      // NAME, after that of its host
	still atomic.Bool // box1 takes connections, and says nothing
}

// eachWay runs a test for a person at a terminal of home, and for one at a terminal of box2.
func eachWay(t *testing.T, test func(*testing.T, *leaving)) {
	for _, on := range []string{"home", "box2"} {
		t.Run("from "+on, func(t *testing.T) {
			t.Parallel()
			_, home, boxes := newTown(t, "box1", "box2")
			p := &leaving{home: home, at: on + "/nook"}
			serve := boxes[0].serve
			boxes[0].serve = func(kind fleet.Kind, door roster.Member, nc net.Conn) {
				if p.still.Load() {
					_, _ = io.Copy(io.Discard, nc)
					return
				}
				serve(kind, door, nc)
			}
			home.makes("box1", "one", "one-")
			home.makes(on, "nook", "nook-")
			p.Person = home.sits("attach box1/one")
			p.Sees("one-")
			p.Types(pressed("l"))
			p.Sees("nook")
			p.Types("/nook\r")
			p.Sees("nook-")
			test(t, p)
		})
	}
}

// leaves ends it, and checks what the terminal shows that the person was at.
func (p *leaving) leaves(want string) {
	p.Types(pressed("d"))
	p.Sees("[detached")
	p.has(want)
}

// has checks what the terminal shows when the command of the person has ended.
func (p *leaving) has(want string) {
	p.SeesAll()
	<-p.Status
	if out, status := p.home.run("send " + p.at + " ."); status != 0 {
		p.home.w.t.Fatal(out)
	}
	hosttest.Eventually(p.home.w.t, "all that was typed is shown", func() bool {
		out, _ := p.home.run("peek " + p.at)
		return strings.Contains(out, ".")
	})
	p.home.have(map[string]string{p.at: want + "."})
}

func TestWhatIsTypedForATerminalThatIsNotShownIsNotTypedElsewhere(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, p *leaving) {
		p.home.run("rm box1/one")
		p.Types(pressed("\t") + "cat\r")
		p.Sees("box1: there is no terminal")
		p.Sees("not typed: 4 keys")
		p.Types("ant")
		p.Sees("ant")
		p.Types(pressed("\t") + "\x1b[200~cat\r")
		p.Sees("not typed: 1 key")
		p.Types("dog\r\x1b[201~bee")
		p.Sees("bee")
		p.leaves("nook-antbee")
	})
}

func TestWhatIsTypedForATerminalChosenFromTheListIsNotTypedElsewhere(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, p *leaving) {
		p.Types(pressed("l"))
		p.Sees("one")
		p.still.Store(true)
		p.Types("/box1\rcat")
		p.Sees("connecting to box1/one ...")
		p.Types("\x03")
		p.Sees("you did not wait for box1/one; not typed: 3 keys")
		p.Types("bee")
		p.Sees("bee")
		p.leaves("nook-bee")
	})
}

func TestWhatIsTypedForAHostThatDoesNotAnswerIsNotTypedElsewhere(t *testing.T) {
	slowtest.Skip(t)
	eachWay(t, func(t *testing.T, p *leaving) {
		p.still.Store(true)
		p.Types(pressed("\t"))
		p.Sees("connecting to box1/one ...")
		p.Types("cat\r")
		p.SeesWithout("box1 is unreachable since ", "refuses")
		p.SeesWithout("s; not typed: 4 keys", "refuses")
		p.Types("bee")
		p.Sees("bee")
		p.leaves("nook-bee")
	})
}

func TestInterruptEndsTheWaitForAnotherHost(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, p *leaving) {
		p.still.Store(true)
		for _, typed := range []string{"\x03bee", "\x1b[99;5udog"} {
			p.Types(pressed("\t"))
			p.Sees("connecting to box1/one ...")
			p.Types("cat" + typed)
			p.Sees(typed[len(typed)-3:])
			p.Sees("you did not wait for box1/one; not typed: 3 keys")
		}
		p.leaves("nook-beedog")
	})
}

func TestDetachingEndsTheWaitForAnotherHost(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, p *leaving) {
		p.still.Store(true)
		p.Types(pressed("\t"))
		p.Sees("connecting to box1/one ...")
		p.Types("cat" + pressed("d") + "dog")
		p.Sees("[detached")
		p.has("nook-")
	})
}
