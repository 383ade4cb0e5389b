package sshd

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// userTimeout is how long sent bytes may stay unacknowledged before the kernel gives the connection
// up (TCP_USER_TIMEOUT, tcp(7)). Together with the keepalives, it ends a half-open connection
// within a minute.
const userTimeout = 45 * time.Second

// tuneSocket has the kernel notice dead peers. Sockets that are not TCP stay as they are.
func tuneSocket(nc net.Conn) error {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return nil
	}
	if err := tcp.SetKeepAliveConfig(net.KeepAliveConfig{
		Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 3,
	}); err != nil {
		return err
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	if err := raw.Control(func(fd uintptr) {
		ms := int(userTimeout.Milliseconds())
		set = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, ms)
	}); err != nil {
		return err
	}
	return set
}

// unread reports whether something has come on nc that has not been read.
func unread(nc net.Conn) bool {
	n := 0
	control(nc, func(fd int) { n, _ = unix.IoctlGetInt(fd, unix.TIOCINQ) }) // SIOCINQ, tcp(7)
	return n > 0
}

// hungUp reports whether the peer has closed nc, what it has sent before read or not.
func hungUp(nc net.Conn) bool {
	n := 0
	control(nc, func(fd int) {
		n, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}, 0)
	})
	return n > 0
}

// acknowledge has the kernel acknowledge now what has been read (TCP_QUICKACK, tcp(7)). A client
// that sends two packets in a row, as OpenSSH's does after the key exchange, holds the second one
// back until the first is acknowledged (RFC 896). If nothing is answered to the first, that is
// 40 ms later (RFC 1122 section 4.2.3.2).
func acknowledge(nc net.Conn) {
	control(nc, func(fd int) { // it works without
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1)
	})
}

// control calls f with the descriptor of nc, unless that is not TCP or closed.
func control(nc net.Conn, f func(fd int)) {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return
	}
	if raw, err := tcp.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { f(int(fd)) })
	}
}
