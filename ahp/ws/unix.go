package ws

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ahp/host"
	"termhost/authz"
)

const (
	// dialTimeout is how long a host may take to answer on a socket that is there.
	dialTimeout = time.Second
	// maxSocketPath is how long a socket's path may be, in bytes (unix(7):
	// sun_path has 108, with the NUL).
	maxSocketPath = 107
)

// ListenUnix listens on the socket file path, which it makes with mode 0600 and
// removes when the listener is closed. A socket that a dead host has left behind
// is replaced; one that somebody listens on, and anything that is no socket, is
// an error. The caller makes sure that no other host starts in the same folder
// at the same time.
func ListenUnix(path string) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("the path of the socket has %d bytes and may have %d: %s; set state_dir to a shorter one", len(path), maxSocketPath, path)
	}
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("cannot look at the socket: %w", err)
	case st.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("%s is in the way and is no socket; move it, or set http.unix_socket = false", path)
	default:
		c, err := net.DialTimeout("unix", path, dialTimeout)
		if err == nil {
			c.Close()
			return nil, fmt.Errorf("another host listens on %s; stop it, or set state_dir", path)
		}
		if !errors.Is(err, unix.ECONNREFUSED) {
			return nil, fmt.Errorf("cannot tell whether another host listens on the socket: %w", err)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("cannot remove a dead host's socket: %w", err)
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on the socket: %w", err)
	}
	// Until the next line the file has the mode that the umask left. Nobody
	// comes in by it: every peer's user id is compared.
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("cannot protect the socket: %w", err)
	}
	return l, nil
}

var (
	errNoPeer    = errors.New("the kernel does not tell who you are")
	errForeign   = errors.New("this socket is for the user who runs the host")
	errPeerGone  = errors.New("your process has ended, or cannot be seen from here")
	errDescended = errors.New("whoever made your terminal may not come in any more")
	errChanged   = errors.New("the rights of whoever made your terminal have changed: open a new one")
	errForgotten = errors.New("your terminal has ended, and who made it is not known any more: open a new one")
)

// lostProof returns what a peer from inside a terminal is told when the proof of
// whoever made that has gone.
func lostProof(err error) error {
	if errors.Is(err, authz.ErrChanged) {
		return errChanged
	}
	return errDescended
}

// proven returns why a proof is gone already; nil: it is not.
func proven(proof host.Proof) error {
	if proof == nil {
		return nil
	}
	gone := make(chan error, 1)
	proof(func(err error) { gone <- err })()
	select {
	case err := <-gone:
		return lostProof(err)
	default:
		return nil
	}
}

// unixPeer returns who is at the other end of a unix socket: an admin if its
// user is the host's or root, but inside one of our terminals, or left behind by one,
// whoever made that. The latter keeps honest tools apart; a program that means harm has the host's
// user id and other ways. proof, if not nil, is that of whoever made the terminal.
func (s *Server) unixPeer(c *net.UnixConn) (p authz.Principal, proof host.Proof, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return authz.Principal{}, nil, errNoPeer
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil || credErr != nil {
		return authz.Principal{}, nil, errNoPeer
	}
	if cred.Uid != 0 && int(cred.Uid) != os.Geteuid() {
		return authz.Principal{}, nil, errForeign
	}
	if p, proof, inside := s.cfg.Host.CreatorOf(int(cred.Pid)); inside {
		switch {
		case p == (authz.Principal{}):
			err = errForgotten
		case p.Valid(time.Now()) != nil:
			err = errDescended
		default:
			err = proven(proof)
		}
		return p, proof, err
	}
	// A process that is gone by now may have been anybody's.
	if cred.Pid <= 0 || unix.Kill(int(cred.Pid), 0) != nil {
		return authz.Principal{}, nil, errPeerGone
	}
	return authz.ForUID(cred.Uid), nil, nil
}
