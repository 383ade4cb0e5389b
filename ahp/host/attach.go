package host

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"termhost/ahp"
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

// Attach shows t. first is to be written before anything that is pulled: it is a redraw for a
// window, or the retained output for a stream. What is pulled follows it exactly, with nothing lost
// and nothing twice. Attach returns *authz.Denied if the principal may not look, *ahp.Error if the
// terminal has been disposed, or why the connection has ended. The Attach must be closed.
func (c *Conn) Attach(t *Terminal, o AttachOptions) (a *Attach, first []byte, err error) {
	h := c.host
	if c.ctx.Err() != nil {
		return nil, nil, context.Cause(c.ctx)
	}
	if h.lookup(t.uri) != t {
		return nil, nil, ahp.NewError(ahp.CodeNotFound, reasonUnknown)
	}
	a = &Attach{
		conn: c, t: t, opts: o, cols: o.Cols, rows: o.Rows, sub: h.store.NewSubscriber(true),
		notes: make(chan Note, noteBacklog), asking: make(chan struct{}, 1), since: h.now(),
		kicked: make(chan struct{}), calls: make(chan struct{}, 1),
	}
	if first, err = a.begin(); err != nil {
		return nil, nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.attaches[a] = struct{}{}
	if a.hasWindow() {
		h.watchers.join(a, a.since)
	}
	if h.terminals[t.uri] == t && !o.quiet {
		h.lastUsed[c.principal.ID] = lastUse{t, h.now()}
		h.noteUse(c.principal.ID, h.lastUsed[c.principal.ID])
	}
	return a, first, nil
}

func (a *Attach) begin() (first []byte, err error) {
	t := a.t
	t.kept.load()
	t.term.Lock()
	defer t.term.Unlock()
	target := t.target(a.step())
	if err := authz.Check(a.conn.principal, attachVerb(a.opts, target), target); err != nil {
		return nil, err
	}
	a.activeLocked()
	if !a.opts.blind {
		first, err = a.redrawLocked()
	}
	if err != nil {
		t.viewers.windows = slices.DeleteFunc(t.viewers.windows, a.is)
		return nil, ahp.NewError(ahp.CodeNotFound, reasonUnknown)
	}
	if a.byCreator() {
		t.life.watching++
	}
	if a.hasWindow() {
		t.viewers.open = append(t.viewers.open, a)
		t.attention.viewBegins(a.conn.principal)
	}
	a.tellAskedLocked()
	if !a.opts.quiet {
		t.emit(Event{Kind: EventAttached, By: a.conn.Name(), from: a.conn})
	}
	a.wakeLocked()
	return first, nil
}

// hasWindow reports whether there is a person who sees the whole screen.
func (a *Attach) hasWindow() bool { return a.opts.Cols > 0 }

// byCreator reports whether it is the terminal's creator that watches.
func (a *Attach) byCreator() bool {
	return a.t.origin.creator.ID == a.conn.principal.ID && !a.opts.quiet
}

// attachVerb returns what the policy is asked when an attach begins. The right to look is enough:
// those who may not type are told so with their first key.
func attachVerb(o AttachOptions, target authz.Target) authz.Verb {
	if target.Forced && !o.ReadOnly {
		return authz.Subscribe
	}
	return authz.AttachReadOnly
}

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

// Pull appends what comes next to dst; see [store.Subscriber.Pull]. It leaves out every
// [store.Clipboard] and [store.Notification] unless this viewer holds the claim.
func (a *Attach) Pull(dst []store.Item, limit int) []store.Item {
	given := len(dst)
	dst = a.sub.Pull(dst, limit)
	if slices.ContainsFunc(dst[given:], isHolderOnly) {
		a.t.term.Lock()
		defer a.t.term.Unlock()
		return a.mayReadLocked(dst, given)
	}
	return dst
}

func isHolderOnly(it store.Item) bool {
	_, ok := it.HolderOnly()
	return ok
}

// Close ends the attach. It may be called again. A transient terminal that has exited while its
// creator watched is forgotten with the last of the creator's attaches; one that runs a key's
// forced command ends with it. With the last viewer of a person who has taken the claim, it goes
// back to whom it was taken from.
func (a *Attach) Close() {
	t, h := a.t, a.conn.host
	t.term.Lock()
	last := !a.closed && a.byCreator() && t.life.watching == 1
	if !a.closed && a.byCreator() {
		t.life.watching--
	}
	if !a.closed && !a.opts.quiet {
		t.emit(Event{Kind: EventDetached, By: a.conn.Name(), from: a.conn})
	}
	if !a.closed && a.hasWindow() {
		t.attention.viewEnds(a.conn.principal)
		t.viewers.open = slices.DeleteFunc(t.viewers.open, a.is)
	}
	a.closed = true
	t.keyboard.dropRequests()
	a.leaveLocked()
	gone, left := last && t.life.fleeting, t.keyboard.abandonedLocked()
	// Its key may not attach again.
	stranded := last && t.origin.forced && !t.life.exited
	t.term.Unlock()
	if left {
		h.returnClaim(t, NoteLeft, t.keyboard.abandonedLocked)
	}
	a.sub.Close()
	h.watchers.leave(a)
	h.mu.Lock()
	delete(h.attaches, a)
	h.mu.Unlock()
	switch {
	case gone:
		h.forget(t, "")
	case stranded:
		go h.remove(t, "") // which waits for the program's end
	}
}

// Errors of Input that a door treats in its own way. All others are refusals, to be shown to the
// person who types.
var (
	// ErrBusy: the program does not read, or is not to yet, because the key has changed its size.
	// Wait for room and try again.
	ErrBusy = errors.New("the program is not reading its input")
	// ErrExited: there is no program any more.
	ErrExited = errors.New(reasonExited)
)

var errReadOnly = &authz.Denied{Verb: authz.Input, Rule: "this attach is read-only"}

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
