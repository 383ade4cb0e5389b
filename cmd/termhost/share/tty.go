package share

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// The size of a shared terminal whose user has none.
const (
	defaultCols = 80
	defaultRows = 24
)

// userTerminal is the terminal of the user who shares: raw while the program
// runs, and as it was on every way out. Its methods may be called concurrently.
type userTerminal struct {
	in, out *os.File
	// tty says that somebody types at a terminal, and shown that the output goes to
	// one, which answers queries: at first, for a terminal that is gone is none.
	tty, shown bool

	mu     sync.Mutex
	before *term.State  // as it was at first; nil: it was never raw
	taken  bool         // it is not given back
	last   unix.Winsize // the size that was seen last
}

func newUserTerminal(in, out *os.File) *userTerminal {
	return &userTerminal{in: in, out: out, tty: term.IsTerminal(int(in.Fd())), shown: term.IsTerminal(int(out.Fd())),
		last: unix.Winsize{Col: defaultCols, Row: defaultRows}}
}

// raw makes the terminal raw, also where somebody else has changed it since.
// Where standard input is no terminal it does nothing.
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

// restore gives the terminal back as it was at first. It may be called again. In
// the background it is the shell's, which has made of it what it likes.
func (u *userTerminal) restore() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.taken && u.foreground() {
		_ = term.Restore(int(u.in.Fd()), u.before) // a terminal that is gone needs nothing
	}
	u.taken = false
}

// foreground reports whether this process may use the terminal. Where there is no
// job control everybody may.
func (u *userTerminal) foreground() bool {
	group, err := unix.IoctlGetInt(int(u.in.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// awaitKeys waits until something can be read from the terminal, which is then
// this process's to read. Unlike a read, it never stops the process in the
// background, where SIGTERM would find nobody to obey it.
func (u *userTerminal) awaitKeys() {
	const look = 50 * time.Millisecond // in the background share stays for a moment only
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

// size returns the terminal's size, in cells and in pixels where they are known. One
// that is gone has the size that it had.
func (u *userTerminal) size() unix.Winsize {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, f := range []*os.File{u.out, u.in} {
		if ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && ws.Col > 0 && ws.Row > 0 {
			u.last = *ws
			break
		}
	}
	return u.last
}
