package host

import (
	"cmp"
	"sync/atomic"
	"syscall"
	"time"

	"termhost/ahp/store"
	"termhost/authz"
	"termhost/ptypool/vt"
)

// AttachOptions say how a terminal is to be shown.
type AttachOptions struct {
	ReadOnly bool
	// History is how many lines a window is shown above the screen at first; 0: all.
	History int
	// Cols and Rows are the size of the viewer's window; 0: it has none and gets a stream.
	Cols, Rows int

	quiet bool // nobody looks: it is for a wait, or to read a log
	blind bool // nothing is pulled
}

// Attach is an SSH session that shows one terminal. One goroutine pulls; the other methods may be
// called concurrently.
type Attach struct {
	conn *Conn
	t    *Terminal
	opts AttachOptions
	sub  *store.Subscriber

	since    time.Time
	kicked   chan struct{} // closed by the first kick
	kickedBy error         // set before kicked is closed, under Host.mu

	// Guarded by the Term's lock.
	cols, rows int             // of the window
	fitted     <-chan struct{} // closed when the program has had the time of drawTime; nil: it has
	held       []byte          // what was typed and may be the beginning of a report, see Input
	theme      *theme          // nil: not known
	scrolled   uint64          // t.scrolled() when the viewer was sent output last
	rung       uint64          // t.bells when the viewer's bell was rung last
	closed     bool
	lost       lostKeys

	took   atomic.Pointer[string] // see Took
	notes  chan Note              // see Notes
	asking chan struct{}          // see AskingChanged

	calls   chan struct{} // 1 deep: see Calls
	watcher *watcher      // nil: there is no window
}

// hasWindow reports whether there is a person who sees the whole screen.
func (a *Attach) hasWindow() bool { return a.opts.Cols > 0 }

// Redraw returns what shows the present state. What is pulled next follows it. It is for a reader
// that Pull said has fallen behind.
func (a *Attach) Redraw() ([]byte, error) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.redrawLocked()
}

func (a *Attach) redrawLocked() ([]byte, error) {
	if err := a.sub.Follow(a.t.ch); err != nil {
		return nil, err
	}
	if a.opts.Cols == 0 {
		st, _ := a.t.ch.Terminal()
		var out []byte
		for i := range st.Content {
			out = st.Content[i].Text.AppendTo(out)
		}
		return out, nil
	}
	a.scrolled, a.rung = a.t.viewers.scrolled(), a.t.attention.bells
	return a.drawLocked(nil, vt.Redraw{Scrollback: cmp.Or(a.opts.History, -1)})
}

// Restore returns what puts a viewer's own terminal back into its usual modes after the attach.
func (a *Attach) Restore() []byte {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.t.term.Screen().AppendRestore(nil)
}

// ReadOnly reports whether nothing that is typed reaches the program.
func (a *Attach) ReadOnly() bool { return a.opts.ReadOnly }

// Fleeting reports whether the terminal has exited and is forgotten when the last of its creator's
// attaches, of which this is one, is closed.
func (a *Attach) Fleeting() bool {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.t.life.fleeting && a.byCreator()
}

// Terminal returns what is shown.
func (a *Attach) Terminal() *Terminal { return a.t }

// Signal returns the channel that is sent to when there is something to pull.
func (a *Attach) Signal() <-chan struct{} { return a.sub.Signal() }

// Resize says that the viewer's window is now cols x rows. The terminal gets that size if this
// viewer holds the claim.
func (a *Attach) Resize(cols, rows int) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	a.cols, a.rows = cols, rows
	a.activeLocked()
}

// Lag returns how many bytes of output have not been pulled yet.
func (a *Attach) Lag() int { return a.sub.Lag(a.t.ch) }

// Size returns the terminal's size in cells, which need not be the viewer's.
func (a *Attach) Size() (cols, rows int) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.t.term.Screen().Size()
}

// Holds reports whether what is typed at this viewer reaches the program because of its claim.
func (a *Attach) Holds() bool {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return !a.opts.ReadOnly && a.holdsLocked()
}

// holdsLocked reports whether the viewer's principal holds the claim. The claim of a
// client-executed terminal belongs to its owner's connection, so no viewer holds it.
func (a *Attach) holdsLocked() bool {
	return !a.t.Client() && a.t.keyboard.holder.principal == a.conn.principal.ID
}

// step returns the viewer as the one who asks.
func (a *Attach) step() step { return step{conn: a.conn, principal: a.conn.principal} }

// SendSignal sends sig to the program in the foreground. Those who may type may also signal. It
// returns *authz.Denied, ErrExited or why the connection has ended.
func (a *Attach) SendSignal(sig syscall.Signal) error {
	t := a.t
	t.term.Lock()
	defer t.term.Unlock()
	if t.life.exited {
		return ErrExited
	}
	if err := a.mayActLocked(); err != nil {
		return err
	}
	if err := t.check(a.step(), authz.Input); err != nil {
		return err
	}
	if err := t.term.SignalForeground(sig); err != nil {
		return ErrExited
	}
	return nil
}
