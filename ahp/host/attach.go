package host

import (
	"context"
	"errors"

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
}

// Attach shows t. first is what to write before anything that is pulled: a
// redraw for a window, the retained output for a stream. Live output follows it
// without a gap or a double.
func (c *Conn) Attach(t *Terminal, o AttachOptions) (a *Attach, first []byte, err error) {
	a = &Attach{conn: c, t: t, opts: o, cols: o.Cols, rows: o.Rows, sub: c.host.store.NewSubscriber(true)}
	if first, err = a.begin(); err != nil {
		return nil, nil, err
	}
	c.host.used(c.principal, t)
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
	if a.holdsLocked() && !a.opts.ReadOnly {
		a.fitLocked()
	}
	if first, err = a.redrawLocked(); err != nil {
		return nil, ahp.NewError(ahp.CodeNotFound, reasonUnknown)
	}
	if a.opts.Lossless {
		t.brake.add(a)
	}
	return first, nil
}

// attachVerb is what an attach asks for. To look is enough: whoever may not
// type is told so with the first key.
func attachVerb(o AttachOptions, target authz.Target) authz.Verb {
	if target.Forced && !o.ReadOnly {
		return authz.Subscribe
	}
	return authz.AttachReadOnly
}

// used notes which terminal p attached to last.
func (h *Host) used(p authz.Principal, t *Terminal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.terminals[t.uri] == t {
		h.lastUsed[p.ID] = t
	}
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
	return a.t.term.Screen().AppendRedraw(nil, vt.Redraw{Cols: a.cols, Rows: a.rows, Scrollback: -1}), nil
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

// Pull appends what comes next to dst; see [store.Subscriber.Pull].
func (a *Attach) Pull(dst []store.Item, limit int) []store.Item {
	dst = a.sub.Pull(dst, limit)
	a.t.brake.progressed()
	return dst
}

// Close ends the attach. A terminal made to last only as long as it is watched
// goes, if it has exited and this was its creator's.
func (a *Attach) Close() {
	a.t.brake.remove(a)
	a.sub.Close()
	if a.t.transient && a.t.exitedNow() && a.t.creator.ID == a.conn.principal.ID {
		a.conn.host.remove(a.t)
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
// it with a real key, and only with one. It returns *authz.Denied, ErrBusy or
// ErrExited; then nothing was typed.
func (a *Attach) Input(p []byte) error {
	t := a.t
	t.term.Lock()
	defer t.term.Unlock()
	if t.exited {
		return ErrExited
	}
	who := a.conn.principal
	if a.opts.ReadOnly {
		return errReadOnly
	}
	err := authz.Check(who, authz.Input, t.target(who))
	if err != nil && authz.Check(who, authz.Seize, t.target(who)) == nil {
		if !realKeys(p) {
			return nil
		}
		a.seizeLocked()
		err = nil
	}
	if err != nil {
		if !realKeys(p) {
			return nil
		}
		return err
	}
	switch err := t.term.Input(p); {
	case errors.Is(err, ptypool.ErrInputFull):
		return ErrBusy
	case err != nil:
		return ErrExited
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
	if a.holdsLocked() && !a.opts.ReadOnly {
		a.fitLocked()
	}
}

// Holds reports whether what is typed here reaches the program.
func (a *Attach) Holds() bool {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return !a.opts.ReadOnly && a.holdsLocked()
}

func (a *Attach) holdsLocked() bool { return a.t.holder.principal == a.conn.principal.ID }

// fitLocked gives the terminal the viewer's size.
func (a *Attach) fitLocked() {
	if a.cols > 0 && a.rows > 0 {
		cols, rows := min(a.cols, MaxCols), min(a.rows, MaxRows)
		if c, r := a.t.term.Screen().Size(); c != cols || r != rows {
			a.t.resize(ahp.TerminalResized{Cols: cols, Rows: rows}, nil)
		}
	}
}

// Claim takes the keyboard. It returns *authz.Denied if the policy says no.
func (a *Attach) Claim() error {
	t := a.t
	id := a.conn.host.sshClient(a.conn.principal)
	t.term.Lock()
	defer t.term.Unlock()
	if a.opts.ReadOnly {
		return errReadOnly
	}
	if t.holder.claim == ahp.ClientClaim(id) {
		a.fitLocked()
		return nil
	}
	if err := authz.Check(a.conn.principal, authz.Claim, t.target(a.conn.principal)); err != nil {
		return err
	}
	a.seizeLocked()
	return nil
}

// seizeLocked makes the viewer the holder and remembers whose claim it took.
func (a *Attach) seizeLocked() {
	t := a.t
	p := a.conn.principal
	prior := t.holder
	t.hold(holder{claim: ahp.ClientClaim(SSHClientID(p)), principal: p.ID, name: p.Name}, nil)
	t.prior = &prior
	a.fitLocked()
}

// HandBack returns the claim to whom it was taken from and tells who that is.
func (a *Attach) HandBack() (name string, err error) {
	t := a.t
	t.term.Lock()
	defer t.term.Unlock()
	if !a.holdsLocked() {
		return "", &authz.Denied{Verb: authz.Claim, Rule: "you do not hold the claim; " + Printable(t.holder.name) + " does"}
	}
	if t.prior == nil {
		return "", errors.New("nobody held it before you")
	}
	prior := *t.prior
	t.hold(prior, nil)
	return prior.name, nil
}

// Holder returns the name of who holds the claim and how the claim names it.
func (a *Attach) Holder() (name string, c ahp.Claim) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.t.holder.name, a.t.holder.claim
}
