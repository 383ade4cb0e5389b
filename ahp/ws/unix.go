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
	// dialTimeout is how long a host may take to answer on a socket that exists.
	dialTimeout = time.Second
	// maxSocketPath is how long a socket's path may be, in bytes (unix(7):
	// sun_path has 108, with the NUL).
	maxSocketPath = 107
)

// ListenUnix listens on the socket file path, which it makes with mode 0600 and
// removes when the listener is closed. A socket that a dead host has left behind
// is replaced. It is an error if a process listens on path already, or if path is
// something else than a socket. The caller makes sure that no other host starts in
// the same folder at the same time.
func ListenUnix(path string) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("the path of the socket has %d bytes and may have %d: %s; "+
			"set state_dir to a shorter one", len(path), maxSocketPath, path)
	}
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("cannot look at the socket: %w", err)
	case st.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("%s is in the way and is not a socket; "+
			"move it, or set http.unix_socket = false", path)
	default:
		c, err := net.DialTimeout("unix", path, dialTimeout)
		if err == nil {
			c.Close()
			return nil, fmt.Errorf("another host listens on %s; stop it, or set state_dir", path)
		}
		if !errors.Is(err, unix.ECONNREFUSED) {
			return nil, fmt.Errorf("cannot tell whether another host listens on the socket: %w",
				err)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("cannot remove a dead host's socket: %w", err)
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on the socket: %w", err)
	}
	// Until now the file has the mode that the umask left. That lets nobody in:
	// the user id of every peer is checked.
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
	errChanged   = errors.New("the rights of whoever made your terminal have changed: " +
		"open a new one")
	errOwnChanged = errors.New("your rights have changed: connect again")
	errForgotten  = errors.New("your terminal has ended, and who made it is not known any more: " +
		"open a new one")
)

// lostProof returns what a peer of the unix socket reads when the proof of its identity has ended:
// its own rights or, inside a terminal, the credentials of the terminal's creator.
func lostProof(err error) error {
	switch {
	case errors.Is(err, errOwnChanged):
		return errOwnChanged
	case errors.Is(err, authz.ErrChanged):
		return errChanged
	}
	return errDescended
}

// ended returns why a proof has ended already; nil: it has not.
func ended(proof host.Proof) error {
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

// unixPeer returns who is at the other end of a unix socket. A process of the host's own user or of
// root is that user, an admin if no [[principal]] says otherwise. But one inside one of the host's
// terminals, or left running by one, counts as the terminal's creator; proof, if not nil, is then
// the creator's. This keeps honest programs apart, but stops no malicious one, which has the host's
// user id and other ways.
func (s *Server) unixPeer(c *net.UnixConn, source *authz.Source) (
	p authz.Principal, proof host.Proof, err error) {
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
	if p, proof, within := s.cfg().Host.CreatorWithin(int(cred.Pid)); within != "" {
		source.Within = within
		switch {
		case p == (authz.Principal{}):
			err = errForgotten
		case p.Valid(time.Now()) != nil:
			err = errDescended
		default:
			err = ended(proof)
		}
		p.Inside = true
		return p, proof, err
	}
	// A process that is gone by now may have been anybody's.
	if cred.Pid <= 0 || unix.Kill(int(cred.Pid), 0) != nil {
		return authz.Principal{}, nil, errPeerGone
	}
	p, proof = s.user(cred.Uid, *source)
	return p, proof, nil
}

// user returns the principal of a user of this machine.
func (s *Server) user(uid uint32, source authz.Source) (authz.Principal, host.Proof) {
	if s.cfg().Authority == nil {
		return authz.ForUID(uid), nil
	}
	g := s.cfg().Authority.AuthenticateUID(uid)
	g.From = source
	return g.Principal, func(end func(error)) (release func()) {
		return s.cfg().Authority.Track(g, func(error) { end(errOwnChanged) })
	}
}
