//go:build linux && !laptop

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	"termhost/ahp/journal"
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

// hintFor returns a hint for the user about an error of startServer; "": there is none.
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
