package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ptypool/statefile"
)

// Errors of a connection to a keeper.
var (
	// ErrNone says that no keeper answers in the folder.
	ErrNone = errors.New("keeper: none is running")
	// ErrGone says that the keeper has ended, or that the connection was closed.
	ErrGone = errors.New("keeper: the keeper has ended")
)

// BusyError says that another host is connected.
type BusyError struct{ Pid int } // the other host's process id

func (e *BusyError) Error() string {
	return fmt.Sprintf("keeper: another host is connected: process %d", e.Pid)
}

// VersionError says that this program and the running keeper have no common version of the
// protocol.
type VersionError struct {
	Version string // the keeper's
	Why     string
	Pid     int // the keeper's process
}

// Error also says what to do.
func (e *VersionError) Error() string {
	return fmt.Sprintf("the keeper of the running terminals (version %s) does not go with this "+
		"program: %s; run that version, or end its terminals with `termhost stop`",
		e.Version, e.Why)
}

// Client is a host's connection to a keeper. All methods may be called concurrently.
type Client struct {
	conn *conn
	done chan struct{} // closed when the keeper is gone
	left atomic.Bool   // Close was called
	// Pid, Version and Boot are the keeper's process id, its program's version, and the boot id of
	// the machine.
	Pid           int
	Version, Boot string
	protocol      int

	mu      sync.Mutex // guards the fields below
	seq     uint64
	waiting map[uint64]chan message
	terms   map[string]*Child
}

// answerPage is how many messages of one answer are buffered: more than a list has.
const answerPage = 64

// Dial connects to the keeper in the folder. version is this program's. It fails with ErrNone, a
// *BusyError or a *VersionError.
func Dial(folder, version string) (*Client, error) {
	dir, err := statefile.OpenFolder(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	addr := socketIn(dir)
	nc, err := net.DialUnix(addr.Net, nil, addr)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ECONNREFUSED) ||
		errors.Is(err, unix.ELOOP) { // a new keeper replaces it by its socket
		return nil, ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("keeper: %w", err)
	}
	c := &Client{
		conn: &conn{UnixConn: nc}, done: make(chan struct{}),
		waiting: map[uint64]chan message{}, terms: map[string]*Child{},
	}
	if err := c.hello(version); err != nil {
		nc.Close()
		return nil, err
	}
	go c.receive() // until the connection ends
	return c, nil
}

// hello introduces this host and returns the keeper's introduction.
func (c *Client) hello(version string) error {
	_ = c.conn.SetDeadline(time.Now().Add(helloTime))
	err := c.conn.send(message{
		Op: opHello, Protocol: Protocol, Oldest: Oldest, Version: version, Pid: os.Getpid(),
	})
	var m message
	for err == nil && m.Op != opAnswer { // a program may end meanwhile; the list reports that
		m, err = c.conn.receive()
	}
	_ = c.conn.SetDeadline(time.Time{})
	switch {
	case err != nil: // the keeper is ending, or refuses our user
		return fmt.Errorf("%w: %w", ErrGone, err)
	case m.Busy:
		return &BusyError{Pid: m.Pid}
	case m.Error != "":
		return &VersionError{Version: m.Version, Why: m.Error, Pid: m.Pid}
	case m.Protocol < Oldest:
		return &VersionError{Version: m.Version, Why: "it is too old", Pid: m.Pid}
	case m.Oldest > Protocol:
		return &VersionError{Version: m.Version, Why: "it is newer", Pid: m.Pid}
	}
	c.Pid, c.Version, c.Boot, c.protocol = m.Pid, m.Version, m.Boot, m.Protocol
	return nil
}

// receive dispatches the keeper's messages.
func (c *Client) receive() {
	for {
		m, err := c.conn.receive()
		if err != nil {
			break
		}
		if m.Op == opExited && len(m.Terms) == 1 {
			c.exited(m.Terms[0])
		}
		c.mu.Lock()
		to := c.waiting[m.Seq]
		if !m.More {
			delete(c.waiting, m.Seq)
		}
		c.mu.Unlock()
		if m.Op == opAnswer && to != nil {
			to <- m
		} else {
			closeFiles(m.files)
		}
	}
	c.conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.done)
	for _, to := range c.waiting {
		close(to)
	}
	c.waiting = nil
}

// exited records that a terminal's program has ended.
func (c *Client) exited(i Info) {
	c.mu.Lock()
	t := c.terms[i.ID]
	c.mu.Unlock()
	if t != nil && i.Exit != nil {
		t.ended(*i.Exit)
	}
}

// ask sends a request and calls each with every message of the answer. It fails with ErrGone, or
// with the keeper's error, which unwraps to the system's error if it is one.
func (c *Client) ask(m message, each func(message)) error {
	answers, err := c.request(m)
	if err != nil {
		return err
	}
	return await(answers, each)
}

// request sends a request and returns where its answer comes: see await.
func (c *Client) request(m message) (answers <-chan message, err error) {
	to := make(chan message, answerPage)
	c.mu.Lock()
	if c.waiting == nil {
		c.mu.Unlock()
		return nil, ErrGone
	}
	c.seq++
	m.Seq = c.seq
	c.waiting[m.Seq] = to
	c.mu.Unlock()
	if err := c.conn.send(m); err != nil {
		c.mu.Lock()
		delete(c.waiting, m.Seq)
		c.mu.Unlock()
		if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) ||
			errors.Is(err, net.ErrClosed) {
			return nil, ErrGone
		}
		return nil, err
	}
	return to, nil
}

// await calls each with every message of an answer.
func await(answers <-chan message, each func(message)) error {
	for a := range answers {
		switch {
		case a.Errno != 0:
			return a.Errno
		case a.Error != "":
			return errors.New(a.Error)
		}
		each(a)
		if !a.More {
			return nil
		}
	}
	return ErrGone
}

// Gone is closed when the keeper has ended or the connection was closed.
func (c *Client) Gone() <-chan struct{} { return c.done }

func (c *Client) isGone() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// List returns the keeper's terminals, the oldest first.
func (c *Client) List() (all []Info, err error) {
	err = c.ask(message{Op: opList}, func(m message) { all = append(all, m.Terms...) })
	return all, err
}

// Memory has files that the keeper holds for the next host: see [Child.Memory], [Child.Trail] and
// [Child.Decided].
type Memory struct {
	Log     []*os.File // the segments of its log, if that is in memory only
	Trail   *os.File   // of a Shared whose content only hosts know; nil: there is none
	Decided *os.File   // likewise: what people have decided about the terminal
}

// Start starts a program. The files of m still belong to the caller. It fails with ErrGone, or with
// the system's error (syscall.Errno) of execve(2).
func (c *Client) Start(p Program, m Memory) (*Child, error) {
	fd, err := programFile(p)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	files := []file{{fdProgram, fd}}
	t := &Child{
		client: c, exitKnown: make(chan struct{}), Secret: p.secret(), Note: p.Note,
		place: place{p.Log, p.Exit},
	}
	for range p.outputs() {
		l, err := NewLanding()
		if err != nil {
			t.Close()
			return nil, err
		}
		t.Landings = append(t.Landings, l)
		files = append(files, file{fdLanding, int(l.File().Fd())})
	}
	hold := func(name string, f *os.File) error {
		own, err := dup(int(f.Fd()))
		if err == nil {
			t.files = append(t.files, file{name, own})
		}
		return err
	}
	for _, f := range m.Log {
		if err := hold(fdMemory, f); err != nil {
			t.Close()
			return nil, err
		}
	}
	if m.Trail != nil {
		if err := hold(fdTrail, m.Trail); err != nil {
			t.Close()
			return nil, err
		}
	}
	if m.Decided != nil {
		if err := hold(fdDecided, m.Decided); err != nil {
			t.Close()
			return nil, err
		}
	}
	return c.obtain(t, p.ID, message{Op: opStart, files: append(files, t.files...)})
}

// Seals reports whether the keeper gives shells their nonces (Program.Grant). A keeper of an older
// version does not.
func (c *Client) Seals() bool { return c.protocol >= sealing }

// outputs returns how many outputs the program has.
func (p *Program) outputs() int {
	if p.Pipes {
		return 2
	}
	return 1
}

// programFile returns a file in memory with p.
func programFile(p Program) (fd int, err error) {
	data, err := json.Marshal(p)
	if err != nil {
		return -1, err
	}
	if fd, err = unix.MemfdCreate("termhost program", unix.MFD_CLOEXEC); err != nil {
		return -1, err
	}
	for len(data) > 0 {
		n, err := unix.Write(fd, data)
		if err != nil {
			unix.Close(fd)
			return -1, err
		}
		data = data[n:]
	}
	return fd, nil
}

// Take takes over the terminal with that id: from then on only this process reads its output.
func (c *Client) Take(id string) (*Child, error) {
	t := &Child{client: c, exitKnown: make(chan struct{})}
	return c.obtain(t, id, message{Op: opTake, ID: id})
}

// obtain fills in t from the answer to a request.
func (c *Client) obtain(t *Child, id string, request message) (*Child, error) {
	c.mu.Lock()
	c.terms[id] = t // its end may be reported right after the answer
	c.mu.Unlock()
	err := c.ask(request, func(m message) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if len(m.Terms) == 1 {
			t.Info = m.Terms[0]
		}
		t.files = append(t.files, m.files...)
		if m.Note != nil {
			t.Note = m.Note
		}
		if m.Secret != "" {
			t.Secret = m.Secret
		}
	})
	if err == nil && t.ID != id {
		err = errors.New("keeper: the answer is about another terminal")
	}
	if err == nil {
		err = t.mapLandings()
	}
	if err != nil {
		c.mu.Lock()
		delete(c.terms, id)
		c.mu.Unlock()
		t.Close()
		return nil, err
	}
	if t.Exit != nil {
		t.ended(*t.Exit)
	}
	return t, nil
}

// drop stops waiting for t's end.
func (c *Client) drop(t *Child) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.terms[t.ID] == t {
		delete(c.terms, t.ID)
	}
}

// tell sends a message that gets no answer. Errors are ignored: they say that the keeper is gone.
func (c *Client) tell(m message) { _ = c.conn.send(m) }

// Stop ends the keeper, and returns when its process is gone. The system hangs up the terminals
// that it still had.
func (c *Client) Stop() error {
	pidfd, err := unix.PidfdOpen(c.Pid, 0)
	if err == nil {
		defer func() {
			_ = awaitPidfd(pidfd, func() (bool, error) { return pidfdEnded(pidfd) })
		}()
	}
	if err := c.ask(message{Op: opStop}, func(message) {}); err != nil && err != ErrGone {
		return err
	}
	<-c.done
	return nil
}

// Close ends the connection. From then on the keeper reads the terminals, and their descriptors
// must not be used.
func (c *Client) Close() {
	c.left.Store(true)
	c.conn.Close()
	<-c.done
}
