package host

import (
	"syscall"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool/vt"
)

// Screen returns what draws the screen as it is, without the lines above it, and
// continues behind it. It is for a viewer whose terminal must be drawn anew
// without sending the whole history again; update draws over an earlier drawing
// for the same window, see [vt.Redraw].
func (a *Attach) Screen(update bool) ([]byte, error) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	if a.opts.Cols == 0 {
		return a.redrawLocked()
	}
	if err := a.sub.Follow(a.t.ch); err != nil {
		return nil, err
	}
	return a.t.term.Screen().AppendRedraw(nil, vt.Redraw{Cols: a.cols, Rows: a.rows, Update: update}), nil
}

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

// Send types p, which is not kept, into t without showing it: one step of what
// [Attach.Input] does, with its errors.
func (c *Conn) Send(t *Terminal, p []byte) error {
	a := &Attach{conn: c, t: t}
	return a.Input(p)
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

// Peek returns the screen as it is, one line per row; with ansi it carries
// colours. It returns *authz.Denied if p may not see it.
func (h *Host) Peek(p authz.Principal, t *Terminal, ansi bool) ([]byte, error) {
	if err := authz.Check(p, authz.Read, authz.Target{}); err != nil {
		return nil, err
	}
	t.term.Lock()
	defer t.term.Unlock()
	return t.term.Screen().AppendText(nil, ansi), nil
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
