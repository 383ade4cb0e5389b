package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/ptypool"
	"termhost/ptypool/vt"
)

// AttachOptions say how a terminal is shown.
type AttachOptions struct {
	ReadOnly bool
	// Cols and Rows are the viewer's window; 0: it has none and gets a stream.
	Cols, Rows int
	// Lossless holds the terminal back rather than let this reader fall off the
	// log: for the creator of `run`, whose output may go into a pipe.
	Lossless bool
}

// Attach is an SSH session showing one terminal. One goroutine pulls; the other
// methods may be called concurrently.
type Attach struct {
	conn *Conn
	t    *Terminal
	opts AttachOptions
	sub  *store.Subscriber

	// Guarded by the Term's lock.
	cols, rows int
	held       []byte // what was typed and may be the beginning of a report
	theme      *theme // nil: not known
	scrolled   uint64 // what t.scrolled was when the viewer was sent the last output
	rung       uint64 // what t.bells was when the viewer's bell was rung last
	closed     bool

	took atomic.Pointer[string] // see Took
}

// Attach shows t. first is what to write before anything that is pulled: a
// redraw for a window, the retained output for a stream. Live output follows it
// without a gap or a double. It returns *authz.Denied if the principal may not
// look, *ahp.Error if the terminal has been disposed, or why the connection has
// ended. The Attach must be closed.
func (c *Conn) Attach(t *Terminal, o AttachOptions) (a *Attach, first []byte, err error) {
	h := c.host
	if c.ctx.Err() != nil {
		return nil, nil, context.Cause(c.ctx)
	}
	if h.lookup(t.uri) != t {
		return nil, nil, ahp.NewError(ahp.CodeNotFound, reasonUnknown)
	}
	a = &Attach{conn: c, t: t, opts: o, cols: o.Cols, rows: o.Rows, sub: h.store.NewSubscriber(true)}
	if first, err = a.begin(); err != nil {
		return nil, nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.attaches[a] = struct{}{}
	if h.terminals[t.uri] == t {
		h.lastUsed[c.principal.ID] = t
	}
	return a, first, nil
}

func (a *Attach) begin() (first []byte, err error) {
	t := a.t
	t.term.Lock()
	defer t.term.Unlock()
	target := t.target(a.conn.principal)
	if err := authz.Check(a.conn.principal, attachVerb(a.opts, target), target); err != nil {
		return nil, err
	}
	a.activeLocked()
	if first, err = a.redrawLocked(); err != nil {
		t.windows = slices.DeleteFunc(t.windows, a.is)
		return nil, ahp.NewError(ahp.CodeNotFound, reasonUnknown)
	}
	if a.opts.Lossless {
		t.brake.add(a)
	}
	if a.creatorsLocked() {
		t.watching++
	}
	return first, nil
}

func (a *Attach) creatorsLocked() bool { return a.t.creator.ID == a.conn.principal.ID }

// attachVerb is what an attach asks for. To look is enough: whoever may not
// type is told so with the first key.
func attachVerb(o AttachOptions, target authz.Target) authz.Verb {
	if target.Forced && !o.ReadOnly {
		return authz.Subscribe
	}
	return authz.AttachReadOnly
}

// Redraw returns the state as it is and continues behind it. It is for a reader
// whose Pull said that it fell behind.
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
	a.scrolled, a.rung = a.t.scrolled(), a.t.bells
	return a.drawLocked(nil, vt.Redraw{Scrollback: -1})
}

// Restore returns what makes a viewer's terminal sane again after the attach.
func (a *Attach) Restore() []byte {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.t.term.Screen().AppendRestore(nil)
}

// Terminal returns what is shown.
func (a *Attach) Terminal() *Terminal { return a.t }

// Signal is sent to when there is something to pull.
func (a *Attach) Signal() <-chan struct{} { return a.sub.Signal() }

// Pull appends what comes next to dst; see [store.Subscriber.Pull]. A
// [store.Clipboard] is among it only if this viewer holds the claim.
func (a *Attach) Pull(dst []store.Item, limit int) []store.Item {
	given := len(dst)
	dst = a.sub.Pull(dst, limit)
	a.t.brake.progressed()
	if slices.ContainsFunc(dst[given:], isClipboard) {
		a.t.term.Lock()
		defer a.t.term.Unlock()
		return a.mayReadLocked(dst, given)
	}
	return dst
}

func isClipboard(it store.Item) bool {
	if it.Entry == nil {
		return false
	}
	_, ok := it.Entry.Action().(store.Clipboard)
	return ok
}

// Close ends the attach. It may be called again. A terminal made to last only as
// long as its creator watches goes with the last of the creator's attaches.
func (a *Attach) Close() {
	t, h := a.t, a.conn.host
	t.brake.remove(a)
	t.term.Lock()
	last := !a.closed && a.creatorsLocked() && t.watching == 1
	if !a.closed && a.creatorsLocked() {
		t.watching--
	}
	a.closed = true
	a.leaveLocked()
	gone := last && t.fleeting
	t.term.Unlock()
	a.sub.Close()
	h.mu.Lock()
	delete(h.attaches, a)
	h.mu.Unlock()
	if gone {
		h.forget(t)
	}
}

// Errors of Input that a door treats in its own way; all others are refusals to
// show to the person.
var (
	// ErrBusy: the program does not read; wait for room and try again.
	ErrBusy = errors.New("the program is not reading its input")
	// ErrExited: there is no program any more.
	ErrExited = errors.New(reasonExited)
)

// Input types p, which is not kept. An admin who does not hold the claim takes
// it with a real key, and only with one; what a terminal sends by itself is
// dropped unless its viewer may type. It returns *authz.Denied, ErrBusy,
// ErrExited or why the connection has ended; then nothing was typed.
func (a *Attach) Input(p []byte) error {
	t := a.t
	t.term.Lock()
	defer t.term.Unlock()
	if t.exited {
		return ErrExited
	}
	who := a.conn.principal
	err := a.mayActLocked()
	seize := err == nil && authz.Check(who, authz.Seize, t.target(who)) == nil
	if err == nil {
		err = authz.Check(who, authz.Input, t.target(who))
	}
	if err == nil {
		a.held = nil
		a.typedLocked(p)
	} else {
		p = append(a.held, p...)
		keys, rest := realKeys(p)
		if a.held = nil; !keys {
			a.held = slices.Clone(rest)
			return nil
		}
		if !seize {
			return err
		}
		a.seizeLocked()
	}
	switch err := t.term.Input(p); {
	case errors.Is(err, ptypool.ErrInputFull):
		return ErrBusy
	case err != nil:
		return ErrExited
	}
	return nil
}

// mayActLocked returns why this viewer may do no more than look, whatever its
// principal may do.
func (a *Attach) mayActLocked() error {
	switch {
	case a.opts.ReadOnly:
		return errReadOnly
	case a.conn.ctx.Err() != nil:
		return context.Cause(a.conn.ctx)
	}
	return nil
}

var errReadOnly = &authz.Denied{Verb: authz.Input, Rule: "this attach is read-only"}

// WaitRoom returns when the terminal takes input again, or with ctx's cause.
func (a *Attach) WaitRoom(ctx context.Context) error {
	select {
	case <-a.t.term.InputRoom():
		return nil
	case <-a.t.done:
		return ErrExited
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Resize says that the viewer's window is now cols x rows. The terminal follows
// if this viewer holds the claim.
func (a *Attach) Resize(cols, rows int) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	a.cols, a.rows = cols, rows
	a.activeLocked()
}

// Holds reports whether what is typed here reaches the program.
func (a *Attach) Holds() bool {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return !a.opts.ReadOnly && a.holdsLocked()
}

// holdsLocked reports whether the viewer's principal holds the claim. That of a
// client-executed terminal is its owner's connection's alone.
func (a *Attach) holdsLocked() bool {
	return a.t.owned == nil && a.t.holder.principal == a.conn.principal.ID
}

// Claim takes the keyboard. It returns *authz.Denied if the policy says no, or
// why the connection has ended.
func (a *Attach) Claim() error {
	t := a.t
	id := a.conn.host.sshClient(a.conn.principal)
	t.term.Lock()
	defer t.term.Unlock()
	if err := a.mayActLocked(); err != nil {
		return err
	}
	if err := authz.Check(a.conn.principal, authz.Claim, t.target(a.conn.principal)); err != nil {
		return err
	}
	if t.holder.claim == ahp.ClientClaim(id) {
		a.activeLocked()
		return nil
	}
	a.seizeLocked()
	return nil
}

// seizeLocked makes the viewer the holder and remembers whose claim it took.
func (a *Attach) seizeLocked() {
	t, p := a.t, a.conn.principal
	prior := t.holder
	a.activeLocked()
	t.hold(holder{claim: ahp.ClientClaim(SSHClientID(p)), principal: p.ID, name: p.Name}, a.step())
	t.prior = &prior
	if prior.principal != p.ID {
		a.took.Store(&prior.name)
	}
}

// step is the viewer as the one who asks for a change.
func (a *Attach) step() step { return step{conn: a.conn, principal: a.conn.principal} }

// HandBack returns the claim to whom it was taken from and tells who that is. It
// returns *authz.Denied if the viewer does not hold the claim, and other errors
// if there is nobody to return it to.
func (a *Attach) HandBack() (name string, err error) {
	t := a.t
	t.term.Lock()
	prior := t.prior
	t.term.Unlock()
	known := false
	if prior != nil { // asked before the lock is taken: the clientId may be another's by now
		now, ok := a.conn.host.holderOf(prior.claim, authz.Principal{ID: prior.principal})
		known = ok && now.principal == prior.principal
	}
	t.term.Lock()
	defer t.term.Unlock()
	if err := a.mayActLocked(); err != nil {
		return "", err
	}
	if !a.holdsLocked() {
		return "", &authz.Denied{Verb: authz.Claim, Rule: "you do not hold the claim; " + Printable(t.holder.name) + " does"}
	}
	if err := authz.Check(a.conn.principal, authz.Claim, t.target(a.conn.principal)); err != nil {
		return "", err
	}
	switch {
	case t.prior == nil, t.prior != prior: // the latter: it changed hands meanwhile
		return "", errNoPrior
	case !known:
		return "", fmt.Errorf("%s is not here any more", Printable(prior.name))
	}
	t.hold(*prior, a.step())
	return prior.name, nil
}

var errNoPrior = errors.New("nobody held it before you")

// Holder returns the name of who holds the claim and how the claim names it.
func (a *Attach) Holder() (name string, c ahp.Claim) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.t.holder.name, a.t.holder.claim
}
