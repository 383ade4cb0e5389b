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
	// stopped: a request was given up, and the keeper has not answered since.
	stopped atomic.Bool
	out     outbox
	// Pid, Version and Boot are the keeper's process id, its program's version, and the boot id of
	// the machine.
	Pid           int
	Version, Boot string
	protocol      int

	mu      sync.Mutex // guards the fields below
	seq     uint64
	waiting map[uint64]*request
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
		waiting: map[uint64]*request{}, terms: map[string]*Child{},
	}
	c.out.conn = c.conn
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
	if stopped := unanswered(c.conn, err); stopped != nil {
		return stopped
	}
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
		if m.Op == opAnswer {
			c.answered(m)
		} else {
			closeFiles(m.files)
		}
	}
	c.conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.done)
	for _, r := range c.waiting {
		close(r.answers)
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

// ask sends a request and calls each with every message of the answer. It fails with ErrGone, with
// *StoppedError, or with the keeper's error, which unwraps to the system's error if it is one.
func (c *Client) ask(m message, each func(message)) error { return c.askFor(m, each, nil) }

// askFor is ask for a request that can be undone: late gets an answer that comes after askFor has
// failed with *StoppedError.
func (c *Client) askFor(m message, each, late func(message)) error {
	seq, answers, err := c.request(m)
	if err != nil {
		return err
	}
	return c.await(seq, answers, each, late)
}

// request sends a request and returns where its answer comes: see await. It fails at once while the
// keeper does not answer an earlier one.
func (c *Client) request(m message) (seq uint64, answers <-chan message, err error) {
	if c.stopped.Load() && m.Op != opCheck {
		return 0, nil, &StoppedError{c.Pid}
	}
	r := &request{answers: make(chan message, answerPage)}
	c.mu.Lock()
	if c.waiting == nil {
		c.mu.Unlock()
		return 0, nil, ErrGone
	}
	c.seq++
	m.Seq = c.seq
	c.waiting[m.Seq] = r
	c.mu.Unlock()
	m.Until = monotonic() + Patience.Nanoseconds()
	p, err := m.encode()
	if err == nil {
		err = c.out.post(p)
	}
	if err == nil {
		return m.Seq, r.answers, nil
	}
	c.mu.Lock()
	delete(c.waiting, m.Seq)
	c.mu.Unlock()
	if isGone(err) {
		err = ErrGone
	}
	return 0, nil, err
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

// Start starts a program. The files of m still belong to the caller. It fails with ErrGone,
// *StoppedError, or with the system's error (syscall.Errno) of execve(2). If the program starts
// after Start has failed with *StoppedError, late gets it, on a goroutine of its own, to end it.
func (c *Client) Start(p Program, m Memory, late func(*Child)) (*Child, error) {
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
	return c.obtain(t, p.ID, message{Op: opStart, files: append(files, t.files...)}, late)
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
	return c.obtain(t, id, message{Op: opTake, ID: id}, nil)
}

// obtain fills in t from the answer to a request. late, if it is not nil, gets what a late answer
// is about.
func (c *Client) obtain(
	t *Child, id string, request message, late func(*Child),
) (*Child, error) {
	c.mu.Lock()
	c.terms[id] = t // its end may be reported right after the answer
	c.mu.Unlock()
	var undo func(message)
	if late != nil {
		secret := t.Secret
		undo = func(m message) { c.undo(id, secret, m, late) }
	}
	err := c.askFor(request, func(m message) {
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
	}, undo)
	if err == nil && t.ID != id {
		err = errors.New("keeper: the answer is about another terminal")
	}
	if err == nil {
		err = t.mapLandings()
	}
	if err != nil {
		c.mu.Lock()
		if c.terms[id] == t { // else it has been started late
			delete(c.terms, id)
		}
		c.mu.Unlock()
		t.Close()
		return nil, err
	}
	if t.Exit != nil {
		t.ended(*t.Exit)
	}
	return t, nil
}

// undo passes a program that has started too late to late.
func (c *Client) undo(id, secret string, m message, late func(*Child)) {
	t := &Child{client: c, exitKnown: make(chan struct{}), Secret: secret, files: m.files}
	if len(m.Terms) != 1 || m.Terms[0].ID != id {
		t.Close()
		return
	}
	t.Info, t.over = m.Terms[0], true
	c.mu.Lock()
	c.terms[id] = t
	c.mu.Unlock()
	go late(t) // ends with the program
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
func (c *Client) tell(m message) {
	if p, err := m.encode(); err == nil {
		_ = c.out.post(p)
	}
}

// Stop ends the keeper, and returns when its process is gone. The system hangs up the terminals
// that it still had.
func (c *Client) Stop() error {
	pidfd, opened := unix.PidfdOpen(c.Pid, 0)
	if err := c.ask(message{Op: opStop}, func(message) {}); err != nil && err != ErrGone {
		if opened == nil {
			unix.Close(pidfd)
		}
		return err
	}
	<-c.done
	if opened == nil {
		_ = awaitPidfd(pidfd, func() (bool, error) { return pidfdEnded(pidfd) })
	}
	return nil
}

// Close ends the connection. From then on the keeper reads the terminals, and their descriptors
// must not be used.
func (c *Client) Close() {
	c.left.Store(true)
	c.conn.Close()
	<-c.done
}
