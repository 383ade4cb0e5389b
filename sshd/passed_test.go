package sshd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"

	"termhost/authz"
)

// passedVariable has this program log in with a socket that it passes to itself: its value is an
// address and the file of a key.
const passedVariable = "TERMHOST_TEST_PASSED"

// passedLogins is how often it does.
const passedLogins = 50

// passedSocket is a connected socket that is on its way through a pair of unix sockets
// (SCM_RIGHTS) whenever it is not read or written. Then no process has it open.
type passedSocket struct {
	net.Conn // only its addresses are used
	mu       sync.Mutex
	pair     [2]int
}

func passSocket(addr string) (*passedSocket, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	f, err := conn.(*net.TCPConn).File()
	if err != nil {
		return nil, err
	}
	s := &passedSocket{Conn: conn}
	if s.pair, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return nil, err
	}
	fd, err := unix.Dup(int(f.Fd()))
	if err == nil {
		err = errors.Join(unix.SetNonblock(fd, true), f.Close(), conn.Close())
	}
	if err != nil {
		return nil, err
	}
	return s, s.pass(fd)
}

// pass sends the socket on its way.
func (s *passedSocket) pass(fd int) error {
	return errors.Join(unix.Sendmsg(s.pair[0], []byte{0}, unix.UnixRights(fd), nil, 0),
		unix.Close(fd))
}

// use calls do with the socket until that does not fail with EAGAIN.
func (s *passedSocket) use(do func(fd int) (int, error)) (int, error) {
	for {
		n, err := s.once(do)
		if !errors.Is(err, unix.EAGAIN) {
			return n, err
		}
	}
}

func (s *passedSocket) once(do func(fd int) (int, error)) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	control := make([]byte, unix.CmsgSpace(4))
	_, on, _, _, err := unix.Recvmsg(s.pair[1], make([]byte, 1), control, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return 0, err
	}
	parts, err := unix.ParseSocketControlMessage(control[:on])
	if err != nil || len(parts) != 1 {
		return 0, errors.Join(err, net.ErrClosed)
	}
	fds, err := unix.ParseUnixRights(&parts[0])
	if err != nil {
		return 0, err
	}
	n, err := do(fds[0])
	return n, errors.Join(err, s.pass(fds[0]))
}

func (s *passedSocket) Read(p []byte) (int, error) {
	n, err := s.use(func(fd int) (int, error) { return again(unix.Read(fd, p)) })
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

func (s *passedSocket) Write(p []byte) (int, error) {
	return s.use(func(fd int) (int, error) { return again(unix.Write(fd, p)) })
}

// again returns the result of a system call.
func again(n int, err error) (int, error) { return max(n, 0), err }

func (s *passedSocket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := errors.Join(unix.Close(s.pair[0]), unix.Close(s.pair[1]))
	s.pair = [2]int{-1, -1} // the numbers are soon another one's
	return err
}

func (s *passedSocket) SetDeadline(time.Time) error { return nil }

// passedMain logs in again and again, and prints what the host says to a verb that only people may
// use.
func passedMain(value string) {
	addr, file, _ := strings.Cut(value, " ")
	key, err := os.ReadFile(file)
	if err == nil {
		var signer gossh.Signer
		if signer, err = gossh.ParsePrivateKey(key); err == nil {
			for i := 0; i < passedLogins && err == nil; i++ {
				err = passedLogin(addr, signer)
			}
		}
	}
	if err != nil {
		fmt.Println(err)
	}
}

func passedLogin(addr string, signer gossh.Signer) error {
	s, err := passSocket(addr)
	if err != nil {
		return err
	}
	conn, channels, requests, err := gossh.NewClientConn(s, addr, &gossh.ClientConfig{User: "me",
		Auth:            []gossh.AuthMethod{gossh.PublicKeys(signer)},
		HostKeyCallback: gossh.InsecureIgnoreHostKey()})
	if err != nil {
		return err
	}
	client := gossh.NewClient(conn, channels, requests)
	defer client.Close()
	session, err := client.NewSession()
	if err != nil {
		return err
	}
	said := &bytes.Buffer{}
	session.Stderr = said
	if out, err := session.Output("token"); err == nil {
		fmt.Printf("it has got a token: %s\n", out)
	}
	fmt.Print(said.String())
	return nil
}

// TestASocketThatIsPassedAroundIsNoPersons: a program in a terminal is found as such though no
// process has its socket open while the host looks for it.
func TestASocketThatIsPassedAroundIsNoPersons(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	got := r.inside(fmt.Sprintf("env %s='%s %s' %s", passedVariable, r.addr, r.path("alice"), self))
	if n := strings.Count(got.stdout, authz.RuleInside); n != passedLogins {
		t.Errorf("%d of %d logins are inside: %+v", n, passedLogins, got)
	}
}

// TestAPersonOfThisMachineIsNoProgramOfATerminal: whichever way a person's ssh takes on loopback.
func TestAPersonOfThisMachineIsNoProgramOfATerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t, forwarding(ForwardLoopback, crew()))
	proxy := "ssh " + strings.Join(r.sshArgs("alice"), " ") + " -W " + r.addr
	master := r.path("master")
	for name, options := range map[string][]string{
		"directly": nil,
		"a jump":   {"-o", "ProxyCommand=" + proxy},
		"a master": {"-o", "ControlMaster=auto", "-o", "ControlPath=" + master},
	} {
		args := append(r.sshArgs("alice", options...), "token")
		if got := r.runSSH("", args...); got.status != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
