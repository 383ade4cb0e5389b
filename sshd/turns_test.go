package sshd

import (
	"net"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/authz/admit"
)

// waiting returns how many wait.
func (t *turns) waiting() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, line := range t.lines {
		n += len(line)
	}
	return n
}

// Somebody from elsewhere does not wait for all those who come from one place.
func TestSourcesTakeTurns(t *testing.T) {
	t.Parallel()
	many, one := admit.SourceOf(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}), admit.SourceOf(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)})
	ts := newTurns(1)
	stop := make(chan struct{})
	if !ts.take(many, stop) {
		t.Fatal("there was no first turn")
	}
	had := make(chan admit.Source, 2*100)
	wait := func(source admit.Source) {
		n := ts.waiting()
		go func() {
			if ts.take(source, stop) {
				had <- source
			}
		}()
		hosttest.Eventually(t, "it waits", func() bool { return ts.waiting() == n+1 })
	}
	for range 100 {
		wait(many)
	}
	wait(one)
	ts.giveBack()
	if <-had != many {
		t.Error("who came last was first")
	}
	ts.giveBack()
	if <-had != one {
		t.Error("one source has to wait for all of another")
	}
	close(stop)
	hosttest.Eventually(t, "nobody waits", func() bool { return ts.waiting() == 0 })
	ts.giveBack()
	if !ts.take(one, stop) || len(ts.queue) != 0 {
		t.Error("a turn was lost")
	}
}
