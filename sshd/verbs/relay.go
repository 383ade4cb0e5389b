package verbs

import (
	"errors"
	"io"
	"slices"
	"sync"
)

// relayRead is how much of the peer's input is read at a time, in bytes: one packet of SSH.
const relayRead = 32 << 10

// relay hands the peer's input to one reader after the other, so that each byte goes to the
// terminal that was shown when it was typed. Its methods may be called concurrently.
type relay struct {
	io IO

	mu      sync.Mutex // a leaf
	changed sync.Cond
	reading bool   // read runs
	unread  []byte // what nobody has taken so far
	err     error  // why no more comes; nil: it does
	closed  bool   // there will be no other leg
	taken   uint64 // bytes that legs have read and not given back, or that were dropped
	dropped uint64 // bytes that were
	ahead   *ahead // of what is not read; nil: no leg holds that
	skips   *ahead // whose paste is dropped to its end; nil: none is
}

func newRelay(io IO) *relay {
	r := &relay{io: io}
	r.changed.L = &r.mu
	return r
}

// leg returns the peer, whose input is the caller's until it ends the leg. There is one at a time.
func (r *relay) leg() *leg {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.reading {
		r.reading = true
		r.io.Go("reading what is typed", r.read)
	}
	return &leg{IO: r.io, relay: r, before: r.taken - r.dropped}
}

// close ends the relay: nobody takes what has not been read. The last leg has ended.
func (r *relay) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed, r.unread = true, nil
	r.changed.Broadcast()
}

// read reads ahead of the legs, up to the end of the input or of the relay.
func (r *relay) read() {
	in, buf := r.io.Stdin(), make([]byte, relayRead)
	for {
		n, err := in.Read(buf)
		if !r.take(buf[:n], err) {
			return
		}
	}
}

// take keeps what was read for the legs until they have made room, and reports whether more is to
// be read.
func (r *relay) take(p []byte, err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	p = r.skipLocked(p)
	r.unread = append(r.unread, p...)
	if r.ahead != nil {
		r.ahead.feed(p)
	}
	r.err = err
	r.changed.Broadcast()
	for err == nil && len(r.unread) >= relayRead && !r.closed {
		r.changed.Wait()
	}
	return err == nil && !r.closed
}

// leg is the peer of one of several commands that follow each other.
type leg struct {
	IO
	relay  *relay
	before uint64 // bytes that earlier legs have read
	over   bool   // guarded by relay.mu
}

// errLegOver ends the input of a leg, but not the peer's.
var errLegOver = errors.New("verbs: the input goes to another terminal")

// Stdin implements IO.
func (l *leg) Stdin() io.Reader { return l }

// Read implements io.Reader.
func (l *leg) Read(p []byte) (int, error) {
	r := l.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.unread) == 0 && r.err == nil && !l.over {
		r.changed.Wait()
	}
	switch {
	case l.over:
		return 0, errLegOver
	case len(r.unread) == 0:
		return 0, r.err
	}
	n := copy(p, r.unread)
	if r.unread = r.unread[n:]; len(r.unread) == 0 {
		r.unread = nil
	}
	r.taken += uint64(n)
	r.changed.Broadcast()
	return n, nil
}

// given returns how much of the peer's input is done with when the leg is with so many bytes.
func (l *leg) given(bytes uint64) uint64 {
	l.relay.mu.Lock()
	defer l.relay.mu.Unlock()
	return l.before + l.relay.dropped + bytes
}

// isOver reports whether the leg was ended.
func (l *leg) isOver() bool {
	l.relay.mu.Lock()
	defer l.relay.mu.Unlock()
	return l.over
}

// giveBack has p, which was read last, read again. It is not kept.
func (l *leg) giveBack(p []byte) {
	r := l.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unread = append(slices.Clone(p), r.unread...)
	r.taken -= uint64(len(p))
	r.changed.Broadcast()
}

// end leaves what comes to the next leg.
func (l *leg) end() {
	l.relay.mu.Lock()
	defer l.relay.mu.Unlock()
	if l.relay.ahead != nil && !l.over {
		l.relay.dropLocked()
	}
	l.over = true
	l.relay.changed.Broadcast()
}
