package share

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// The size of a shared terminal whose user has no terminal.
const (
	defaultCols = 80
	defaultRows = 24
)

// userTerminal is the terminal of the user who shares: raw while the program runs, and afterwards
// as it was before. Its methods may be called concurrently.
type userTerminal struct {
	in, out *os.File
	// tty says whether the input is a terminal, and shown whether the output is one, which then
	// answers queries. They are not asked again: a terminal whose window was closed is none.
	tty, shown bool

	mu     sync.Mutex   // held over the calls that change the terminal; nothing else is locked then
	before *term.State  // the terminal's modes at first; nil: it was never made raw
	taken  bool         // the terminal is raw
	last   unix.Winsize // the size when it could be told last
}

func newUserTerminal(in, out *os.File) *userTerminal {
	return &userTerminal{in: in, out: out,
		tty: term.IsTerminal(int(in.Fd())), shown: term.IsTerminal(int(out.Fd())),
		last: unix.Winsize{Col: defaultCols, Row: defaultRows}}
}

// raw makes the terminal raw. It may be called again when somebody else has changed the terminal.
// If the input is no terminal it does nothing.
func (u *userTerminal) raw() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.tty {
		return nil
	}
	state, err := term.MakeRaw(int(u.in.Fd()))
	if err != nil {
		return err
	}
	if u.before == nil {
		u.before = state
	}
	u.taken = true
	return nil
}

// restore puts the terminal back into the modes it had at first. It may be called more than once.
// In the background the terminal is left as the shell has set it.
func (u *userTerminal) restore() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.taken && u.foreground() {
		_ = term.Restore(int(u.in.Fd()), u.before) // this fails only if the terminal is gone
	}
	u.taken = false
}

// foreground reports whether this process may use the terminal. Without job control every process
// may.
func (u *userTerminal) foreground() bool {
	group, err := unix.IoctlGetInt(int(u.in.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// awaitKeys waits until this process may read from the terminal and there is something to read. A
// read in the background would stop the process (SIGTTIN), which then could not handle SIGTERM.
func (u *userTerminal) awaitKeys() {
	const look = 50 * time.Millisecond // share does not stay in the background for long
	fds := []unix.PollFd{{Fd: int32(u.in.Fd()), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, -1)
		switch {
		case err == unix.EINTR:
		case err != nil || n > 0 && u.foreground():
			return
		default:
			time.Sleep(look)
		}
	}
}

// size returns the terminal's size, in cells and, if known, in pixels. A terminal that is gone has
// the size it had last.
func (u *userTerminal) size() unix.Winsize {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, f := range []*os.File{u.out, u.in} {
		ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
		if err == nil && ws.Col > 0 && ws.Row > 0 {
			u.last = *ws
			break
		}
	}
	return u.last
}
