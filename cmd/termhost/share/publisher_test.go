package share

import (
	"errors"
	"sync"
	"testing"
	"time"

	"termhost/ahp/client"
	"termhost/ahp/hosttest"
)

// TestAConnectionThatChangesWhileSharingBeginsHoldsNothingUp lets the first connection be lost, and
// the next one be made, in the moment in which sharing begins.
func TestAConnectionThatChangesWhileSharingBeginsHoldsNothingUp(t *testing.T) {
	lost := errors.New("lost")
	for range 20000 {
		p := newPublisher(newOutbox(), nil, newNotices(), nil)
		p.onState(client.State{Connected: true, Conn: 1})
		p.onState(client.State{Err: lost})
		var both sync.WaitGroup
		both.Go(func() { p.onState(client.State{Connected: true, Conn: 2}) })
		both.Go(p.begin)
		done := make(chan struct{})
		go func() { both.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(hosttest.Patience):
			t.Fatal("it is held up")
		}
		if s := p.state; s == nil || s.Conn != 2 || p.conn != 0 {
			t.Fatalf("the newest change is %+v, and %d is sent on", s, p.conn)
		}
	}
}
