package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"termhost/ahp/journal"
	"termhost/ptypool/statefile"
)

// listenError is the error for an address that cannot be listened on.
type listenError struct {
	key, addr string // the key of the configuration, and its value
	err       error
}

func (e *listenError) Error() string {
	reason := e.err
	var sys *os.SyscallError
	if errors.As(e.err, &sys) {
		reason = sys.Err
	}
	return fmt.Sprintf("cannot listen on %s: %v", e.addr, reason)
}

func (e *listenError) Unwrap() error { return e.err }

// hintFor returns what the user can do about an error of startServer; "": nothing is known.
func hintFor(err error) string {
	var l *listenError
	if errors.As(err, &l) && errors.Is(err, syscall.EADDRINUSE) {
		return "another termhost may be running; stop it, or set " + l.key + " to another port"
	}
	if newer := (*journal.NewerError)(nil); errors.As(err, &newer) {
		return "run the newer termhost, or set state_dir to another folder"
	}
	return ""
}

// listen listens on addr, the value of a key of the configuration.
func listen(key, addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, &listenError{key: key, addr: addr, err: err}
	}
	return l, nil
}

// lockName is the file in the state folder that a host locks.
const lockName = "lock"

// lockState makes sure that no other host uses the state folder until the file is closed. The file
// has the number of the process that holds the lock. A folder that cannot be written is locked
// itself: the host then works as far as it can.
func lockState(dir string, log *slog.Logger) (*os.File, error) {
	f, err := statefile.Open(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, statefile.ErrNoFile) {
		return nil, fmt.Errorf("cannot lock the state folder: %w", err)
	}
	if err != nil {
		log.Warn("the state folder cannot be written; little of what happens is kept", "err", err)
		if f, err = statefile.OpenFolder(dir); err != nil {
			return nil, fmt.Errorf("cannot read the state folder: %w", err)
		}
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		by := ""
		if pid := holderOf(f); pid > 0 {
			by = fmt.Sprintf(" (process %d)", pid)
		}
		f.Close()
		return nil, fmt.Errorf("another termhost%s is running with the state folder %s; "+
			"stop it, or set state_dir", by, dir)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot lock the state folder: %w", err)
	}
	// It is for people: a full disk does not keep the host from starting.
	if err := f.Truncate(0); err == nil {
		_, _ = fmt.Fprintln(f, os.Getpid())
	}
	return f, nil
}

// holderOf returns which process holds a lock; 0: the file does not say.
func holderOf(lock *os.File) int {
	var b [20]byte
	n, _ := lock.ReadAt(b[:], 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil {
		return 0
	}
	return pid
}

// reachable returns an address by which this machine reaches a listener. One that listens on every
// interface is reached on loopback.
func reachable(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return addr.String()
}

// hostName returns the host of an address to listen on, if that is a name.
func hostName(listen string) []string {
	name, _, err := net.SplitHostPort(listen)
	if err != nil || name == "" || net.ParseIP(name) != nil {
		return nil
	}
	return []string{name}
}
