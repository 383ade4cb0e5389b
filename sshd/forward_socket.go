package sshd

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"termhost/authz"
)

// connectSocket opens a connection to a unix socket that the peer wants to forward to.
func (c *conn) connectSocket(path string) (net.Conn, error) {
	if err := c.permittedSocket(authz.ForwardOpen, path, false); err != nil {
		return nil, err
	}
	// Whatever the path leads through, links and /proc included, the descriptor stands for the
	// socket itself, and the connection goes to that.
	f, err := openPath(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Mode().Type() != fs.ModeSocket {
		return nil, ruleNoSocket
	}
	if err := c.permittedSocket(authz.ForwardOpen, path, c.srv.isPrivate(f, st)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.ctx, connectTime)
	defer cancel()
	var dialer net.Dialer
	nc, err := dialer.DialContext(ctx, "unix", descriptorPath(f))
	if err != nil {
		return nil, plainError(err)
	}
	// Another name of the host's socket may be all that is left of it.
	if err := c.permittedSocket(authz.ForwardOpen, path, servedHere(nc)); err != nil {
		nc.Close()
		return nil, err
	}
	return nc, nil
}

// permittedSocket reports whether the peer may do what to a unix socket. private: it is one of the
// host's own.
func (c *conn) permittedSocket(what authz.Verb, path string, private bool) error {
	switch {
	case c.srv.policy.Load().Forwarding == ForwardNowhere:
		return ruleForwardsOff
	case !filepath.IsAbs(path):
		return ruleAbsolute
	}
	return authz.Check(c.principal(), what, authz.Target{Socket: true, Private: private})
}

// openPath opens what is at path, without doing anything to it (open(2), O_PATH).
func openPath(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// descriptorPath is a path to what an open file stands for (proc(5), /proc/pid/fd). It has room for
// little in the address of a unix socket, and is shorter than most paths.
func descriptorPath(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

// isPrivate reports whether f is a socket of the host's own: one that lies in its state folder, or
// another name of one that does.
func (s *Server) isPrivate(f *os.File, st os.FileInfo) bool {
	state := s.stateDir()
	if state == "" {
		return false
	}
	if s.inState(f) {
		return true
	}
	const depth = 2 // of the sockets in it
	found := false
	// What cannot be read has no sockets that could be reached.
	_ = filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
		below := strings.TrimPrefix(path, state)
		switch {
		case err != nil:
			return nil
		case d.IsDir() && strings.Count(below, "/") >= depth:
			return fs.SkipDir
		case d.Type() == fs.ModeSocket:
			other, err := d.Info()
			found = found || err == nil && os.SameFile(st, other)
		}
		return nil
	})
	return found
}

// inState reports whether f, a file or folder, is the state folder or lies in it.
func (s *Server) inState(f *os.File) bool {
	state := s.stateDir()
	at, err := os.Readlink(descriptorPath(f))
	return state != "" && err == nil && (at == state || strings.HasPrefix(at, state+"/"))
}

// stateDir returns the state folder without symbolic links; "": there is none.
func (s *Server) stateDir() string {
	configured := s.cfg().StateDir
	if configured == "" {
		return ""
	}
	dir, err := filepath.EvalSymlinks(configured)
	if err != nil {
		return ""
	}
	return dir
}

// servedHere reports whether this process itself is at the other end of a unix socket.
func servedHere(nc net.Conn) bool {
	u, ok := nc.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return true
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	return err != nil || credErr != nil || int(cred.Pid) == os.Getpid()
}

// listenSocket makes a unix socket at path with mode 0600, which closing the listener removes.
func (c *conn) listenSocket(path string) (net.Listener, error) {
	if err := c.permittedSocket(authz.ForwardListen, path, false); err != nil {
		return nil, err
	}
	dir, err := openPath(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	if c.srv.inState(dir) {
		dir.Close()
		return nil, ruleState
	}
	l, err := listenIn(c.ctx, dir, filepath.Base(path))
	if err != nil {
		dir.Close()
		return nil, plainError(err)
	}
	return l, nil
}

// listenIn makes a unix socket in a folder, which closing the listener removes. The listener closes
// dir.
func listenIn(ctx context.Context, dir *os.File, name string) (net.Listener, error) {
	l, err := bindIn(ctx, dir, name)
	if err != nil {
		return nil, err
	}
	return &socketListener{UnixListener: l, dir: dir, name: name}, nil
}

// bindIn makes a unix socket in a folder, whose file stays when it is closed.
func bindIn(ctx context.Context, dir *os.File, name string) (*net.UnixListener, error) {
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		// On Linux a socket's file gets the socket's mode.
		if e := raw.Control(func(fd uintptr) { err = unix.Fchmod(int(fd), 0o600) }); e != nil {
			return e
		}
		return err
	}}
	l, err := config.Listen(ctx, "unix", descriptorPath(dir)+"/"+name)
	if err != nil {
		return nil, err
	}
	u := l.(*net.UnixListener)
	u.SetUnlinkOnClose(false)
	return u, nil
}

// socketListener is a unix socket that goes with its listener.
type socketListener struct {
	*net.UnixListener
	dir  *os.File
	name string
}

// Close closes the socket and removes its file. It is called once.
func (l *socketListener) Close() error {
	err := l.UnixListener.Close()
	_ = unix.Unlinkat(int(l.dir.Fd()), l.name, 0) // somebody else may have removed it
	l.dir.Close()
	return err
}
