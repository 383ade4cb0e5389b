package ptypool

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"time"
)

// showPatience is how long a small piece of binary data waits for the screen before it is skipped:
// far longer than drawing what precedes it takes.
const showPatience = 50 * time.Millisecond

// readExact passes an output to its exact reader and to the handler, without either waiting for the
// other. more: the exact reader has failed, and the output continues.
//
// A peer may read output faster than the screen draws it. Output on a pty waits for the screen, and
// so does text on pipes. Binary data on pipes, which look like noise on a screen, do not wait: a
// screen that is behind shows how much of them was skipped.
func (t *Term) readExact(out output) (more bool) {
	s := shower{t: t, turn: make(chan struct{}, 1)}
	defer s.finish()
	defer func() {
		// It fails only for a reader that is gone, which gets nothing more anyway.
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

// done releases the memory when both readers are done with it.
func (p *piece) done(t *Term) {
	if p.users.Add(-1) < 0 {
		t.release(p.batch)
	}
}

// shower delivers the pieces of one output to the handler, one at a time. Only one goroutine uses
// it.
type shower struct {
	t       *Term
	turn    chan struct{} // full: a piece is being delivered
	skipped int           // bytes of binary data that are not shown
}

// show begins to deliver p, and releases it afterwards.
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

// turnSoon takes the turn for n bytes of binary data, unless it would have to wait: during a flood
// it does not wait at all, otherwise not for long.
func (s *shower) turnSoon(n int) bool {
	if s.skipped > 0 && n >= floodSize {
		return false // what follows is skipped, too, so that no fragment is shown
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

// tell prints on the screen how much was skipped. CAN ends a partial sequence.
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
