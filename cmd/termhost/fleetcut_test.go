package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/cable"
	"termhost/ahp/hosttest/slowtest"
)

// The network between a host and the fleet's server ends, or passes nothing without a word, in the
// middle of a flood that somebody looks at through a door.
func TestAFloodGoesOnWhereItWasWhenTheNetworkIsBack(t *testing.T) {
	slow(t)
	t.Parallel()
	for how, begin := range map[string]func(*cable.Cable){
		"cut": (*cable.Cable).Cut, "stalled": (*cable.Cable).Stall, "lost": (*cable.Cable).Lose,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			slowtest.Hurry(t) // what is silent for 10 s is given up, not after a minute
			w, home := newFleet(t, "")
			way := cable.New(t, w.listen)
			box := w.join("box", way.Addr().String(), "")
			w.together()
			home.run("alice", "new --on box -d -n flood -- stty -echo; read x; seq 1 2000000; "+
				`while read x; do echo "[$x]"; done`)
			flood := home.look("alice", "attach box/flood")
			home.run("alice", "new --on box -d -n still -- seq 1 30; printf last; exec sleep 1234")
			still := home.look("alice", "attach box/still")
			still.sees("last")
			flood.types("\r")
			flood.sees("0000")
			begin(way)
			flood.sees("box is unreachable since")
			flood.types("lost\r")
			still.sees("keys are refused")
			way.Mend()
			flood.sees("1999998\n1999999\n2000000")
			hosttest.Eventually(t, "keys are taken again", func() bool {
				flood.types("typed\r")
				time.Sleep(100 * time.Millisecond)
				return strings.Contains(flood.shows(), "[typed]")
			})
			flood.mirrors(box, "flood")
			still.mirrors(box, "still")
			if out, err := box.try("grep", "lost", "flood"); err == nil {
				t.Errorf("a key is typed later: %s", out)
			}
		})
	}
}

// What is read through a door is exact, however often the network ends meanwhile.
func TestATransferThroughCutsIsExact(t *testing.T) {
	slow(t)
	t.Parallel()
	w, home := newFleet(t, "")
	way := cable.New(t, w.listen)
	box := w.join("box", way.Addr().String(),
		"terminal.log_bytes = \"32MiB\"\nterminal.scrollback_bytes = \"16MiB\"")
	w.together()
	box.do("new", "-d", "-n", "long", "--", "sh", "-c", "stty -onlcr; seq 1 1500000; exec cat")
	box.do("wait", "--match", "^1500000$", "long")
	want := box.do("log", "--raw", "long")
	s, err := home.as("alice").NewSession()
	hosttest.Check(t, err)
	out, err := s.StdoutPipe()
	hosttest.Check(t, err)
	hosttest.Check(t, s.Start("log --raw box/long"))
	var got strings.Builder
	for range 3 {
		_, err := io.CopyN(&got, out, int64(len(want)/4))
		hosttest.Check(t, err)
		way.Cut()
		way.Mend()
	}
	_, err = io.Copy(&got, out)
	hosttest.Check(t, err)
	if err := s.Wait(); err != nil || got.String() != want {
		t.Errorf("of %d bytes %d have come, or others (%v)", len(want), got.Len(), err)
	}
}
