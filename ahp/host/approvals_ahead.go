package host

import (
	"context"
	"errors"
	"time"

	"termhost/ahp"
	"termhost/ptypool"
	"termhost/ptypool/foreground"
)

// gate decides when what agents type reaches the program: see [ptypool.Gate]. In a terminal that
// edits lines it does when somebody reads, so that nothing is there already when a program asks for
// a secret. A program that edits lines itself gets it at once, for nothing tells its questions
// apart; but a shell gets one line at a time, because another program may read the next one.
type gate struct{ t *Terminal }

// Open is called with the Term's lock held.
func (g gate) Open(line ptypool.Line) bool {
	return !line.Canonical && !foreground.RunsShell(line.Foreground)
}

// Look finds out who reads.
func (g gate) Look(line ptypool.Line) ptypool.Pass {
	t := g.t
	t.term.Lock()
	if t.life.exited {
		t.term.Unlock()
		return ptypool.PassNothing
	}
	t.kept.loadLocked()
	secret, at := t.approvals.asksSecret(), t.waiting.foregroundLocked(line)
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

// passOf returns what may be typed where whoever reads may let somebody else read the next line.
func passOf(line ptypool.Line, reads foreground.Reads, secret bool) ptypool.Pass {
	switch {
	case secret:
		return ptypool.PassRefused
	case reads == foreground.Nobody, reads == foreground.Unknown && line.Hidden():
		return ptypool.PassNothing
	case line.Hidden():
		return ptypool.PassHidden
	}
	return ptypool.PassLine
}

// Held shows how much is held.
func (g gate) Held(int) {
	g.t.term.Lock()
	defer g.t.term.Unlock()
	g.t.approvals.heldChanged()
}

// heldChanged shows how much is held. The Term's lock is held.
func (ap *approvals) heldChanged() {
	t := ap.t
	n := t.term.Held()
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Held = n })
	t.host.list.changed()
}

// Refused tells that what was typed ahead is not typed.
func (g gate) Refused(int) {
	g.t.term.Lock()
	defer g.t.term.Unlock()
	g.t.approvals.refusedHeld(errSecret.Rule)
}

// dropHeldText drops what agents typed and the program has not read, and tells why. The Term's lock
// is held.
func (ap *approvals) dropHeldText(why string) {
	if ap.t.term.DropHeld() > 0 {
		ap.refusedHeld(why)
	}
}

// refusedHeld tells that what agents typed was dropped, and why. The Term's lock is held.
func (ap *approvals) refusedHeld(why string) {
	t := ap.t
	ap.ahead.refused = why
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Held, m.Refused = t.term.Held(), Printable(why) })
	t.host.list.changed()
	t.emit(Event{Kind: EventRefused, To: ap.ahead.by, Reason: why})
}

// ahead is what is known of agents' input that is held until the program reads. It is guarded by
// the Term's lock.
type ahead struct {
	by      string // who typed it last
	refused string // why it was dropped; "": it was not, or an agent has typed since
}

// typesAhead notes that an agent has typed. The Term's lock is held.
func (ap *approvals) typesAhead(by string) {
	ap.ahead.by = by
	if ap.ahead.refused != "" {
		ap.ahead.refused = ""
		ap.t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Refused = "" })
		ap.t.host.list.changed()
	}
}

// holds reports whether what s types is held until the program reads, whatever it is bound to. The
// Term's lock need not be held.
func (ap *approvals) holds(s step) bool {
	return !ap.t.host.cfg().AgentsTypeSecrets && !s.typesSecrets()
}

// room returns what is closed when s may try again to type after ErrBusy.
func (ap *approvals) room(s step) <-chan struct{} {
	if ap.mayHold(s) {
		return ap.t.term.HeldRoom()
	}
	return ap.t.term.InputRoom()
}

// mayHold reports whether what s types may be held.
func (ap *approvals) mayHold(s step) bool {
	if ap.holds(s) {
		return true
	}
	ap.t.term.Lock()
	defer ap.t.term.Unlock()
	return ap.trust.agent == s.asker()
}

// heldPatience is how long Held waits for a first answer. It comes after some milliseconds, but not
// where the machine is very busy.
const heldPatience = time.Second

// Held tells what has become of what c has typed into t with Send or Type: held is how many bytes
// wait, because the program does not read yet. It returns *authz.Denied if they were dropped, for
// a person must type instead.
func (c *Conn) Held(ctx context.Context, t *Terminal) (held int, err error) {
	s := step{conn: c, principal: c.principal}
	if !t.approvals.mayHold(s) {
		return 0, nil
	}
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
	default:
		return 0, errors.New(t.approvals.ahead.refused)
	}
	return t.term.Held(), nil
}
