package host

import (
	"bytes"
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
		t.approvals.withdraw(k, context.Cause(ctx))
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
	borrows, err := t.mayType(s, true)
	if err != nil {
		return nil, err
	}
	p, modes := slices.Clone(text), t.term.Screen().KeyModes()
	for _, k := range keys {
		p = k.Append(p, modes)
	}
	if t.approvals.guards(s, p) {
		return t.approvals.holdBack(s, p, true, answer)
	}
	return nil, t.typeChecked(s, p, borrows)
}

// mayType returns why s may not type. lends: an admin that does not hold the claim may, and borrows
// the keyboard. The Term's lock is held.
func (t *Terminal) mayType(s step, lends bool) (borrows bool, err error) {
	err = t.check(s, authz.Input)
	if err != nil && lends && authz.Check(s.principal, authz.Seize, t.target(s)) == nil {
		return true, nil
	}
	return false, err
}

// typeAs types p, which is not kept, for s, if s may type. An admin that does not hold the claim
// takes it, if it lends itself the keyboard, and hands it back at once. typeAs returns
// *authz.Denied, ErrExited or ErrBusy. The Term's lock is held.
func (t *Terminal) typeAs(s step, p []byte, lends bool) error {
	borrows, err := t.mayType(s, lends)
	if err != nil {
		return err
	}
	return t.typeChecked(s, p, borrows)
}

// typeChecked is typeAs for an s that mayType lets type. The Term's lock is held.
func (t *Terminal) typeChecked(s step, p []byte, borrows bool) error {
	if err := t.typeKeys(s, p); err != nil {
		return err
	}
	if !borrows {
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

// Input types p, which is not kept. An admin that does not hold the claim takes it with a key. What
// the viewer's terminal sends by itself, a report, does not take it, and is dropped unless the
// viewer may type anyway. Input returns *authz.Denied, *LostError, ErrBusy, ErrExited or why the
// connection has ended; then nothing was typed.
func (a *Attach) Input(p []byte) error { return a.input(p, false) }

func (a *Attach) input(p []byte, later bool) error {
	t := a.t
	t.term.Lock()
	defer t.term.Unlock()
	if t.life.exited {
		return ErrExited
	}
	if t.approvals.unstarted() {
		return t.denied(errUnstarted)
	}
	seize, err := false, a.mayActLocked()
	if err == nil {
		if err = t.check(a.step(), authz.Input); err != nil {
			seize = a.maySeizeLocked()
		}
	}
	if lost := a.losesLocked(p, err == nil || seize, later); lost != nil {
		return lost
	}
	guarded := (err == nil || seize) && t.approvals.guards(a.step(), p)
	p = slices.Concat(a.held, p)
	if err == nil && !guarded {
		a.used()
		return a.typeLocked(p, func() { a.typedLocked(p) })
	}
	keys, rest := keyboard.HasKeys(p)
	if !keys {
		a.held = slices.Clone(rest)
		return nil
	}
	if guarded {
		a.held = nil
		lends := seize || a.maySeizeLocked()
		_, err := t.approvals.holdBack(a.step(), p, lends, func(error) {})
		return err
	}
	if !seize {
		a.held = nil
		return err
	}
	return a.typeLocked(p, a.seizeLocked)
}

// maySeizeLocked reports whether a key at this viewer takes the claim.
func (a *Attach) maySeizeLocked() bool {
	return authz.Check(a.conn.principal, authz.Seize, a.t.target(a.step())) == nil
}

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

// WaitRoom returns when the terminal takes input again, or ErrExited, or ctx's cause.
func (a *Attach) WaitRoom(ctx context.Context) error {
	a.t.term.Lock()
	fitted := a.fitted
	a.t.term.Unlock()
	if fitted != nil {
		select {
		case <-fitted:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	select {
	case <-a.t.approvals.room(a.step()):
		return nil
	case <-a.t.life.done:
		return ErrExited
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// typedLocked notes that p was typed at this viewer. With a key it becomes the one that was active
// last, and what was lent to it is in use; with a report, which its terminal has sent by itself, it
// does not.
func (a *Attach) typedLocked(p []byte) {
	t := a.t
	n := len(t.viewers.windows)
	elsewhere := n > 1 && t.viewers.windows[n-1] != a
	if !elsewhere && t.keyboard.lent == nil {
		return // nothing depends on it
	}
	if keys, _ := keyboard.HasKeys(p); !keys {
		return
	}
	if elsewhere {
		a.activeLocked()
	}
	if a.holdsLocked() {
		t.keyboard.typed = t.host.now()
	}
}

// typeLocked types p, which begins with what is held, once active has made this viewer the one that
// types. If that has changed the terminal's size, it fails with ErrBusy until the program has had
// time to draw.
func (a *Attach) typeLocked(p []byte, active func()) error {
	screen := a.t.term.Screen()
	cols, rows := screen.Size()
	active()
	if c, r := screen.Size(); c != cols || r != rows {
		drawn := make(chan struct{})
		time.AfterFunc(drawTime, func() { close(drawn) })
		a.fitted = drawn
	}
	if a.fitted != nil {
		select {
		case <-a.fitted:
			a.fitted = nil
		default:
			return ErrBusy
		}
	}
	err := a.t.typeKeys(a.step(), p)
	if err != ErrBusy {
		a.held = nil
	}
	return err
}

// input gives keys to the program, of one who may type. They are not sent back with the
// acknowledgement: keys may be a password.
func (t *Terminal) input(s step, a ahp.TerminalInput) (reason string) {
	switch reason := t.inputs.follows(s, a.After); {
	case t.life.exited:
		return reasonExited
	case s.over():
		return reasonOver
	case reason != "":
		return reason
	}
	answer := func(err error) {
		if err != nil {
			t.reject(s, a, reasonOf(err))
			return
		}
		s.conn.sub.Answer(t.uri, ahp.TerminalInput{}, s.origin, "")
	}
	if t.approvals.guards(s, a.Data) {
		if _, err := t.approvals.holdBack(s, a.Data, false, answer); err != nil {
			return reasonOf(err)
		}
		t.inputs.take(s)
		return ""
	}
	if err := t.typeChecked(s, a.Data, false); err != nil {
		return reasonOf(err)
	}
	t.inputs.take(s)
	answer(nil)
	return ""
}

// inputMarks remember the clientSeq of the last input that the terminal took of each client, by
// clientId. So a client whose connection was lost can learn what of its input was taken, and what
// it has sent behind an input that was refused is refused, too. It is guarded by the Term's lock.
type inputMarks map[string]int64

// follows returns why an input of s's client does not follow the one that it says it does; after 0:
// it does not say.
func (m inputMarks) follows(s step, after int64) (reason string) {
	if after != 0 && m[s.origin.ClientID] != after {
		return reasonOrder
	}
	return ""
}

// take notes that an input of s's client was taken.
func (m *inputMarks) take(s step) {
	if *m == nil {
		*m = inputMarks{}
	}
	if _, known := (*m)[s.origin.ClientID]; !known && len(*m) >= maxInputMarks {
		for id := range *m {
			delete(*m, id)
			break
		}
	}
	(*m)[s.origin.ClientID] = s.origin.ClientSeq
}

// typedBy returns, by URI, the clientSeq of the last input that each terminal took of a client. The
// client's earlier connection has ended, and no input of it is taken any more.
func (h *Host) typedBy(id string) map[string]int64 {
	typed := map[string]int64{}
	for _, t := range h.all() {
		t.term.Lock()
		if seq, ok := t.inputs[id]; ok {
			typed[t.uri] = seq
		}
		t.term.Unlock()
	}
	return typed
}

// typeKeys is the one way by which what somebody types reaches the program. Enter, and the end of
// input or of the program, answer what it waits for. It fails as [executor].input does, and
// with errSecret. The Term's lock is held.
func (t *Terminal) typeKeys(s step, p []byte) error {
	if err := t.approvals.refusesSecret(s, p); err != nil {
		return err
	}
	who, how := s.name(), typesNow
	if t.approvals.holds(s) {
		how = typesShown
		if breaksOff(p) {
			t.approvals.dropForSecret() // it must not wait for what is not to be typed
		}
	}
	if t.approvals.binds(s, p) {
		how = typesBound
		t.approvals.bind(s)
	}
	if err := t.exec.input(p, how); err != nil {
		return err
	}
	if how != typesNow {
		t.approvals.typesAhead(who)
	}
	t.commands.typist.typed(who, p, t.commands.running != "")
	t.waiting.lookout.typedBy(who, p)
	t.waiting.noteActivity()
	t.waiting.set(func(w *needs) {
		w.unsure = true
		if bytes.ContainsAny(p, answers) {
			w.program = WaitingNone
		}
	}, who)
	return nil
}
