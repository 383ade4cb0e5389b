package keeper

import (
	"errors"
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

// outbox sends a host's messages, and never waits for the keeper: what the socket has no room for,
// because the keeper is stopped, is sent later. It stays small, because a host sends a keeper that
// does not answer no more requests.
type outbox struct {
	conn *conn

	mu      sync.Mutex // guards the fields below
	waiting []packet   // the oldest first
	sending bool       // a goroutine sends them
}

// packet is an encoded message with its descriptors.
type packet struct {
	bytes []byte
	fds   []int
}

func (p *packet) control() []byte {
	if len(p.fds) == 0 {
		return nil
	}
	return unix.UnixRights(p.fds...)
}

// post sends p, or has it sent later. The descriptors still belong to the caller. Its error is one
// of the connection.
func (o *outbox) post(p packet) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.sending {
		if err := o.conn.sendNow(p); !errors.Is(err, unix.EAGAIN) {
			return err
		}
	}
	later := packet{bytes: p.bytes}
	for _, fd := range p.fds {
		own, err := dup(fd)
		if err != nil {
			later.close()
			return err
		}
		later.fds = append(later.fds, own)
	}
	o.waiting = append(o.waiting, later)
	if !o.sending {
		o.sending = true
		go o.send() // ends when nothing waits, or with the connection
	}
	return nil
}

// send sends what waits.
func (o *outbox) send() {
	for {
		o.mu.Lock()
		if len(o.waiting) == 0 {
			o.sending = false
			o.mu.Unlock()
			return
		}
		p := o.waiting[0]
		o.waiting = o.waiting[1:]
		o.mu.Unlock()
		_ = o.conn.write(p) // who waits for an answer learns that the connection has ended
		p.close()
	}
}

func (p *packet) close() {
	for _, fd := range p.fds {
		unix.Close(fd)
	}
}

// sendNow sends p, and fails with EAGAIN if the socket has no room.
func (c *conn) sendNow(p packet) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		failed = unix.Sendmsg(int(fd), p.bytes, p.control(), nil,
			unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		return true
	})
	if err != nil {
		return err
	}
	return failed
}

// write sends p and waits for room.
func (c *conn) write(p packet) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	_, _, err := c.WriteMsgUnix(p.bytes, p.control(), nil)
	return err
}

// isGone reports whether an error of post says that the other side has ended.
func isGone(err error) bool {
	return errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) ||
		errors.Is(err, net.ErrClosed)
}
