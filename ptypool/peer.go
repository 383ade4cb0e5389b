package ptypool

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"termhost/ptypool/proctag"
	"termhost/ptypool/sockdiag"
)

// searchTime bounds a search of the processes of all terminals: thousands of times as long as some
// hundred of them take.
const searchTime = 2 * time.Second

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
	err     error
	done    chan struct{} // closed when the fields above are final
}

// FindPeer returns the marker, as Find does, of the terminal of which a process has the other end
// of a connection between local, which is ours, and remote. It is "" if the other end is on another
// machine or belongs to no terminal. It fails with ErrSearch, or if the system does not tell.
//
// The socket is found by the addresses, at a cost that does not grow with the connections. Then the
// processes that may belong to terminals are searched: see [proctag.Untouched].
func (p *Pool) FindPeer(local, remote *net.TCPAddr) (marker string, err error) {
	socket, err := sockdiag.Peer(local, remote)
	if errors.Is(err, sockdiag.ErrNone) {
		return "", nil
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
		s.err = p.search(s.sockets)
		ss.running.Unlock()
		close(s.done)
	}
	<-s.done
	return s.sockets[socket], s.err
}

// search fills in which terminals have the sockets.
func (p *Pool) search(sockets map[sockdiag.Socket]string) error {
	dir, err := os.Open("/proc")
	if err != nil {
		return fmt.Errorf("ptypool: reading the process table: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("ptypool: reading the process table: %w", err)
	}
	wanted := map[string]sockdiag.Socket{}
	for s := range sockets {
		wanted[fmt.Sprintf("socket:[%d]", s.Inode)] = s
	}
	end := time.Now().Add(searchTime)
	hidden := map[int]string{} // by user: the terminal of a process that lets nobody look
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
		has, err := held(pid, wanted, end)
		if errors.Is(err, ErrSearch) {
			return err
		}
		if len(has) == 0 && !errors.Is(err, fs.ErrPermission) {
			continue
		}
		marker := p.Find(pid)
		for _, s := range has {
			if sockets[s] == "" {
				sockets[s] = marker
			}
		}
		if err != nil && marker != "" {
			hidden[userOf(pid)] = marker
		}
	}
	if len(hidden) > 0 {
		return blame(hidden, others, sockets, wanted, end)
	}
	return nil
}

// blame attributes sockets to processes of terminals that cannot be inspected, such as ssh-agent:
// those sockets of their user that no other process has.
func blame(hidden map[int]string, others []int, sockets map[sockdiag.Socket]string,
	wanted map[string]sockdiag.Socket, end time.Time) error {
	outside := map[sockdiag.Socket]bool{}
	for _, pid := range others {
		has, err := held(pid, wanted, end)
		if errors.Is(err, ErrSearch) {
			return err
		}
		for _, s := range has {
			outside[s] = true
		}
	}
	for s, marker := range sockets {
		if marker == "" && !outside[s] {
			sockets[s] = hidden[s.UID]
		}
	}
	return nil
}

// held returns which of the wanted sockets, named as in /proc/PID/fd, a process has. It fails with
// ErrSearch once it is end.
func held(pid int, wanted map[string]sockdiag.Socket, end time.Time) (has []sockdiag.Socket,
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
		if time.Now().After(end) {
			return has, ErrSearch
		}
	}
}

// heldPart is how many descriptors are read between two checks of the time.
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
