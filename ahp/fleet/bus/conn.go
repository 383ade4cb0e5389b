package bus

import (
	"net"
	"time"
)

// A Stream is a net.Conn.
var _ net.Conn = (*Stream)(nil)

// Addr is a host's name as an address.
type Addr string

// Network returns "fleet".
func (Addr) Network() string { return "fleet" }

// String returns the host's name.
func (a Addr) String() string { return string(a) }

// LocalAddr returns the name of this host.
func (s *Stream) LocalAddr() net.Addr { return Addr(s.node.name) }

// RemoteAddr returns the name of the peer.
func (s *Stream) RemoteAddr() net.Addr { return Addr(s.key.peer) }

// Err returns why the stream has ended at once; nil: it has not.
func (s *Stream) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// deadline is until when something is waited for.
type deadline struct {
	at    time.Time // zero: for good
	timer *time.Timer
}

// past reports whether it is over.
func (d *deadline) past() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

// set replaces the deadline; s.mu is held.
func (s *Stream) set(d *deadline, at time.Time) {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	if d.at = at; !at.IsZero() {
		d.timer = time.AfterFunc(time.Until(at), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.changed.Broadcast()
		})
	}
	s.changed.Broadcast()
}

// SetDeadline bounds how long Read and Write wait.
func (s *Stream) SetDeadline(t time.Time) error {
	_ = s.SetReadDeadline(t)
	return s.SetWriteDeadline(t)
}

// SetReadDeadline bounds how long Read waits.
func (s *Stream) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(&s.readBy, t)
	return nil
}

// SetWriteDeadline bounds how long Write waits.
func (s *Stream) SetWriteDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(&s.writeBy, t)
	return nil
}
