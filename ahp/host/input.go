package host

import (
	"context"
	"errors"
	"slices"
	"time"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool/keyboard"
)

// This file has the whole way of a key to the program. There are three entrances:
//
//	[Attach.Input]    a viewer's window     may seize the claim; keeps back the start of a report
//	Terminal.input    AHP's terminal/input  is answered; must follow the client's last input
//	[Conn.Send]       a verb                takes the claim for the moment; waits for room
//
// Each checks whether the principal may type (mayType), and whether a person has to approve first
// (approvals.needsApproval). Then typeKeys types the key, and executor.input queues it for the
// program.

// Input types p, which is not kept. A key of an admin who does not hold the claim takes it. A
// report, which the viewer's terminal sends by itself, does not take it, and is dropped if the
// viewer may not type. Input returns *authz.Denied, *LostError, ErrBusy, ErrExited or why the
// connection has ended; then nothing was typed.
func (a *Attach) Input(p []byte) error { return a.input(p, false) }

// InputLater is [Attach.Input] for the continuation of earlier input: the rest of a paste, or what
// had no room before. If earlier input was lost, p is lost as well, however much later it comes.
func (a *Attach) InputLater(p []byte) error { return a.input(p, true) }

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
	again := later && a.fitted != nil
	if again && seize { // it took the keyboard, and another key has taken it since
		a.fitted = nil
		return &LostError{To: t.keyboard.holder.text()}
	}
	guarded := (err == nil || seize) && t.approvals.needsApproval(a.step(), p)
	p = slices.Concat(a.held, p)
	if err == nil && !guarded {
		a.used()
		return a.typeLocked(p, again, func() { a.typedLocked(p) })
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
	return a.typeLocked(p, again, a.seizeLocked)
}

// maySeizeLocked reports whether a key at this viewer takes the claim.
func (a *Attach) maySeizeLocked() bool {
	return authz.Check(a.conn.principal, authz.Seize, a.t.target(a.step())) == nil
}

// typeLocked types p, which begins with a.held. active is called first and makes this viewer the
// active one. If that changes the terminal's size, typeLocked returns ErrBusy until the program has
// had drawTime to draw. again: it was called for p before, and has done so. Another window may have
// become active since; if p gave the terminal its size once more, each would wait for the other.
func (a *Attach) typeLocked(p []byte, again bool, active func()) error {
	a.t.ch.SetTypist(a.sub)
	screen := a.t.term.Screen()
	cols, rows := screen.Size()
	if !again {
		active()
	}
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
	err := a.t.typeKeys(a.step(), a.mouseLocked(p))
	if err != ErrBusy {
		a.held = nil
	}
	if errors.Is(err, errLongLine) {
		a.lost.why = &LostError{} // the rest of a paste would be a line of its own
	}
	return err
}

// drawTime is how long a program may draw itself anew before it gets the key that has changed its
// size. If vim 9.0 gets a key while it draws anew, it does not show that key until the next one
// comes. Nobody notices so short a delay of one key.
const drawTime = 100 * time.Millisecond

// typedLocked records that p was typed at this viewer. If p has a key, the viewer becomes the one
// that was active last, and a claim on loan counts as used. A report, which the viewer's terminal
// sends by itself, has no such effect, nor has the mouse.
func (a *Attach) typedLocked(p []byte) {
	t := a.t
	n := len(t.viewers.windows)
	elsewhere := n > 1 && t.viewers.windows[n-1] != a
	if !elsewhere && t.keyboard.lent == nil && a.hasTyped {
		return // nothing depends on it
	}
	if keys, _ := keyboard.HasKeys(p); !keys {
		return
	}
	a.hasTyped = true
	if elsewhere {
		a.activeLocked()
	}
	if a.holdsLocked() {
		t.keyboard.lastTyped = t.host.now()
	}
}

// WaitRoom waits until the terminal takes input again. It returns ErrExited or ctx's cause.
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

// input takes a client's terminal/input. The acknowledgement does not repeat the keys, which may be
// a password.
func (t *Terminal) input(s step, a ahp.TerminalInput) (reason string) {
	id, typists := s.origin.ClientID, &t.host.typists
	if !t.inputs.has(id) && !t.output.usage.forgotten {
		typists.add(id, t)
		defer func() {
			if !t.inputs.has(id) {
				typists.remove(id, t)
			}
		}()
	}
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
	t.ch.SetTypist(s.conn.sub)
	if t.approvals.needsApproval(s, a.Data) {
		if _, err := t.approvals.holdBack(s, a.Data, false, answer); err != nil {
			return reasonOf(err)
		}
		t.host.typists.remove(t.inputs.take(s), t)
		return ""
	}
	if err := t.typeChecked(s, a.Data, false); err != nil {
		return reasonOf(err)
	}
	t.host.typists.remove(t.inputs.take(s), t)
	answer(nil)
	return ""
}

const (
	// sendPatience is how long Send waits for a program that does not read.
	sendPatience = 10 * time.Second
	// sendRetry is the time between its tries: the queue may have room, but not enough.
	sendRetry = 50 * time.Millisecond
	// MaxPiece, in bytes, is the most that Type takes at once: half of what is queued for a program
	// that does not read.
	MaxPiece = 32 << 10
)

// Send types text and then keys, in the encoding that the program has asked for, into t. An admin
// who does not hold the claim takes it for the moment, whatever is typed: sending is on purpose.
// Send returns *authz.Denied, ErrExited, the cause of ctx or of the connection's end, or ErrBusy if
// the program has not read for sendPatience; then nothing was typed.
func (c *Conn) Send(ctx context.Context, t *Terminal, text []byte, keys ...keyboard.Key) error {
	_, err := c.SendText(ctx, t, false, text, keys...)
	return err
}

// SendText is Send, and also returns the approver of the input, for display, such as "approved by
// ana"; "": nobody had to. paste: a program that has asked for bracketed paste gets the text in
// brackets: a shell runs its lines as one input, and a tab completes nothing.
func (c *Conn) SendText(
	ctx context.Context, t *Terminal, paste bool, text []byte, keys ...keyboard.Key,
) (approved string, err error) {
	return c.sendPatiently(ctx, t, func(m keyboard.Modes) ([]byte, error) {
		typed := slices.Clone(text)
		if paste {
			typed = keyboard.AppendPaste(nil, m, text)
		}
		return keyboard.AppendKeys(typed, m, keys...), nil
	})
}

// encoded returns input in a terminal's modes, in a slice of its own. The Term's lock is held.
type encoded func(keyboard.Modes) ([]byte, error)

// sendPatiently tries send until the program has made room, or has not for sendPatience.
func (c *Conn) sendPatiently(ctx context.Context, t *Terminal, input encoded) (
	approved string, err error,
) {
	deadline := time.NewTimer(sendPatience)
	defer deadline.Stop()
	for {
		approved, err := c.send(ctx, t, input)
		if err != ErrBusy {
			return approved, err
		}
		select {
		case <-time.After(sendRetry):
		case <-deadline.C:
			return "", err
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// Type is Send for p, which is not kept, but waits until the program has made room, however long
// that takes. p has at most [MaxPiece] bytes. Type returns *authz.Denied, ErrExited, or the cause
// of ctx or of the connection's end; then nothing was typed.
func (c *Conn) Type(ctx context.Context, t *Terminal, p []byte) error {
	for {
		room := t.approvals.room(step{conn: c, principal: c.principal})
		_, err := c.send(ctx, t, func(keyboard.Modes) ([]byte, error) {
			return slices.Clone(p), nil
		})
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

// send is one try of SendText. If the input is held, send waits for a person's decision. The
// holder's own input is not discarded, and comes first.
func (c *Conn) send(ctx context.Context, t *Terminal, input encoded) (approved string, err error) {
	decided := make(chan error, 1)
	k, err := c.typeOrHold(t, input, func(err error) { decided <- err })
	if k == nil {
		return "", err
	}
	select {
	case err = <-decided:
	case <-ctx.Done():
		t.approvals.withdraw(k, context.Cause(ctx))
		err = <-decided
	}
	return k.approved, err
}

// typeOrHold is send without the wait for a decision. If k is not nil, it is held, and answer is
// called with the decision.
func (c *Conn) typeOrHold(t *Terminal, input encoded, answer func(error)) (
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
	p, err := input(t.term.Screen().KeyModes())
	if err != nil {
		return nil, err
	}
	if t.approvals.needsApproval(s, p) {
		return t.approvals.holdBack(s, p, true, answer)
	}
	return nil, t.typeChecked(s, p, borrows)
}

// mayType returns why s may not type. lends: an admin may without the claim, and borrows it then.
// The Term's lock is held.
func (t *Terminal) mayType(s step, lends bool) (borrows bool, err error) {
	err = t.check(s, authz.Input)
	if err != nil && lends && authz.Check(s.principal, authz.Seize, t.target(s)) == nil {
		return true, nil
	}
	return false, err
}

// MayType reports whether the connection's principal may type into t with Send as things are now.
func (c *Conn) MayType(t *Terminal) bool {
	t.term.Lock()
	defer t.term.Unlock()
	_, err := t.mayType(step{conn: c, principal: c.principal}, true)
	return err == nil
}

// typeAs types p, which is not kept, if s may type. lends: an admin without the claim takes it, and
// hands it back at once. typeAs returns *authz.Denied, ErrExited or ErrBusy. The Term's lock is
// held.
func (t *Terminal) typeAs(s step, p []byte, lends bool) error {
	borrows, err := t.mayType(s, lends)
	if err != nil {
		return err
	}
	return t.typeChecked(s, p, borrows)
}

// typeChecked is typeAs for an s that mayType permits. The Term's lock is held.
func (t *Terminal) typeChecked(s step, p []byte, borrows bool) error {
	if err := t.typeKeys(s, p); err != nil {
		return err
	}
	if !borrows {
		t.keyboard.lastTyped = t.host.now()
		return nil
	}
	for _, h := range []holder{sshHolder(s.principal), t.keyboard.holder} {
		t.log.append(ahp.TerminalClaimed{Claim: h.claim}, nil) // the holder stays the same
	}
	return nil
}

// typeKeys gives all that anybody types to the executor. A program that waits counts as answered by
// Enter, ctrl-C and ctrl-D. typeKeys returns errSecret and the errors of [executor].input. The
// Term's lock is held.
func (t *Terminal) typeKeys(s step, p []byte) error {
	if err := t.approvals.checkSecret(s, p); err != nil {
		return err
	}
	who, how := s.name(), typesNow
	if t.approvals.heldUntilRead(s) && !t.waiting.GoesOn(p, t.term.StopKeys) {
		how = typesShown
		if breaksOff(p) {
			t.approvals.dropForSecret() // or p would wait behind what may not be typed
		}
	}
	if t.approvals.binds(s, p) {
		how = typesBound
		t.approvals.bind(s)
	}
	t.typedAt.Store(time.Now().UnixNano()) // before its echo can come
	if err := t.exec.input(p, how); err != nil {
		return err
	}
	if how != typesNow {
		t.approvals.typesAhead(who)
	}
	t.commands.typist.typed(who, p, t.commands.running != "")
	t.waiting.MayStop(who, p, t.term.StopKeys)
	t.waiting.active()
	keys, _ := keyboard.HasKeys(p)
	asked := t.waiting.Said()
	t.waiting.tell(t.waiting.Typed(t.host.now(), who, p, keys))
	if keys {
		t.attention.acted()
		t.attention.ender.typed(s.byHand(), p, t.host.now())
	}
	if asked && keys {
		t.status.record() // as answered
	}
	return nil
}
