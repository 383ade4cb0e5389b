package host

import (
	"context"
	"slices"
	"syscall"
	"time"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool/keyboard"
)

const (
	// sendPatience is how long Send waits for a program that does not read.
	sendPatience = 10 * time.Second
	// sendRetry is how often it tries: the queue may have room, but not enough.
	sendRetry = 50 * time.Millisecond
	// MaxPiece, in bytes, is how much may be given to Type at once: half of what is held for a
	// program that does not read.
	MaxPiece = 32 << 10
)

// Send types text and then keys, encoded as the program has asked for, into t without showing t.
// All of it is typed on purpose, so an admin that does not hold the claim takes it, whatever the
// keys are, and hands it back at once. Send returns *authz.Denied, ErrExited, the cause of ctx or
// of the connection's end, or ErrBusy if the program has not read for a while; then nothing was
// typed.
func (c *Conn) Send(ctx context.Context, t *Terminal, text []byte, keys ...keyboard.Key) error {
	deadline := time.NewTimer(sendPatience)
	defer deadline.Stop()
	for {
		err := c.send(ctx, t, text, keys)
		if err != ErrBusy {
			return err
		}
		select {
		case <-time.After(sendRetry):
		case <-deadline.C:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Type types p, which is not kept, as Send does, and waits for as long as the program takes to make
// room for it. p must be of at most [MaxPiece] bytes. Type returns
// *authz.Denied, ErrExited, or the cause of ctx or of the connection's end; then nothing was typed.
func (c *Conn) Type(ctx context.Context, t *Terminal, p []byte) error {
	for {
		room := t.approvals.room(step{conn: c, principal: c.principal})
		err := c.send(ctx, t, p, nil)
		if err != ErrBusy {
			return err
		}
		select {
		case <-room:
		case <-t.life.done:
			return ErrExited
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// send is one try of Send. What the holder has typed comes before it: nothing of that is discarded.
// It waits for a person's decision if what it types is held back.
func (c *Conn) send(ctx context.Context, t *Terminal, text []byte, keys []keyboard.Key) error {
	decided := make(chan error, 1)
	k, err := c.typeOrHold(t, text, keys, func(err error) { decided <- err })
	if k == nil {
		return err
	}
	select {
	case err = <-decided:
	case <-ctx.Done():
		t.approvals.giveUp(k, context.Cause(ctx))
		err = <-decided
	}
	return err
}

// typeOrHold is send without the wait: k, if not nil, is held, and answer is called when somebody
// has decided.
func (c *Conn) typeOrHold(t *Terminal, text []byte, keys []keyboard.Key, answer func(error)) (
	k *heldInput, err error,
) {
	s := step{conn: c, principal: c.principal}
	t.term.Lock()
	defer t.term.Unlock()
	switch {
	case t.life.exited:
		return nil, ErrExited
	case c.ctx.Err() != nil:
		return nil, context.Cause(c.ctx)
	}
	if err := t.mayType(s, true); err != nil {
		return nil, err
	}
	p, modes := slices.Clone(text), t.term.Screen().KeyModes()
	for _, k := range keys {
		p = k.Append(p, modes)
	}
	if t.approvals.guards(s, p) {
		return t.approvals.holdBack(s, p, true, answer)
	}
	return nil, t.typeFor(s, p, true)
}

// mayType returns why s may not type. lends: an admin that does not hold the claim may. The Term's
// lock is held.
func (t *Terminal) mayType(s step, lends bool) error {
	refused := t.check(s, authz.Input)
	if lends && authz.Check(s.principal, authz.Seize, t.target(s)) == nil {
		return nil
	}
	return refused
}

// typeFor types p, which is not kept, for s, if s may type. An admin that does not hold the claim
// takes it, if it lends itself the keyboard, and hands it back at once. typeFor returns
// *authz.Denied, ErrExited or ErrBusy. The Term's lock is held.
func (t *Terminal) typeFor(s step, p []byte, lends bool) error {
	if err := t.mayType(s, lends); err != nil {
		return err
	}
	if err := t.typeIn(s, p); err != nil {
		return err
	}
	if t.check(s, authz.Input) == nil {
		t.keyboard.typed = t.host.now()
		return nil
	}
	for _, h := range []holder{sshHolder(s.principal), t.keyboard.holder} {
		t.ch.Append(ahp.TerminalClaimed{Claim: h.claim}, nil) // the holder stays the same
	}
	return nil
}

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
