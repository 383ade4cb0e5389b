package bus

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	// Window is how many bytes of a stream are on the way or unread at most, in each direction: at
	// 1 ms between two hosts it allows 256 MB/s.
	Window = 256 << 10
	// maxData bounds the bytes of one message: one packet of SSH (RFC 4253 section 6.1).
	maxData = 35000
	// linger is for how many ticks a stream that was closed goes on sending what was written.
	linger = 10
)

// errReset ends a stream whose peer breaks the rules.
var errReset = errors.New("bus: the peer sends more than it may")

// Stream is a connection to a peer: a net.Conn whose deadlines count for what is waited for from
// then on.
type Stream struct {
	node     *Node
	key      streamKey
	opened   time.Time
	greeting []byte // of a stream that this Node opens; sent again until the peer has answered

	sending sync.Mutex // held while bytes are sent, in order; mu is taken under it

	mu       sync.Mutex // a leaf
	changed  sync.Cond
	err      error // why the stream has ended; nil: it has not
	closed   bool  // by this side
	met      bool  // the peer has answered
	doubted  bool  // the peer has restarted, and may not know it: see Node.Restarted
	closedAt int   // ticks since closed

	unsent  []byte // sent[base:next], kept until the peer has it
	base    uint64 // the peer has all before it
	next    uint64 // sent up to here
	limit   uint64 // the peer's credit
	endSent bool
	endHere bool   // the peer has our end
	stood   uint64 // base at the last tick
	again   bool   // send from base again

	unread   []byte
	received uint64 // all before it has come
	read     uint64 // and was read up to here
	granted  uint64 // the credit that the peer knows
	gap      uint64 // 1 + where a gap was reported last
	ended    bool   // the peer's bytes have ended, at received

	readBy, writeBy deadline
}

func newStream(n *Node, key streamKey) *Stream {
	s := &Stream{node: n, key: key, opened: time.Now(), limit: Window, granted: Window}
	s.changed.L = &s.mu
	return s
}

// Peer returns the name of the host at the other end.
func (s *Stream) Peer() string { return s.key.peer }

// Read reads what the peer has written.
func (s *Stream) Read(p []byte) (int, error) {
	s.mu.Lock()
	for len(s.unread) == 0 {
		switch {
		case s.closed:
			s.mu.Unlock()
			return 0, net.ErrClosed
		case s.err != nil:
			defer s.mu.Unlock()
			return 0, s.err
		case s.ended:
			s.mu.Unlock()
			return 0, io.EOF
		case s.readBy.past():
			s.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		}
		s.changed.Wait()
	}
	n := copy(p, s.unread)
	if s.unread = s.unread[n:]; len(s.unread) == 0 {
		s.unread = nil
	}
	s.read += uint64(n)
	grant := s.read+Window-s.granted >= Window/4
	s.mu.Unlock()
	if grant {
		s.credit(credited)
	}
	return n, nil
}

// Write writes p, which is not kept, as fast as the peer reads.
func (s *Stream) Write(p []byte) (written int, err error) {
	s.sending.Lock()
	defer s.unlock()
	for len(p) > 0 {
		at, n, err := s.reserve(p)
		if err != nil {
			return written, err
		}
		if n == 0 {
			s.resend()
			continue
		}
		// If it is lost, it is sent again.
		_ = s.send(Bytes, frame{kind: data, a: at, payload: p[:n]})
		written, p = written+n, p[n:]
	}
	return written, nil
}

// reserve waits for credit and keeps the beginning of p, of which it returns the offset and the
// length. The length is 0 if the peer misses something first.
func (s *Stream) reserve(p []byte) (at uint64, n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.closed:
			return 0, 0, net.ErrClosed
		case s.err != nil:
			return 0, 0, s.err
		case s.writeBy.past():
			return 0, 0, os.ErrDeadlineExceeded
		case s.again:
			return 0, 0, nil
		case s.next < s.limit:
			at, n = s.next, int(min(uint64(len(p)), s.limit-s.next, maxData))
			// Both at once: fail may come at any time, and leaves neither.
			s.unsent = append(s.unsent, p[:n]...)
			s.next += uint64(n)
			return at, n, nil
		}
		s.changed.Wait()
	}
}

// resend sends what the peer misses. s.sending is held.
func (s *Stream) resend() {
	s.mu.Lock()
	if !s.again {
		s.mu.Unlock()
		return
	}
	s.again = false
	at, p := s.base, slices.Clone(s.unsent[:s.next-s.base])
	end, over := s.endSent, s.next
	s.mu.Unlock()
	for len(p) > 0 {
		n := min(len(p), maxData)
		_ = s.send(Bytes, frame{kind: data, a: at, payload: p[:n]})
		at, p = at+uint64(n), p[n:]
	}
	if end {
		_ = s.send(Bytes, frame{kind: ended, a: over})
	}
}

// Close ends the stream. What was written is sent, as long as the peer takes it.
func (s *Stream) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.changed.Broadcast()
	over := s.err != nil
	s.mu.Unlock()
	if over {
		s.node.forget(s)
		return nil
	}
	s.sending.Lock() // a Write that is under way gives up
	s.mu.Lock()
	s.endSent = true
	at := s.next
	s.mu.Unlock()
	_ = s.send(Bytes, frame{kind: ended, a: at})
	s.unlock()
	s.settle()
	return nil
}

// settle forgets a stream that both sides have done with.
func (s *Stream) settle() {
	s.mu.Lock()
	done := s.closed && (s.err != nil || s.endHere && s.ended || s.closedAt > linger)
	s.mu.Unlock()
	if done {
		s.node.forget(s)
	}
}

// Refuse ends the stream at once. Reads and writes fail with why here, and with its text at the
// peer. It may be called again, and concurrently with everything else.
func (s *Stream) Refuse(why error) {
	s.fail(why)
	s.tell(why)
}

// tell has the peer end the stream.
func (s *Stream) tell(why error) {
	_ = s.send(Control, frame{kind: reset, payload: []byte(why.Error())})
}

// fail ends the stream at once. What has come can still be read.
func (s *Stream) fail(why error) {
	s.mu.Lock()
	if s.err == nil {
		s.err = why
	}
	s.unsent = nil
	s.base = s.next
	s.changed.Broadcast()
	s.mu.Unlock()
	s.node.forget(s)
}

// receive takes a frame of the stream. It does not block.
func (s *Stream) receive(f frame) {
	if f.kind != reset {
		s.mu.Lock()
		s.doubted = false
		s.mu.Unlock()
	}
	switch f.kind {
	case data, ended:
		s.arrived(f)
	case credited, missed:
		s.acknowledged(f)
	case probed:
		s.mu.Lock()
		s.met = true
		behind := f.a > s.received
		s.mu.Unlock()
		if behind {
			s.credit(missed)
		} else {
			s.credit(credited)
		}
	case reset:
		s.mu.Lock()
		early := s.key.ours && !s.met && f.a == unknownStream
		s.mu.Unlock()
		if !early { // otherwise what opens the stream was lost; probe sends it again
			s.fail(errors.New(string(f.payload)))
		}
	}
}

// greet opens the stream at the peer. That travels as what the stream carries does, and so comes
// first.
func (s *Stream) greet() error {
	return s.node.send(s.key.peer, Bytes,
		frame{kind: opened, id: s.key.id, payload: s.greeting})
}

// arrived takes bytes, or their end.
func (s *Stream) arrived(f frame) {
	s.mu.Lock()
	s.met = true
	if f.a > s.received { // something before it is missing
		report := s.gap != s.received+1
		s.gap = s.received + 1
		s.mu.Unlock()
		if report {
			s.credit(missed)
		}
		return
	}
	fresh := f.payload[min(s.received-f.a, uint64(len(f.payload))):]
	if s.received+uint64(len(fresh)) > s.granted {
		s.mu.Unlock()
		s.Refuse(errReset)
		return
	}
	s.received += uint64(len(fresh))
	if s.closed { // nobody reads it
		s.read = s.received
	} else if !s.ended {
		s.unread = append(s.unread, fresh...)
	}
	if f.kind == ended {
		s.ended = true
	}
	grant := s.closed || s.ended
	s.changed.Broadcast()
	s.mu.Unlock()
	if grant {
		s.credit(credited)
		s.settle()
	}
}

// acknowledged takes the peer's acknowledgement.
func (s *Stream) acknowledged(f frame) {
	s.mu.Lock()
	s.met = true
	// One that is not between base and next is old, or no honest peer's.
	if f.a >= s.base && f.a <= s.next {
		s.unsent = s.unsent[f.a-s.base:]
		s.base = f.a
		if s.base == s.next && len(s.unsent) == 0 {
			s.unsent = nil
		}
		if f.b > s.limit && f.b <= f.a+Window {
			s.limit = f.b
		}
		s.endHere = s.endHere || s.endSent && f.a == s.next && f.kind == credited
	}
	again := f.kind == missed
	s.again = s.again || again
	s.changed.Broadcast()
	s.mu.Unlock()
	if again {
		s.later()
	}
	s.settle()
}

// later has what the peer misses sent again, by a Write that is under way or on a goroutine.
func (s *Stream) later() {
	if !s.sending.TryLock() {
		return // whoever holds it looks: see unlock
	}
	s.node.inBackground(func() {
		s.resend()
		s.unlock()
	})
}

// unlock releases s.sending, and has sent again what the peer has missed meanwhile.
func (s *Stream) unlock() {
	s.sending.Unlock()
	s.mu.Lock()
	again := s.again
	s.mu.Unlock()
	if again {
		s.later()
	}
}

// credit tells the peer what has come, and how much more may.
func (s *Stream) credit(as kind) {
	s.mu.Lock()
	s.granted = max(s.granted, s.read+Window)
	f := frame{kind: as, a: s.received, b: s.granted}
	s.mu.Unlock()
	_ = s.send(Control, f) // the peer asks again
}

// probe asks the peer what it has when nothing has moved since the last tick, or when messages or
// the peer's end of the stream may have been lost.
func (s *Stream) probe(lost bool) {
	s.mu.Lock()
	open, greet := s.err == nil, s.key.ours && !s.met
	still := s.doubted ||
		s.base == s.stood && (s.base < s.next || s.next == s.limit || s.endSent)
	s.stood = s.base
	if s.closed && !lost {
		s.closedAt++
	}
	f := frame{kind: probed, a: s.next}
	s.mu.Unlock()
	switch {
	case !open:
	case greet:
		_ = s.greet()
		_ = s.send(Bytes, f)
	case lost || still:
		_ = s.send(Control, f)
	}
	s.settle()
}

// send sends a frame of the stream.
func (s *Stream) send(class Class, f frame) error {
	return s.node.send(s.key.peer, class, s.node.frameFor(s.key, f))
}
