package host

import (
	"context"
	"slices"
	"time"

	"termhost/ahp/store"
	"termhost/authz"
	"termhost/ptypool/vt"
)

// Attach shows t. The caller writes first, before anything that it pulls: a redraw for a window,
// the retained output for a stream, and nothing for a viewer that draws nothing. What is pulled
// follows it exactly, with nothing lost and nothing twice. Attach returns *authz.Denied if the
// principal may not look, *LoopError, *ahp.Error if the terminal has been disposed, or why the
// connection has ended. The Attach must be closed.
func (c *Conn) Attach(t *Terminal, o AttachOptions) (a *Attach, first []byte, err error) {
	h := c.host
	if c.ctx.Err() != nil {
		return nil, nil, context.Cause(c.ctx)
	}
	if h.lookup(t.uri) != t {
		return nil, nil, ErrGone
	}
	if o.Cols > 0 || o.Plain {
		if err := c.checkLoop(t); err != nil {
			return nil, nil, err
		}
	}
	a = &Attach{
		conn: c, t: t, opts: o, cols: o.Cols, rows: o.Rows, pixels: o.Pixels,
		below: o.Below, keys: o.Keys,
		sub:   h.store.NewSubscriber(true),
		notes: make(chan Note, noteBacklog), asking: make(chan struct{}, 1), since: h.now(),
		kicked: make(chan struct{}), calls: make(chan struct{}, 1),
		followed: make(chan struct{}, 1),
	}
	if first, err = a.begin(); err != nil {
		return nil, nil, err
	}
	a.register()
	if a.hasWindow() {
		if err := c.checkLoop(t); err != nil { // another viewer has come at the same moment
			a.Close()
			return nil, nil, err
		}
	}
	return a, first, nil
}

// register has others find the attach.
func (a *Attach) register() {
	c, t, h := a.conn, a.t, a.conn.host
	h.mu.Lock()
	defer h.mu.Unlock()
	h.attaches[a] = struct{}{}
	if a.hasWindow() {
		h.watchers.join(a, a.since)
	}
	if h.terminals[t.uri] == t && !a.opts.quiet {
		h.lastUsed[c.principal.ID] = lastUse{t, h.now()}
		h.noteUse(c.principal.ID, h.lastUsed[c.principal.ID])
	}
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
	a.joinLocked()
	if a.keys == vt.KeysAsked {
		time.AfterFunc(keysTime, a.settleKeys)
	}
	switch {
	case a.opts.blind:
	case a.opts.Plain:
		err = a.sub.Follow(t.ch)
	default:
		first, err = a.firstLocked()
	}
	if err != nil {
		t.viewers.windows = slices.DeleteFunc(t.viewers.windows, a.is)
		t.keyboard.tellLender()
		return nil, ErrGone
	}
	if a.byCreator() {
		t.life.watching++
	}
	if a.hasWindow() {
		t.viewers.open = append(t.viewers.open, a)
		t.viewers.tellFirst(a)
		t.attention.viewBegins(a.conn.principal)
	}
	a.tellRequestsLocked()
	if !a.opts.quiet {
		t.emit(Event{Kind: EventAttached, By: a.conn.Name(), from: a.conn})
	}
	a.wakeLocked()
	return first, nil
}

// byCreator reports whether the terminal's creator watches by this attach.
func (a *Attach) byCreator() bool {
	return a.t.origin.creator.ID == a.conn.principal.ID && !a.opts.quiet
}

// Fleeting reports whether the terminal has exited, and this is one of its creator's attaches: the
// terminal is forgotten when the last of them is closed.
func (a *Attach) Fleeting() bool {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.t.life.fleeting && a.byCreator()
}

// attachVerb returns the verb that an attach needs. The right to look is enough: those who may not
// type are told so with their first key.
func attachVerb(o AttachOptions, target authz.Target) authz.Verb {
	if target.Forced && !o.ReadOnly {
		return authz.Subscribe
	}
	return authz.AttachReadOnly
}

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

// Close ends the attach. It may be called again. With the last of its creator's attaches, a
// transient terminal that exited while the creator watched is forgotten, and a terminal that runs a
// key's forced command is ended. With the last viewer of a person who has the claim on loan, the
// claim returns to its lender.
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
	// With a forced command, its key may not attach again.
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
		go h.remove(t, "") // waits for the program's end
	}
}
