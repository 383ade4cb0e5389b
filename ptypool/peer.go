package ptypool

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"termhost/ptypool/proctag"
	"termhost/ptypool/sockdiag"
)

// maxSearched bounds a search, in descriptors: some dozen times as many as hundreds of programs
// have. That many take a second or two, and longer on a busy machine, where a bound in time would
// have people count as programs in terminals.
const maxSearched = 1 << 18

// ErrSearch says that the processes of the terminals have too many descriptors to find whose a
// socket is.
var ErrSearch = errors.New("ptypool: the processes of the terminals have too many open files")

// searches are the searches for processes that have the other ends of connections. One runs at a
// time; those that are requested meanwhile are joined into one, so that many connections cost
// little.
type searches struct {
	running sync.Mutex // held while one runs; mu may be taken then

	mu   sync.Mutex
	next *search // the one that others may join; nil: none
}

// search is for the sockets of some connections.
type search struct {
	sockets map[sockdiag.Socket]string // the marker of the terminal that has it; "": none
	outside map[sockdiag.Socket]bool   // a process outside of all terminals has it
	err     error
	done    chan struct{} // closed when the fields above are final
}

// ErrNobody says that no process is found that has a socket of this machine: its owner has gone, or
// it is on its way from one process to another (SCM_RIGHTS, unix(7)), or nobody may look.
var ErrNobody = errors.New("ptypool: no process outside of the terminals has the socket")

// FindPeer returns the marker, as Find does, of the terminal of which a process has the other end
// of a connection between local, which is ours, and remote. It is "" if the other end is on another
// machine, or if a process outside of all terminals has it, and none inside. It fails with
// ErrNobody or ErrSearch, or if the system does not tell: the peer may have caused that.
//
// The socket is found by the addresses, at a cost that does not grow with the connections. Then the
// processes that may belong to terminals are searched, see [proctag.Untouched], and then all others
// until the socket is found, the youngest first.
func (p *Pool) FindPeer(local, remote *net.TCPAddr) (marker string, err error) {
	socket, err := sockdiag.Peer(local, remote)
	if err != nil && !ownAddress(local, remote) {
		return "", nil
	}
	if errors.Is(err, sockdiag.ErrNone) {
		return "", ErrNobody
	}
	if err != nil {
		return "", err
	}
	ss := &p.searches
	ss.mu.Lock()
	s, first := ss.next, ss.next == nil
	if first {
		s = &search{sockets: map[sockdiag.Socket]string{}, done: make(chan struct{})}
		ss.next = s
	}
	s.sockets[socket] = ""
	ss.mu.Unlock()
	if first {
		ss.running.Lock()
		ss.mu.Lock()
		ss.next = nil // it cannot be joined any more
		ss.mu.Unlock()
		s.outside, s.err = p.search(s.sockets)
		ss.running.Unlock()
		close(s.done)
	}
	<-s.done
	if s.err == nil && s.sockets[socket] == "" && !s.outside[socket] {
		return "", ErrNobody
	}
	return s.sockets[socket], s.err
}

// ownAddress reports whether remote is an address of this machine.
func ownAddress(local, remote *net.TCPAddr) bool {
	if remote.IP.IsLoopback() || remote.IP.Equal(local.IP) {
		return true
	}
	own, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(own, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(remote.IP)
	})
}

// search fills in which terminals have the sockets, and returns which of the others a process
// outside of all terminals has.
func (p *Pool) search(sockets map[sockdiag.Socket]string) (
	outside map[sockdiag.Socket]bool, err error,
) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("ptypool: reading the process table: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("ptypool: reading the process table: %w", err)
	}
	wanted := map[string]sockdiag.Socket{}
	for s := range sockets {
		wanted[nameOf(s)] = s
	}
	left := maxSearched
	hidden := map[int]bool{} // the users of processes in terminals that let nobody look
	var others []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if pid == os.Getpid() || proctag.Untouched(pid) {
			others = append(others, pid)
			continue
		}
		has, err := held(pid, wanted, &left)
		if errors.Is(err, ErrSearch) {
			return nil, err
		}
		if len(has) == 0 && !errors.Is(err, fs.ErrPermission) {
			continue
		}
		marker := p.Find(pid)
		if marker == "" {
			others = append(others, pid)
			continue
		}
		for _, s := range has {
			if sockets[s] == "" {
				sockets[s] = marker
			}
		}
		if err != nil {
			hidden[userOf(pid)] = true
		}
	}
	return p.searchOutside(hidden, others, sockets, wanted, &left)
}

// searchOutside returns which of the sockets the processes outside of all terminals have, and fills
// in those that they have not: processes of terminals that cannot be inspected, such as ssh-agent,
// may have those of their user, and nobody knows which has.
//
// What only another user's process can have is outside, even if this user may not look: programs of
// terminals are our user's, or such as cannot be inspected.
func (p *Pool) searchOutside(hidden map[int]bool, others []int, sockets map[sockdiag.Socket]string,
	wanted map[string]sockdiag.Socket, left *int) (map[sockdiag.Socket]bool, error) {
	missing := maps.Clone(wanted)
	maps.DeleteFunc(missing, func(_ string, s sockdiag.Socket) bool { return sockets[s] != "" })
	outside := map[sockdiag.Socket]bool{}
	slices.Sort(others)
	for _, pid := range slices.Backward(others) {
		if len(missing) == 0 {
			break
		}
		has, err := heldTwice(pid, missing, left)
		if errors.Is(err, ErrSearch) {
			return nil, err
		}
		for _, s := range has {
			outside[s] = true
			delete(missing, nameOf(s))
		}
	}
	for _, s := range missing {
		if hidden[s.UID] {
			sockets[s] = p.markerPrefix()
		}
		own := os.Geteuid()
		outside[s] = sockets[s] == "" && own != 0 && s.UID != own
	}
	return outside, nil
}

// heldTwice is held for a process that is to have the sockets for longer than a moment: one that
// only receives a socket, and closes it, is not its owner.
func heldTwice(pid int, wanted map[string]sockdiag.Socket, left *int) (has []sockdiag.Socket,
	err error) {
	has, err = held(pid, wanted, left)
	if len(has) == 0 || err != nil {
		return nil, err
	}
	again := map[string]sockdiag.Socket{}
	for _, s := range has {
		again[nameOf(s)] = s
	}
	runtime.Gosched()
	return held(pid, again, left)
}

// nameOf returns a socket's name in /proc/PID/fd.
func nameOf(s sockdiag.Socket) string { return fmt.Sprintf("socket:[%d]", s.Inode) }

// held returns which of the wanted sockets, named as in /proc/PID/fd, a process has. It takes the
// descriptors that it has looked at from left, and fails with ErrSearch if there are more.
func held(pid int, wanted map[string]sockdiag.Socket, left *int) (has []sockdiag.Socket,
	err error) {
	path := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	for {
		fds, err := dir.Readdirnames(heldPart)
		for _, fd := range fds {
			link, _ := os.Readlink(filepath.Join(path, fd)) // it may be closed by now
			if s, ok := wanted[link]; ok {
				has = append(has, s)
			}
		}
		if err != nil || len(fds) == 0 {
			return has, nil // there is no more, or the process has ended
		}
		if *left -= len(fds); *left < 0 {
			return has, ErrSearch
		}
	}
}

// heldPart is how many descriptors are read at a time.
const heldPart = 256

// userOf returns a process's effective user id; -1: it has ended. The owner of its files in /proc
// may be another one.
func userOf(pid int) int {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return -1
	}
	_, uids, _ := strings.Cut(string(status), "\nUid:\t")
	if f := strings.Fields(uids); len(f) > 1 {
		if uid, err := strconv.Atoi(f[1]); err == nil {
			return uid
		}
	}
	return -1
}
