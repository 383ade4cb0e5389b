// Package sockdiag finds the socket at the other end of a TCP connection, if that is on this
// machine. The kernel looks it up by its addresses (sock_diag(7)), so the cost does not grow with
// the number of connections. If that is forbidden, as in some containers, it reads /proc/net/tcp.
package sockdiag

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Socket is a socket of a process of this machine.
type Socket struct {
	Inode uint64 // as in the links of /proc/PID/fd
	UID   int    // of the process that made it
}

// ErrNone: the other end is not on this machine, or has been closed.
var ErrNone = errors.New("sockdiag: there is no such socket on this machine")

// Peer returns the socket at the other end of a connection between local, which is ours, and
// remote. Another network namespace is another machine. It fails with ErrNone.
func Peer(local, remote *net.TCPAddr) (Socket, error) {
	l, r := local.AddrPort(), remote.AddrPort()
	s, err := lookUp(r, l)
	if !errors.Is(err, unix.ENOENT) {
		return s, err
	}
	// A kernel that cannot look up anything says the same. But ours is there.
	if _, err := lookUp(l, r); err == nil {
		return Socket{}, ErrNone
	}
	return readTable(r, l)
}

const (
	// The layouts are those of linux/inet_diag.h: a netlink header and inet_diag_req_v2, or
	// inet_diag_msg in the answer. Integers are the machine's, but for addresses and ports.
	requestLen = unix.NLMSG_HDRLEN + 56
	// diagByFamily is SOCK_DIAG_BY_FAMILY.
	diagByFamily = 20
	// Where things are in inet_diag_msg.
	msgState, msgPorts, msgUID, msgInode, msgLen = 1, 4, 64, 68, 72
	listening                                    = 10 // TCP_LISTEN
	// diagTime bounds the kernel's answer, which comes at once.
	diagTime = 1 // in seconds
)

// lookUp asks the kernel for the socket that has the address own and is connected to other. It
// fails with unix.ENOENT if there is none.
func lookUp(own, other netip.AddrPort) (Socket, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC,
		unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return Socket{}, unix.ENOENT
	}
	defer unix.Close(fd)
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: diagTime})
	if err := unix.Sendto(fd, request(own, other), 0, &unix.SockaddrNetlink{
		Family: unix.AF_NETLINK}); err != nil {
		return Socket{}, unix.ENOENT
	}
	buf := make([]byte, 4<<10)
	n, _, err := unix.Recvfrom(fd, buf, 0)
	if err != nil {
		return Socket{}, unix.ENOENT
	}
	return answer(buf[:n], own, other)
}

// request returns the question for a socket.
func request(own, other netip.AddrPort) []byte {
	order := binary.NativeEndian
	p := make([]byte, requestLen)
	order.PutUint32(p, requestLen)
	order.PutUint16(p[4:], diagByFamily)
	order.PutUint16(p[6:], unix.NLM_F_REQUEST)
	q := p[unix.NLMSG_HDRLEN:]
	from, to := own.Addr().Unmap(), other.Addr().Unmap() // a mapped address is found as itself
	q[0], q[1] = unix.AF_INET6, unix.IPPROTO_TCP
	if from.Is4() {
		q[0] = unix.AF_INET
	}
	order.PutUint32(q[4:], ^uint32(0)) // in any state
	id := q[8:]
	binary.BigEndian.PutUint16(id, own.Port())
	binary.BigEndian.PutUint16(id[2:], other.Port())
	copy(id[4:20], from.AsSlice())
	copy(id[20:36], to.AsSlice())
	if zone := own.Addr().Zone(); zone != "" {
		if i, err := net.InterfaceByName(zone); err == nil {
			order.PutUint32(id[36:], uint32(i.Index))
		}
	}
	order.PutUint64(id[40:], ^uint64(0)) // INET_DIAG_NOCOOKIE
	return p
}

// answer reads what the kernel says. Where there is no such connection it may have found one that
// listens on the port.
func answer(p []byte, own, other netip.AddrPort) (Socket, error) {
	order := binary.NativeEndian
	if len(p) < unix.NLMSG_HDRLEN+4 {
		return Socket{}, unix.ENOENT
	}
	if order.Uint16(p[4:]) == unix.NLMSG_ERROR || order.Uint16(p[4:]) != diagByFamily ||
		len(p) < unix.NLMSG_HDRLEN+msgLen {
		return Socket{}, unix.ENOENT
	}
	m := p[unix.NLMSG_HDRLEN:]
	ports := m[msgPorts:]
	s := Socket{Inode: uint64(order.Uint32(m[msgInode:])), UID: int(order.Uint32(m[msgUID:]))}
	if m[msgState] == listening || binary.BigEndian.Uint16(ports) != own.Port() ||
		binary.BigEndian.Uint16(ports[2:]) != other.Port() || s.Inode == 0 {
		return Socket{}, unix.ENOENT
	}
	return s, nil
}

// hexAddr returns an address as /proc/net/tcp has it (proc(5)): each four bytes of it as a number
// of the machine's, and the port.
func hexAddr(a netip.AddrPort, as16 bool) string {
	ip := a.Addr().Unmap().AsSlice()
	if as16 {
		b := netip.AddrFrom16(a.Addr().As16()).As16()
		ip = b[:]
	}
	text := ""
	for ; len(ip) >= 4; ip = ip[4:] {
		text += fmt.Sprintf("%08X", binary.NativeEndian.Uint32(ip))
	}
	return fmt.Sprintf("%s:%04X", text, a.Port())
}
