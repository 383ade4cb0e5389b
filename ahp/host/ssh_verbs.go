package host

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"syscall"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool"
	"termhost/ptypool/vt"
)

// Lag returns how many bytes of output have not been pulled yet.
func (a *Attach) Lag() int { return a.sub.Lag(a.t.ch) }

// Size returns the terminal's size in cells, which need not be the viewer's.
func (a *Attach) Size() (cols, rows int) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.t.term.Screen().Size()
}

// SendSignal sends sig to the program in the foreground. Who may type may also
// signal; it returns *authz.Denied, ErrExited or why the connection has ended.
func (a *Attach) SendSignal(sig syscall.Signal) error {
	t := a.t
	t.term.Lock()
	defer t.term.Unlock()
	if t.exited {
		return ErrExited
	}
	if err := a.mayActLocked(); err != nil {
		return err
	}
	if err := authz.Check(a.conn.principal, authz.Input, t.target(a.conn.principal)); err != nil {
		return err
	}
	if err := t.term.SignalForeground(sig); err != nil {
		return ErrExited
	}
	return nil
}

// Send types text, which is not kept, and then keys, encoded as the program has
// asked for, into t without showing it. All of it is typed on purpose, so an admin who does
// not hold the claim takes it, whatever the keys are. It returns *authz.Denied,
// ErrBusy, ErrExited or why the connection has ended; then nothing was typed.
func (c *Conn) Send(t *Terminal, text []byte, keys ...vt.Key) error {
	who := c.principal
	t.term.Lock()
	defer t.term.Unlock()
	switch {
	case t.exited:
		return ErrExited
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx)
	}
	if err := authz.Check(who, authz.Input, t.target(who)); err != nil {
		if authz.Check(who, authz.Seize, t.target(who)) != nil {
			return err
		}
		prior := t.holder
		t.hold(holder{claim: ahp.ClientClaim(SSHClientID(who)), principal: who.ID, name: who.Name}, step{conn: c, principal: who})
		t.prior = &prior
	}
	p := slices.Clone(text)
	for _, k := range keys {
		p = t.term.Screen().AppendKey(p, k)
	}
	switch err := t.term.Input(p); {
	case errors.Is(err, ptypool.ErrInputFull):
		return ErrBusy
	case err != nil:
		return ErrExited
	}
	return nil
}

// Read returns a terminal's state with the output that is retained. It returns
// *authz.Denied if p may not see it.
func (h *Host) Read(p authz.Principal, t *Terminal) (ahp.TerminalState, error) {
	if err := authz.Check(p, authz.Read, authz.Target{}); err != nil {
		return ahp.TerminalState{}, err
	}
	st, _ := t.ch.Terminal()
	return st, nil
}

// Peek returns the screen as it is, one line per row down to the last one that shows
// something; with ansi it carries colours. It returns *authz.Denied if p may not see it.
func (h *Host) Peek(p authz.Principal, t *Terminal, ansi bool) ([]byte, error) {
	if err := authz.Check(p, authz.Read, authz.Target{}); err != nil {
		return nil, err
	}
	t.term.Lock()
	defer t.term.Unlock()
	screen := bytes.TrimRight(t.term.Screen().AppendText(nil, ansi), "\n")
	if len(screen) == 0 {
		return nil, nil
	}
	return append(screen, '\n'), nil
}

// History returns the lines that have left the screen and the main screen as
// plain text; lines that were wrapped are joined. It returns *authz.Denied if p
// may not see it.
func (h *Host) History(p authz.Principal, t *Terminal) ([]byte, error) {
	if err := authz.Check(p, authz.Read, authz.Target{}); err != nil {
		return nil, err
	}
	t.term.Lock()
	defer t.term.Unlock()
	return t.term.Screen().AppendHistoryText(nil), nil
}
