package host

import (
	"context"
	"sync/atomic"
	"syscall"
	"time"

	"termhost/ahp/store"
	"termhost/authz"
	"termhost/ptypool"
	"termhost/ptypool/vt"
)

// AttachOptions say how to show a terminal.
type AttachOptions struct {
	ReadOnly bool
	// History is how many lines above the screen a window gets at first; 0: all.
	History int
	// Later: if these lines are long, the window gets the screen first, and the lines when
	// [Attach.SendHistory] is called.
	Later bool
	// Anew: the window gets the lines also if it has them from before.
	Anew bool
	// From is what tells the viewer's window from others, together with its size: where it is, and
	// what terminal. "": it is not known again when it comes back. See [Attach.Leaves].
	From string
	// Cols and Rows are the size of the viewer's window; 0: it has no window and gets a stream.
	Cols, Rows int
	Pixels     Pixels // of that window
	// Below is how many rows the viewer's terminal has below that window: see [Attach.KeepBelow].
	Below int
	// Plain: the viewer types, but draws nothing. First is empty, and Redraw returns the output
	// that is retained. Its Cols and Rows are 0 while the size of its window is unknown.
	Plain bool
	// Keys says whether the viewer's own terminal has kitty's keyboard protocol. With
	// [vt.KeysAsked] the viewer calls SetKittyKeys when that has answered.
	Keys vt.KittyKeys

	quiet bool // nobody looks: the attach is for a wait, or to read a log
	blind bool // the caller pulls nothing
}

// Pixels is the size of a window in pixels; 0: it is unknown.
type Pixels = ptypool.Pixels

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
	cols, rows int    // of the window
	below      int    // rows below it: see KeepBelow
	pixels     Pixels // of it
	theme      *theme // nil: unknown
	cellMouse  bool   // the viewer's terminal cannot report the mouse in pixels
	clusters   *bool  // it knows mode 2027; nil: that is unknown
	keys       vt.KittyKeys
	inPixels   bool // it does now
	// progressOver: see ProgressOver.
	progressOver bool
	later        laterHistory
	scrolled     uint64          // viewers.scrolled() when the viewer was sent output last
	picture      vt.Picture      // what the viewer was drawn by Cover or Covered
	x, y         int             // where on the screen the window was drawn to begin
	rung         uint64          // attention.bells when the viewer's bell was rung last
	hasTyped     bool            // a key was typed at the window
	fitted       <-chan struct{} // closed drawTime after a change of size; nil: that is over
	held         []byte          // typed, but may be the start of a report: see Input
	lost         lostKeys
	closed       bool

	took   atomic.Pointer[string] // see Took
	notes  chan Note              // see Notes
	asking chan struct{}          // 1 deep: see AskingChanged

	calls    chan struct{} // 1 deep: see Calls
	followed chan struct{} // 1 deep: see Followed
	watcher  *watcher      // nil: there is no window
}

// theme has the colours of a viewer's own terminal: foreground, background, cursor.
type theme [3]vt.RGB

// lostKeys says whether a viewer loses keys. It is guarded by the Term's lock.
type lostKeys struct {
	why     *LostError // nil: it loses none
	at      time.Time  // when a key was typed last, or lost
	middle  bool       // the last key that reached the program did not end a line
	refused bool       // the last key was refused
}

// watcher is a principal with windows.
type watcher struct {
	active atomic.Pointer[Attach] // the window that was used last; nil: it is closed

	// Guarded by watchers.mu.
	windows  map[*Attach]struct{}
	told     time.Time // the person was notified of what came up until then
	notified time.Time // when the last notification was
}

// hasWindow reports whether a person sees the output in a window.
func (a *Attach) hasWindow() bool { return a.opts.Cols > 0 || a.opts.Plain }

// ReadOnly reports whether the viewer may never type.
func (a *Attach) ReadOnly() bool { return a.opts.ReadOnly }

// Terminal returns the terminal that is shown.
func (a *Attach) Terminal() *Terminal { return a.t }

// Signal returns a channel that gets a value when there is something to pull.
func (a *Attach) Signal() <-chan struct{} { return a.sub.Signal() }

// TypedAt returns when anybody typed at the program last; before the year 2000: never.
func (a *Attach) TypedAt() time.Time { return time.Unix(0, a.t.typedAt.Load()) }

// Lag returns how many bytes of output wait to be pulled.
func (a *Attach) Lag() int { return a.sub.Lag(a.t.ch) }

// Size returns the terminal's size in cells, which need not be the viewer's.
func (a *Attach) Size() (cols, rows int) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.t.term.Screen().Size()
}

// Holds reports whether the viewer's principal holds the claim and may type at this viewer.
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

// step returns a step that the viewer takes.
func (a *Attach) step() step { return step{conn: a.conn, principal: a.conn.principal} }

// SendSignal sends sig to the program in the foreground, for those who may type. It returns
// *authz.Denied, ErrExited or why the connection has ended.
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

func (a *Attach) is(other *Attach) bool { return a == other }

// mayActLocked returns why this viewer may only look, whatever the policy lets its principal do.
// nil is no viewer, and may act.
func (a *Attach) mayActLocked() error {
	switch {
	case a == nil:
		return nil
	case a.opts.ReadOnly:
		return a.t.denied(errReadOnly)
	case a.conn.ctx.Err() != nil:
		return context.Cause(a.conn.ctx)
	}
	select {
	case <-a.kicked:
		return a.kickedBy
	default:
		return nil
	}
}

// wakeLocked makes the viewer call Asking.
func (a *Attach) wakeLocked() {
	select {
	case a.asking <- struct{}{}:
	default:
	}
}

// Notes returns the channel of the notes for the viewer's person. A viewer without a window gets
// none.
func (a *Attach) Notes() <-chan Note { return a.notes }

// noteBacklog is how many notes wait for a viewer to show them; further ones are lost.
const noteBacklog = 4

// noteLocked sends a note to the viewer, or drops it if too many wait.
func (a *Attach) noteLocked(n Note) {
	select {
	case a.notes <- n:
	default: // the person does not read; the viewer can look up the present state
	}
}
