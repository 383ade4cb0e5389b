package keeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ptypool/cgroup"
	"termhost/ptypool/statefile"
	"termhost/ptypool/termlog"
)

const (
	socketName = "sock"
	lockName   = "lock"
	logName    = "log"

	// lockPatience is how long a new keeper waits for one that is ending.
	lockPatience = 2 * time.Second
	lockPoll     = 10 * time.Millisecond
	// awaitPoll is how often Config.Await looks whether the other keeper has ended.
	awaitPoll = time.Second
	// helloTime bounds how long a new connection may take to introduce itself.
	helloTime = 5 * time.Second
	// DefaultLinger is how long a keeper without terminals waits for another host: longer than a
	// host takes to restart.
	DefaultLinger = 10 * time.Second
)

// Config configures a keeper.
type Config struct {
	// Dir is the keeper's folder, which must exist and which nobody else may enter.
	Dir string
	// Version is the program's version, for display.
	Version string
	// Linger is how long the keeper stays without a terminal and a host; 0: DefaultLinger.
	Linger time.Duration
	// Groups has the control groups of programs; nil: they stay in the keeper's.
	Groups *cgroup.Tree
	// Ready is called when hosts can connect.
	Ready func()
	// Await has the keeper wait for the end of another one that runs in the folder, rather than
	// fail; hosts connect to that one meanwhile, and Ready is called before.
	Await bool
	// Log gets errors, never programs' output, arguments or environment.
	Log *log.Logger
}

// server is a running keeper.
type server struct {
	cfg Config
	ctx context.Context // ends when the keeper should end
	end func()          // ends it

	busy   sync.Mutex // see drain
	buf    []byte
	logBuf termlog.Buffer

	mu    sync.Mutex // guards the fields below
	terms map[string]*kept
	order []*kept  // by age
	host  *session // nil: none
	idle  *time.Timer
}

// Serve runs a keeper until it has neither terminals nor a host, a host stops it, or ctx ends. The
// system then hangs up its remaining terminals, because nothing has them open. It fails if a keeper
// already runs in the folder, unless cfg.Await is set.
func Serve(ctx context.Context, cfg Config) error {
	if cfg.Linger == 0 {
		cfg.Linger = DefaultLinger
	}
	dir, err := statefile.OpenFolder(cfg.Dir)
	if err != nil {
		return fmt.Errorf("keeper: %w", err)
	}
	defer dir.Close()
	ready := sync.OnceFunc(func() {
		if cfg.Ready != nil {
			cfg.Ready()
		}
	})
	lock, err := lockFolder(cfg.Dir)
	if cfg.Await && errors.Is(err, errAnother) {
		cfg.Log.Print("another keeper runs in this folder: waiting until it ends")
		ready()
		for errors.Is(err, errAnother) {
			if pause(ctx, awaitPoll); ctx.Err() != nil {
				return nil
			}
			lock, err = tryLock(cfg.Dir)
		}
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	l, err := listen(dir)
	if err != nil {
		return fmt.Errorf("keeper: %w", err)
	}
	s := &server{cfg: cfg, buf: make([]byte, drainRead), terms: map[string]*kept{}}
	s.ctx, s.end = context.WithCancel(ctx)
	s.idle = time.AfterFunc(cfg.Linger, s.end)
	accepting := make(chan struct{})
	go func() {
		defer close(accepting)
		s.accept(l)
	}()
	ready()
	<-s.ctx.Done()
	l.Close() // removes the socket
	<-accepting
	s.abandon()
	return nil
}

var errAnother = errors.New("keeper: another one is running in this folder")

// lockFolder is tryLock that waits lockPatience for a keeper that is ending.
func lockFolder(dir string) (*os.File, error) {
	for deadline := time.Now().Add(lockPatience); ; time.Sleep(lockPoll) {
		f, err := tryLock(dir)
		if !errors.Is(err, errAnother) || time.Now().After(deadline) {
			return f, err
		}
	}
}

// tryLock takes the folder's lock, which only one keeper can hold. It fails with errAnother if one
// does.
func tryLock(dir string) (*os.File, error) {
	f, err := statefile.Open(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keeper: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, errAnother
	}
	return f, nil
}

// socketIn returns the address of the socket in an open folder. It does not use the folder's path,
// which may be longer than an address (unix(7): 107 bytes).
func socketIn(dir *os.File) *net.UnixAddr {
	return &net.UnixAddr{
		Net: "unixpacket", Name: fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), socketName),
	}
}

// listen listens in the folder. Its lock is held, so a socket in it is that of a dead keeper.
func listen(dir *os.File) (*net.UnixListener, error) {
	addr := socketIn(dir)
	if err := os.Remove(addr.Name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix(addr.Net, addr)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(addr.Name, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// accept accepts hosts until l is closed.
func (s *server) accept(l *net.UnixListener) {
	var sessions sync.WaitGroup
	defer sessions.Wait()
	for {
		c, err := l.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, say
			s.cfg.Log.Print("accepting a host: ", err)
			time.Sleep(lockPoll)
			continue
		}
		sessions.Go(func() { s.serve(&conn{UnixConn: c}) })
	}
}

// peer returns the id of the process on the other side. It fails unless that process has the same
// user as this one.
func peer(c *conn) (pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, err
	}
	if failed != nil {
		return 0, failed
	}
	if own := os.Geteuid(); int(cred.Uid) != own {
		return 0, fmt.Errorf("user id %d is not %d", cred.Uid, own)
	}
	return int(cred.Pid), nil
}

// serve serves a connection until it ends.
func (s *server) serve(c *conn) {
	defer c.Close()
	unblock := context.AfterFunc(s.ctx, func() { c.Close() })
	defer unblock()
	pid, err := peer(c)
	if err != nil {
		s.cfg.Log.Print("a connection is refused: ", err)
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(helloTime))
	hello, err := c.receive()
	closeFiles(hello.files) // a hello has none
	if err != nil || hello.Op != opHello {
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	h := &session{s: s, conn: c, pid: pid}
	answer := message{
		Op: opAnswer, Seq: hello.Seq, Protocol: Protocol, Oldest: Oldest,
		Version: s.cfg.Version, Boot: BootID(), Pid: os.Getpid(),
	}
	switch other := s.admit(h, hello.Protocol); {
	case hello.Protocol < Oldest:
		answer.Error = fmt.Sprintf("this keeper (%s) does not serve a host as old as %s",
			s.cfg.Version, hello.Version)
	case other != nil:
		answer.Busy, answer.Pid = true, other.pid
		answer.Error = "another host is connected"
	default:
		defer s.hostGone(h)
		if c.send(answer) == nil {
			err := h.run()
			if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				s.cfg.Log.Print("the connection to the host: ", err)
			}
		}
		return
	}
	_ = c.send(answer)
}

// admit makes h the host, unless there is another one, which it returns, or its version is
// incompatible.
func (s *server) admit(h *session, protocol int) (other *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.host == nil && protocol >= Oldest {
		s.host = h
		s.settle()
		return nil
	}
	return s.host
}

// hostGone begins to drain all terminals. The connection is closed, so the host does not read any
// more.
func (s *server) hostGone(h *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.order {
		s.readOn(t)
	}
	s.host = nil
	s.settle()
}

// readOn begins to drain t, unless a host reads it. The lock is held.
func (s *server) readOn(t *kept) {
	t.mu.Lock()
	reading := t.drain != nil
	t.mu.Unlock()
	if reading {
		return // it is drained already, because no host has taken it
	}
	d := s.newDrain(t)
	t.mu.Lock()
	if t.drain = d; t.exit != nil {
		d.programEnded()
	}
	t.mu.Unlock()
	go func() { // ends at the end of the output, when a host takes t, or with the process
		d.run()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.settle()
	}()
}

// settle sets the timer that ends a keeper without terminals and host. The lock is held.
func (s *server) settle() {
	needed := s.host != nil
	for _, t := range s.order {
		needed = needed || t.running() || t.draining()
	}
	if needed {
		s.idle.Stop()
	} else {
		s.idle.Reset(s.cfg.Linger)
	}
}

// add keeps t.
func (s *server) add(t *kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.terms[t.id] = t
	s.order = append(s.order, t)
	s.settle()
}

// watch waits until t has ended, and reports that to the host.
func (s *server) watch(t *kept, pidfd int) {
	if err := t.wait(pidfd); err != nil {
		s.cfg.Log.Print("waiting for a program: ", err)
	}
	s.mu.Lock()
	h := s.host
	s.settle()
	s.mu.Unlock()
	if h != nil {
		// A later host learns of it from the list.
		_ = h.conn.send(message{Op: opExited, Terms: []Info{t.info()}})
	}
}

// find returns the terminal with that id; nil: none.
func (s *server) find(id string) *kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.terms[id]
}

// list returns all terminals, the oldest first.
func (s *server) list() (all []Info) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.order {
		all = append(all, t.info())
	}
	return all
}

// forget releases the child with that id.
func (s *server) forget(id string) {
	s.mu.Lock()
	t := s.terms[id]
	delete(s.terms, id)
	for i, o := range s.order {
		if o == t {
			s.order = append(s.order[:i:i], s.order[i+1:]...)
			break
		}
	}
	s.settle()
	s.mu.Unlock()
	if t != nil {
		t.stopDraining()
		t.close("")
		s.cfg.Groups.Sweep()
	}
}

// abandon releases all children.
func (s *server) abandon() {
	for _, t := range s.list() {
		s.forget(t.ID)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle.Stop()
}
