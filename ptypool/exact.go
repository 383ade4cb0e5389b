package ptypool

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"time"
)

// showPatience is how long a few binary data wait for the screen before they are skipped: far
// longer than it takes to show what came before them.
const showPatience = 50 * time.Millisecond

// readExact carries an output to its exact reader and to the handler, neither of which waits for
// the other to get a piece. more: there is nobody who reads it exactly any more, and it goes on.
//
// A peer may take what a program prints faster than the screen does. What a program prints on a pty
// waits for the screen, and so does text on pipes. Binary data on pipes, which are no more than
// noise there, do not: a screen that is behind is told how much of them it does not get.
func (t *Term) readExact(out output) (more bool) {
	s := shower{t: t, turn: make(chan struct{}, 1)}
	defer s.finish()
	defer func() {
		// It fails only for a reader that is gone, and that is not asked for more.
		_ = out.exact.Close()
	}()
	for {
		if out.WaitReadable() != nil {
			return false
		}
		t.h.Ready()
		b, err := t.readBatch(out)
		p := &piece{batch: b}
		var refused error
		if len(p.data) > 0 {
			p.users.Add(1)
			s.show(p)
			_, refused = out.exact.Write(p.data)
		}
		p.done(t)
		if err != nil || refused != nil {
			return err == nil
		}
	}
}

// piece is a batch of output on its way to two readers.
type piece struct {
	batch
	users atomic.Int32 // besides the first one
}

// done gives the memory back when everybody is done with it.
func (p *piece) done(t *Term) {
	if p.users.Add(-1) < 0 {
		t.release(p.batch)
	}
}

// shower delivers the pieces of one output, one at a time. It is used by one goroutine.
type shower struct {
	t       *Term
	turn    chan struct{} // full: a piece is being delivered
	skipped int           // bytes of binary data that are not shown
}

// show delivers p, which is done with afterwards, without waiting for that.
func (s *shower) show(p *piece) {
	if s.t.lines == nil || bytes.IndexByte(p.data, 0) < 0 {
		s.turn <- struct{}{}
	} else if !s.turnSoon(len(p.data)) {
		s.skipped += len(p.data)
		p.done(s.t)
		return
	}
	skipped := s.skipped
	s.skipped = 0
	go func() { // finish waits for it
		s.tell(skipped)
		s.t.deliver(p.batch)
		p.done(s.t)
		<-s.turn
	}()
}

// turnSoon takes the turn for n bytes of binary data unless it would have to wait: at all in a
// flood, for long otherwise.
func (s *shower) turnSoon(n int) bool {
	if s.skipped > 0 && n >= floodSize {
		return false // what follows is skipped, too, so that no fragments are shown
	}
	select {
	case s.turn <- struct{}{}:
		return true
	default:
	}
	if s.skipped > 0 || n >= floodSize {
		return false
	}
	late := time.NewTimer(showPatience)
	defer late.Stop()
	select {
	case s.turn <- struct{}{}:
		return true
	case <-late.C:
		return false
	}
}

// tell says on the screen what it does not show. CAN ends whatever sequence noise has begun.
func (s *shower) tell(skipped int) {
	if skipped > 0 {
		s.t.deliver(batch{data: fmt.Appendf(nil,
			"\x18\x1b[m\r\n[termhost: %d KiB of binary data are not shown here]\r\n", skipped>>10)})
	}
}

// finish waits until everything has been delivered.
func (s *shower) finish() {
	s.turn <- struct{}{}
	s.tell(s.skipped)
}
