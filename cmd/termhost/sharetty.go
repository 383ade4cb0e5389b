package main

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// The size of a shared terminal whose user has none.
const (
	shareCols = 80
	shareRows = 24
)

// userTerminal is the terminal of the user who shares: raw while the program
// runs, and as it was on every way out. Its methods may be called concurrently.
type userTerminal struct {
	in, out *os.File

	mu    sync.Mutex
	state *term.State // nil: it is not raw
}

// raw makes the terminal raw. Where standard input is no terminal it does nothing.
func (u *userTerminal) raw() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.state != nil || !u.typed() {
		return nil
	}
	state, err := term.MakeRaw(int(u.in.Fd()))
	if err == nil {
		u.state = state
	}
	return err
}

// restore gives the terminal back as it was. It may be called again.
func (u *userTerminal) restore() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.state != nil {
		_ = term.Restore(int(u.in.Fd()), u.state) // a terminal that is gone needs nothing
		u.state = nil
	}
}

// typed reports whether somebody types at a terminal.
func (u *userTerminal) typed() bool { return term.IsTerminal(int(u.in.Fd())) }

// shown reports whether the output goes to a terminal, which answers queries.
func (u *userTerminal) shown() bool { return term.IsTerminal(int(u.out.Fd())) }

// size returns the terminal's size, in cells and in pixels where they are known.
func (u *userTerminal) size() unix.Winsize {
	for _, f := range []*os.File{u.out, u.in} {
		if ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && ws.Col > 0 && ws.Row > 0 {
			return *ws
		}
	}
	return unix.Winsize{Col: shareCols, Row: shareRows}
}
