package host

import (
	"context"
	"time"

	"termhost/ahp/await"
	"termhost/authz"
)

// Wait is [Conn.StartWait] and [PendingWait.End] in one.
func (c *Conn) Wait(ctx context.Context, t *Terminal, w WaitFor) (Waited, error) {
	p, err := c.StartWait(t, w)
	if err != nil {
		return Waited{}, err
	}
	return p.End(ctx)
}

// StartWait begins to wait until the terminal has ended or a condition of w holds. Whatever happens
// from now on counts. With Command and no command running, the last one counts if there was one;
// else the next. An Enter that the shell has not reacted to yet counts as a command. StartWait
// returns *authz.Denied, [ErrNoCommands], a [*admit.QuotaError], [ErrGone] if the terminal has
// been disposed, or the cause of the connection's end. The wait must be ended.
func (c *Conn) StartWait(t *Terminal, w WaitFor) (*PendingWait, error) {
	if err := authz.Check(c.principal, authz.Wait, t.seen()); err != nil {
		return nil, err
	}
	a, _, err := c.Attach(t, AttachOptions{ReadOnly: true, quiet: true, blind: true})
	if err != nil {
		return nil, err
	}
	p := &PendingWait{WaitFor: w, a: a}
	p.held = t.keyboard.heldBy(c.principal)
	if err := p.begin(); err != nil {
		a.Close()
		return nil, err
	}
	return p, nil
}

// begin records how it is now, and has the wait ended by what comes from now on.
func (p *PendingWait) begin() (err error) {
	t := p.a.t
	t.term.Lock()
	defer t.term.Unlock()
	if p.Command {
		if p.last, err = p.lastCommandLocked(); err != nil {
			return err
		}
	}
	if p.Match == nil && !p.Command && !p.Output && p.Idle <= 0 {
		return nil
	}
	return t.waiting.join(p)
}

// End returns when the wait is over, and how. It returns the cause of ctx or of the connection's
// end, or a [*BehindError]. It is called once.
func (p *PendingWait) End(ctx context.Context) (Waited, error) {
	defer p.a.Close()
	done, ended := p.a.t.life.done, (<-chan await.Result)(nil)
	if p.printed != nil {
		defer p.a.t.waiting.leave(p)
		done, ended = nil, p.printed.Result() // the end has its place in the output
	}
	began := time.Now()
	idle, late := startTimer(0), startTimer(p.Timeout)
	defer idle.Stop()
	defer late.Stop()
	for {
		program, rests, changed := p.program()
		reason, passed := p.taken()
		if reason != "" {
			return Waited{Reason: reason}, nil
		}
		var moved <-chan struct{}
		if p.printed != nil {
			moved = p.printed.Behind()
		}
		if moved == nil {
			select {
			case how := <-ended:
				return how.Ended, how.Err
			default:
			}
			if how := p.now(program, rests, began, idle); how != nil {
				return *how, nil
			}
		}
		select {
		case <-changed:
		case <-passed:
		case <-moved:
		case <-idle.C:
		case how := <-ended:
			return how.Ended, how.Err
		case <-p.reacted:
			p.commandNow()
		case <-done:
			code := p.a.t.life.exit.Load().Code
			return Waited{Reason: WaitExit, ExitCode: &code}, nil
		case <-late.C:
			return Waited{Reason: WaitTimeout}, nil
		case <-p.a.kicked:
			return Waited{}, p.a.kickedBy
		case <-p.a.conn.ctx.Done():
			return Waited{}, context.Cause(p.a.conn.ctx)
		case <-ctx.Done():
			return Waited{}, context.Cause(ctx)
		}
	}
}

// now returns how the wait ends by what holds now; nil: it does not. All output has been looked at.
// It sets the timer to when it has been idle for long enough.
func (p *PendingWait) now(program Waiting, rests bool, began time.Time, idle *time.Timer) *Waited {
	switch {
	case p.last != nil:
		return p.last
	case program != WaitingNone:
		return &Waited{Reason: WaitBlocked, Waiting: program}
	case rests:
		return &Waited{Reason: WaitRest}
	case p.Idle <= 0:
		return nil
	}
	if at := p.printed.LastOutput(); at.After(began) {
		began = at
	}
	left := p.Idle - time.Since(began)
	if left <= 0 {
		return &Waited{Reason: WaitIdle}
	}
	idle.Reset(left)
	return nil
}

// commandNow finds out how the last command ended, after the shell has reacted to an Enter.
func (p *PendingWait) commandNow() {
	t := p.a.t
	t.term.Lock()
	defer t.term.Unlock()
	p.last, _ = p.lastCommandLocked() // its shell tells of commands: it did when the wait began
}

// lastCommandLocked returns how the last command ended; nil if one is running or about to be run,
// or there was none yet.
func (p *PendingWait) lastCommandLocked() (*Waited, error) {
	t := p.a.t
	st, _ := t.ch.Terminal()
	p.reacted = t.commands.typist.reaction()
	switch {
	case !st.Detection && !t.commands.integrated, t.commands.replaced.Load():
		return nil, ErrNoCommands
	case st.Running() != nil, t.commands.typist.entered:
		return nil, nil
	}
	for i := len(st.Content) - 1; i >= 0; i-- {
		if c := st.Content[i].Command; c != nil {
			return &Waited{Reason: WaitCommand, ExitCode: c.ExitCode}, nil
		}
	}
	return nil, nil
}

// program returns what the program waits for, if the condition is that it waits for something,
// whether it is at rest, if that is one, and what is closed when this changes.
func (p *PendingWait) program() (blocked Waiting, rests bool, changed <-chan struct{}) {
	if !p.Blocked && !p.Rest {
		return WaitingNone, false, nil
	}
	t := p.a.t
	t.term.Lock()
	defer t.term.Unlock()
	if t.waiting.Unsure() {
		return WaitingNone, false, t.waiting.Changed()
	}
	if p.Blocked {
		blocked = t.waiting.Waits()
	}
	return blocked, p.Rest && t.atRestLocked(), t.waiting.Changed()
}

// AtRest reports whether t is at rest: a shell or an interpreter is at its prompt, or a program
// fills the screen, and has read what was typed.
func (t *Terminal) AtRest() bool {
	t.term.Lock()
	defer t.term.Unlock()
	return t.atRestLocked()
}

func (t *Terminal) atRestLocked() bool {
	return t.waiting.Rests() && t.term.InputRead()
}

// taken returns how the wait ends if the keyboard has been taken from the principal since the wait
// began, or given to it, and what is closed when another holder has it.
func (p *PendingWait) taken() (WaitReason, <-chan struct{}) {
	if !p.Taken {
		return "", nil
	}
	elsewhere, passed := p.a.t.keyboard.passes(p.a.conn.principal)
	switch {
	case elsewhere && p.held:
		return WaitTaken, passed
	case !elsewhere && !p.held:
		return WaitGiven, passed
	}
	return "", passed
}

// startTimer returns a timer that fires after d; for 0, one that does not run.
func startTimer(d time.Duration) *time.Timer {
	t := time.NewTimer(max(d, 0))
	if d <= 0 {
		t.Stop()
	}
	return t
}
