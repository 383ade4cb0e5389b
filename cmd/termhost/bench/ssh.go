package bench

import (
	"errors"
	"net"
	"os/user"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

// overSSH adds a server that is reached by SSH; command returns the one that runs a line of shell.
func (rs *Rivals) overSSH(name, addr string, pid int, names []string,
	command func(line string) string) *Rival {
	r := &Rival{Name: name, pid: pid, dir: rs.dir, names: names}
	r.Dial = func() (*ssh.Client, error) { return dialSSH(addr, rs.signer) }
	r.open = func(line string) (*Session, error) { return r.startSSH(command(line), window{}) }
	rs.List = append(rs.List, r)
	return r
}

// startSSH logs in and runs a command on a pty.
func (r *Rival) startSSH(command string, w window) (*Session, error) {
	c, err := r.Dial()
	if err != nil {
		return nil, err
	}
	s, err := startSSH(c, command, w)
	if err != nil {
		c.Close()
	}
	return s, err
}

// run logs in, runs a command without a pty and returns what it prints.
func (r *Rival) run(command string) (string, error) {
	c, err := r.Dial()
	if err != nil {
		return "", err
	}
	defer c.Close()
	s, err := c.NewSession()
	if err != nil {
		return "", err
	}
	defer s.Close()
	late := time.AfterFunc(patience, func() { c.Close() })
	defer late.Stop()
	out, err := s.Output(command)
	var exit *ssh.ExitError
	if errors.As(err, &exit) {
		err = errors.New(exit.Error() + ": " + command)
	}
	return string(out), err
}

// dialSSH logs in as this process's user. The server is the measurement's own.
func dialSSH(addr string, key ssh.Signer) (*ssh.Client, error) {
	u, err := user.Current()
	if err != nil {
		return nil, err
	}
	config := &ssh.ClientConfig{User: u.Username, Auth: []ssh.AuthMethod{ssh.PublicKeys(key)},
		HostKeyCallback: ssh.InsecureIgnoreHostKey()}
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	s := &stallable{Conn: c, closed: make(chan struct{})}
	late := time.AfterFunc(patience, func() { s.Close() })
	defer late.Stop()
	conn, chans, reqs, err := ssh.NewClientConn(s, addr, config)
	if err != nil {
		s.Close()
		return nil, err
	}
	return ssh.NewClient(stallableSSH{conn, s}, chans, reqs), nil
}

// stallable is a connection that can stop reading, as that of a machine does that sleeps.
type stallable struct {
	net.Conn
	stalled atomic.Bool
	closing sync.Once
	closed  chan struct{}
}

// stall stops reading until the connection is closed.
func (s *stallable) stall() {
	const least = 4096 // bytes that the system takes in the meantime; it rounds up
	_ = s.Conn.(*net.TCPConn).SetReadBuffer(least)
	s.stalled.Store(true)
}

func (s *stallable) Read(p []byte) (int, error) {
	if s.stalled.Load() {
		<-s.closed
	}
	return s.Conn.Read(p)
}

func (s *stallable) Close() error {
	s.closing.Do(func() { close(s.closed) })
	return s.Conn.Close()
}

// stallableSSH is an SSH connection on one.
type stallableSSH struct {
	ssh.Conn
	below *stallable
}
