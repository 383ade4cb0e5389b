package keeper

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"termhost/ptypool/proctag"
	"termhost/ptypool/statefile"
)

const (
	// startTime bounds how long a new keeper may take to listen.
	startTime = 10 * time.Second
	// launches bounds how many keepers are started one after another while none answers.
	launches = 2
	// goneTime is how long a host that has ended may still seem connected: its last thread may
	// leave the kernel after its killer has continued.
	goneTime = 2 * time.Second
	// dyingTime is how long an unresponsive keeper may take to end on a busy machine.
	dyingTime = 10 * time.Second
	gonePoll  = 5 * time.Millisecond
	// maxLogFile, in bytes, is the length beyond which the keeper's log is emptied at a start. A
	// keeper writes only a few lines.
	maxLogFile = 1 << 20
	// ReadyFD is the descriptor on which a keeper that Link has started reports what is wrong, or,
	// by closing it, that it listens.
	ReadyFD = 3
)

// Link is a host's connection to its keeper. It starts a keeper if none answers, and another one
// when that has died. All methods may be called concurrently.
type Link struct {
	// Dir is the absolute path of the keeper's folder. It is made if it is missing.
	Dir string
	// Version is that of this program.
	Version string
	// Command is the command line of a keeper for Dir.
	Command []string
	Log     *slog.Logger

	mu      sync.Mutex // guards the fields below; held while connecting
	client  *Client    // nil: not connected
	own     int        // the process id of the keeper that was started last; 0: none was
	orphans []*Child   // of keepers that have died, that no other has adopted yet
}

// Connect returns the connection to a keeper, and connects if there is none. It fails with a
// *BusyError, a *VersionError or a *StoppedError, or if no keeper can be started.
func (l *Link) Connect() (*Client, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.connected() {
		return l.client, nil
	}
	c, err := l.dial()
	for tries := 0; errors.Is(err, ErrNone) && tries < launches; tries++ {
		// A keeper that another host has just started may listen by now, so that ours has ended. Or
		// none runs again, because ours has ended already.
		launched := l.launch()
		if c, err = l.dial(); launched != nil && errors.Is(err, ErrNone) {
			err = launched
		}
	}
	l.client = c
	return c, err
}

// connected reports whether there is a connection. If its keeper has died, its terminals become
// orphans. The lock is held.
func (l *Link) connected() bool {
	if l.client == nil || !l.client.isGone() {
		return l.client != nil
	}
	if !l.client.left.Load() {
		left := l.client.takeTerms()
		l.Log.Warn("the keeper has died: exit statuses of its terminals may be lost",
			"pid", l.client.Pid, "terminals", len(left))
		l.orphans = append(l.orphans, left...)
	}
	l.client = nil
	return false
}

// launched reports whether this process has started the keeper.
func (l *Link) launched(c *Client) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return c.Pid == l.own
}

// dial connects to the running keeper. It waits for a host that has just ended, or a keeper that is
// ending, to be gone.
func (l *Link) dial() (*Client, error) {
	for begun := time.Now(); ; time.Sleep(gonePoll) {
		c, err := Dial(l.Dir, l.Version)
		var busy *BusyError
		patience := time.Duration(0)
		switch {
		case errors.As(err, &busy):
			patience = goneTime
		case errors.Is(err, ErrGone):
			patience = dyingTime
		}
		if time.Since(begun) >= patience {
			return c, err
		}
	}
}

// Start starts a program: see [Client.Start]. If the keeper dies meanwhile, no program is left: its
// pty is gone with the keeper.
func (l *Link) Start(p Program, m Memory, late func(*Child)) (*Child, error) {
	for again := true; ; again = false {
		c, err := l.Connect()
		if err != nil {
			return nil, err
		}
		t, err := c.Start(p, m, late)
		if !again || !errors.Is(err, ErrGone) {
			return t, err
		}
	}
}

// Seals is [Client.Seals], or false if no keeper is connected.
func (l *Link) Seals() bool {
	c, err := l.Connect()
	return err == nil && c.Seals()
}

// Running connects to the keeper, if one runs, and reports whether it does. It starts none. It
// fails with a *BusyError or a *VersionError.
func (l *Link) Running() (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.connected() {
		return true, nil
	}
	c, err := l.dial()
	if errors.Is(err, ErrNone) {
		return false, nil
	}
	l.client = c
	return c != nil, err
}

// List returns the keeper's terminals, the oldest first.
func (l *Link) List() ([]Info, error) {
	c, err := l.Connect()
	if err != nil {
		return nil, err
	}
	return c.List()
}

// Take returns the terminal with that id, see [Client.Take].
func (l *Link) Take(id string) (*Child, error) {
	c, err := l.Connect()
	if err != nil {
		return nil, err
	}
	return c.Take(id)
}

// Stop ends the keeper, if there is one.
func (l *Link) Stop() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.client
	l.client = nil
	if c == nil || c.isGone() {
		var err error
		if c, err = l.dial(); errors.Is(err, ErrNone) {
			return nil
		} else if err != nil {
			return err
		}
	}
	defer c.Close()
	return c.Stop()
}

// launch starts a keeper and waits until it listens. The keeper has a process session of its own,
// so that no terminal's signals reach it, and inherits none of this process's descriptors. The lock
// is held.
func (l *Link) launch() error {
	if err := os.MkdirAll(l.Dir, 0o700); err != nil {
		return fmt.Errorf("keeper: %w", err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	log, err := openLogFile(filepath.Join(l.Dir, logName))
	if err != nil {
		return fmt.Errorf("keeper: %w", err)
	}
	defer log.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	pidfd := -1
	var p *os.Process
	proctag.Untagged(func() {
		p, err = os.StartProcess(l.Command[0], l.Command, &os.ProcAttr{
			Dir:   "/",
			Files: []*os.File{null, log, log, ReadyFD: w},
			Sys:   &syscall.SysProcAttr{Setsid: true, PidFD: &pidfd},
		})
	})
	w.Close()
	if err != nil {
		return fmt.Errorf("keeper: the keeper cannot be started: %w", err)
	}
	l.own = p.Pid
	go bury(p.Pid, pidfd) // ends with the keeper
	_ = p.Release()       // it releases memory only
	_ = r.SetReadDeadline(time.Now().Add(startTime))
	said, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("keeper: the keeper does not answer: %w", err)
	}
	if len(said) > 0 {
		return fmt.Errorf("keeper: the keeper did not start: %s", strings.TrimSpace(string(said)))
	}
	return nil
}

// bury collects the status of a keeper that ends before this process.
func bury(pid, pidfd int) {
	_ = awaitPidfd(pidfd, func() (bool, error) {
		got, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		return got == pid || err != nil && err != syscall.EINTR, nil
	})
}

// openLogFile opens the keeper's log. It empties one that has become long.
func openLogFile(path string) (*os.File, error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if st, err := os.Stat(path); err == nil && st.Size() > maxLogFile {
		flags |= os.O_TRUNC
	}
	return statefile.Open(path, flags, 0o600)
}
