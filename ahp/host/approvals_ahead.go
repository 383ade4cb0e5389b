package host

import (
	"context"
	"errors"
	"time"

	"termhost/ahp"
	"termhost/ptypool"
	"termhost/ptypool/foreground"
	"termhost/ptypool/keyboard"
)

// gate decides when the input of agents reaches the program: see [ptypool.Gate]. While the kernel
// edits lines, input waits until a program reads, so that none is queued already when a program
// asks for a secret. A program that edits lines itself gets input at once, because its questions
// cannot be recognized. A shell gets one line at a time, because another program may read the next
// one.
type gate struct{ t *Terminal }

// Open is called with the Term's lock held.
func (g gate) Open(line ptypool.Line) bool {
	return !line.Canonical && !foreground.RunsShell(line.Foreground)
}

// ReadsOn returns how much of p is for the program that reads now. One that fills the screen takes
// all, as an editor does; any other may start one with its first line. The Term's lock is held.
func (g gate) ReadsOn(line ptypool.Line, p []byte) int {
	g.t.kept.loadLocked()
	screen := g.t.term.Screen()
	if screen.AltScreen() && !g.t.approvals.on && !foreground.RunsShell(line.Foreground) {
		return len(p)
	}
	return keyboard.FirstLine(p, screen.PastesBracketed())
}

// Look finds out which program reads, and how much of the input may reach it.
func (g gate) Look(line ptypool.Line) ptypool.Pass {
	t := g.t
	t.term.Lock()
	if t.life.exited {
		t.term.Unlock()
		return ptypool.PassNothing
	}
	t.kept.loadLocked()
	secret, at := t.approvals.secretAsked(), t.waiting.foregroundLocked(line)
	t.term.Unlock()
	if secret {
		return ptypool.PassRefused
	}
	reads, secret, _ := foreground.Readers(at)
	if !secret && g.Open(line) {
		return ptypool.PassAll
	}
	return passOf(line, reads, secret)
}

// passOf returns what may be typed while another program may read the next line.
func passOf(line ptypool.Line, reads foreground.Reads, secret bool) ptypool.Pass {
	switch {
	case secret, line.Hidden():
		return ptypool.PassRefused
	case reads == foreground.Nobody:
		return ptypool.PassNothing
	}
	return ptypool.PassLine
}

// Held shows how much is typed ahead.
func (g gate) Held(int) {
	g.t.term.Lock()
	defer g.t.term.Unlock()
	g.t.approvals.aheadChanged()
}

// aheadChanged shows how much is typed ahead. The Term's lock is held.
func (ap *approvals) aheadChanged() {
	t := ap.t
	n := t.term.Held()
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Held = n })
	t.host.list.changed()
}

// Refused tells that what was typed ahead was dropped: the terminal would have cut a line of it, or
// the program asks for a secret.
func (g gate) Refused(_ int, why error) {
	g.t.term.Lock()
	defer g.t.term.Unlock()
	rule := errSecret.Rule
	if errors.Is(why, ptypool.ErrLineTooLong) {
		rule = errLongAhead.Rule
	}
	g.t.approvals.aheadRefused(rule)
}

// dropTypedAhead drops what is typed ahead, and tells why. The Term's lock is held.
func (ap *approvals) dropTypedAhead(why string) {
	if ap.t.term.DropHeld() > 0 {
		ap.aheadRefused(why)
	}
}

// dropForSecret drops what agents typed and the program has not read, if it asks for a secret. The
// Term's lock is held.
func (ap *approvals) dropForSecret() {
	t := ap.t
	queued, held := t.term.QueuesShown(), t.term.Held() > 0 && !ap.boundSecrets()
	if !queued && !held || !ap.secretAsked() {
		return
	}
	if queued {
		t.term.DropQueue()
	}
	ap.dropTypedAhead(errSecret.Rule)
}

// boundSecrets reports whether input that is typed ahead may be a secret, because it answers a
// question for one. The Term's lock is held.
func (ap *approvals) boundSecrets() bool {
	return ap.answers != nil || ap.trust.secrets
}

// aheadRefused tells why what was typed ahead was dropped. The Term's lock is held.
func (ap *approvals) aheadRefused(why string) {
	t := ap.t
	ap.ahead.refused = why
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Held, m.Refused = t.term.Held(), Printable(why) })
	t.host.list.changed()
	t.emit(Event{Kind: EventRefused, To: ap.ahead.by, Reason: why})
	if ap.on {
		ap.tellDeciders(nil, Note{Kind: NoteUntyped, Agent: ap.ahead.by, Why: why})
	}
}

// typesAhead records that an agent has typed. The Term's lock is held.
func (ap *approvals) typesAhead(by string) {
	ap.ahead.by = by
	if ap.ahead.refused != "" {
		ap.ahead.refused = ""
		ap.t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Refused = "" })
		ap.t.host.list.changed()
	}
}

// heldUntilRead reports whether the input of s waits until the program reads, even if it is bound
// to nothing. The Term's lock need not be held.
func (ap *approvals) heldUntilRead(s step) bool {
	return !ap.t.host.cfg().AgentsTypeSecrets && !s.mayTypeSecrets()
}

// room returns a channel that is closed when s may type again after ErrBusy.
func (ap *approvals) room(s step) <-chan struct{} {
	if ap.mayBeHeld(s) {
		return ap.t.term.HeldRoom()
	}
	return ap.t.term.InputRoom()
}

// mayBeHeld reports whether the input of s may be typed ahead.
func (ap *approvals) mayBeHeld(s step) bool {
	if ap.heldUntilRead(s) {
		return true
	}
	ap.t.term.Lock()
	defer ap.t.term.Unlock()
	return ap.trust.agent == s.agentID()
}

// heldPatience is how long Held waits for the gate's first look. That takes some milliseconds, or
// longer on a very busy machine.
const heldPatience = time.Second

// Held returns how many bytes of what c typed into t with Send or Type wait, because the program
// does not read yet. It returns *authz.Denied if they were dropped because a person must type
// instead, another error if they were dropped for another reason, or ctx's cause.
func (c *Conn) Held(ctx context.Context, t *Terminal) (held int, err error) {
	s := step{conn: c, principal: c.principal}
	if !t.approvals.mayBeHeld(s) {
		return 0, nil
	}
	return t.Ahead(ctx)
}

// Ahead returns how many bytes of what agents typed into t wait, because the program does not read
// yet. They are in this host's memory, and gone with it. If something has just been typed, Ahead
// waits for the look at whether the program reads. It returns why if what waited was dropped since
// an agent typed last, and ctx's cause if that ends first.
func (t *Terminal) Ahead(ctx context.Context) (n int, err error) {
	timer := time.NewTimer(heldPatience)
	defer timer.Stop()
	select {
	case <-t.term.HeldSettled():
	case <-timer.C:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	t.term.Lock()
	defer t.term.Unlock()
	switch t.approvals.ahead.refused {
	case "":
	case errSecret.Rule:
		return 0, t.denied(errSecret)
	case errLongAhead.Rule:
		return 0, t.denied(errLongAhead)
	default:
		return 0, errors.New(t.approvals.ahead.refused)
	}
	return t.term.Held(), nil
}
