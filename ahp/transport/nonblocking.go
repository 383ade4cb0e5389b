package transport

import (
	"errors"
	"io"
	"net"
	"syscall"

	"termhost/ptypool/nonblock"
)

// nonblocking is a connection whose reads and writes are those of [nonblock]: each key of a person
// is one of each.
type nonblocking struct {
	net.Conn
	raw syscall.RawConn
}

// newNonblocking returns c with faster reads and writes if it is a socket, or c.
func newNonblocking(c net.Conn) net.Conn {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return c
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return c // it is closed, and says so when it is used
	}
	return &nonblocking{c, raw}
}

// Read is [net.Conn].Read.
func (c *nonblocking) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return c.Conn.Read(p)
	}
	var failed error
	err = c.raw.Read(func(fd uintptr) (done bool) {
		n, failed = nonblock.Read(fd, p)
		return failed != syscall.EAGAIN
	})
	if err = c.failed("read", err, failed); err == nil && n == 0 {
		err = io.EOF
	}
	return n, err
}

// Write is [net.Conn].Write.
func (c *nonblocking) Write(p []byte) (n int, err error) {
	var failed error
	err = c.raw.Write(func(fd uintptr) (done bool) {
		for n < len(p) && failed == nil {
			var m int
			m, failed = nonblock.Write(fd, p[n:])
			n += m
		}
		if failed == syscall.EAGAIN {
			failed = nil
			return false
		}
		return true
	})
	return n, c.failed("write", err, failed)
}

// failed returns the error that package net has for an operation during which the wait failed, or
// else the call; nil: neither has.
func (c *nonblocking) failed(op string, wait, call error) error {
	var waiting *net.OpError
	switch {
	case errors.As(wait, &waiting):
		call = waiting.Err
	case wait != nil:
		call = wait
	case call == nil:
		return nil
	}
	local, remote := c.LocalAddr(), c.RemoteAddr()
	return &net.OpError{Op: op, Net: local.Network(), Source: local, Addr: remote, Err: call}
}
