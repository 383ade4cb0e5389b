package carry_test

import (
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"termhost/ahp/fleet"
	"termhost/ahp/fleet/roster"
)

// What is opened from top, here or on another host, is left by the same keys as after attach.
func TestKeysLeadFromHostToHostBelowTop(t *testing.T) {
	t.Parallel()
	w, home, _ := newTown(t, "box1", "box2")
	for _, on := range []string{"home", "box1", "box2"} {
		home.makes(on, on+"t", "on-"+on+"-")
	}
	p := home.sits("top")
	p.Sees("box2t")
	p.Types("/box1t\r")
	p.Sees("on-box1-")
	p.Types("ant" + pressed("l"))
	p.Sees("homet")
	p.Types("/homet\r")
	p.Sees("on-home-")
	p.Types("bee")
	p.Sees("bee")
	wants(w, home, "box2/box2t")
	counts(p, 1, "homet")
	p.Types(pressed("n"))
	p.Sees("box2/box2t waits for input")
	p.Types("cat")
	p.Sees("cat")
	p.Types(pressed("\t"))
	p.Sees("home/homet")
	p.Types("dog")
	p.Sees("dog")
	p.Types(pressed("d"))
	p.Sees("NAME")
	p.Types("\x1b[27u/homet\r") // this host's, which is opened first
	p.Sees("on-home-beedog")
	p.Types(pressed("l"))
	p.Sees("box1t")
	p.Types("/box1t\r")
	p.Sees("on-box1-ant")
	p.Types("elk")
	p.Sees("elk")
	p.Types(pressed("d"))
	p.Sees("NAME")
	p.Types("q")
	p.SeesAll()
	if status := <-p.Status; status != 0 {
		t.Errorf("status %d", status)
	}
	home.have(map[string]string{"homet": "on-home-beedog",
		"box1t": "on-box1-antelk", "box2t": "on-box2-cat"})
}

// Who has chosen a terminal of a host that stands still goes on with another one.
func TestInterruptEndsTheWaitForAHostBelowTop(t *testing.T) {
	t.Parallel()
	_, home, boxes := newTown(t, "box1")
	home.makes("home", "here", "here-")
	home.makes("box1", "there", "there-")
	var still atomic.Bool
	serve := boxes[0].serve
	boxes[0].serve = func(kind fleet.Kind, door roster.Member, nc net.Conn) {
		if still.Load() {
			_, _ = io.Copy(io.Discard, nc)
			return
		}
		serve(kind, door, nc)
	}
	p := home.sits("top")
	p.Sees("there")
	p.Types("/there")
	p.Sees("there_")
	for typed, next := range map[string]string{"\x03": "ant", "cat\x1b[99;5udog": "bee"} {
		still.Store(true)
		p.Types("\r")
		p.Sees("connecting to box1/there ... Ctrl-C gives up")
		p.Types(typed)
		p.Sees("you did not wait for box1/there")
		still.Store(false)
		p.Types("\r")
		p.Sees("there-")
		p.Types(next)
		p.Sees(next)
		p.Types(pressed("d"))
		p.Sees("NAME")
	}
	p.Types("\x03")
	p.SeesAll()
	<-p.Status
	out, _ := home.run("peek box1/there")
	if !strings.Contains(out, "ant") || !strings.Contains(out, "bee") ||
		len(out) != len("there-antbee\n") {
		t.Errorf("the terminal has %q", out)
	}
}

// TestTopSaysHowTheViewOfATerminalEnded: as with this host's terminals, nothing is left for people
// to find on the screen below top.
func TestTopSaysHowTheViewOfATerminalEnded(t *testing.T) {
	t.Parallel()
	_, home, boxes := newTown(t, "box1")
	home.makes("home", "here", "here-")
	home.makes("box1", "there", "there-")
	for _, c := range []struct {
		on               *box
		name, shows, who string
	}{{home, "here", "here", "uid:1000"}, {boxes[0], "box1/there", "there", "uid:1000@home"}} {
		p := home.sits("top")
		p.Sees("there")
		p.Types("/" + c.shows + "\r")
		p.Sees("\x1b[22;2t") // a viewer keeps the title
		p.Types(pressed("d"))
		p.SeesWithout("NAME", "[detached")
		p.Types("\r")
		p.Sees("\x1b[22;2t")
		if out, status := c.on.run("kick " + c.shows + " " + c.who); status != 0 {
			t.Error(out)
		}
		p.SeesWithout("somebody has detached you from "+c.name, "\r\n[")
		p.Leaves()
		p.SeesAll()
		<-p.Status
	}
}
