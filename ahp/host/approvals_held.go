package host

import (
	"context"
	"slices"

	"termhost/ahp"
	"termhost/authz"
)

// publishHeld shows viewers, clients and listings what is held and whether the guard is on. The
// Term's lock is held.
func (ap *approvals) publishHeld() {
	t := ap.t
	t.waiting.tell(t.waiting.Holds(t.host.now(), len(ap.held)+len(ap.permissions) > 0))
	var asks []ahp.TerminalAsk
	for _, k := range ap.held {
		asks = append(asks, ap.terminalAsk(k))
	}
	t.ch.SetAsks(asks)
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Guarded = ap.on })
	t.host.list.changed()
	ap.wakeDeciders()
}

// wakeDeciders makes the viewers call [Attach.Asking] again. The Term's lock is held.
func (ap *approvals) wakeDeciders() {
	for _, a := range ap.t.viewers.windows {
		a.wakeLocked()
	}
}

// withdraw rejects k if nobody has decided about it yet.
func (ap *approvals) withdraw(k *heldInput, why error) {
	ap.t.term.Lock()
	defer ap.t.term.Unlock()
	ap.dropHeld(nil, why, func(o *heldInput) bool { return o == k })
}

// resolve removes k from what is held and tells its agent the outcome; nil: it was typed. The
// Term's lock is held.
func (ap *approvals) resolve(k *heldInput, why error) {
	switch {
	case k.decided != "":
		ap.settled(k, k.decided)
	case why != nil:
		ap.settled(k, "refused by itself: "+Printable(why.Error()))
	default:
		ap.settled(k, "typed with a yes to all")
	}
	ap.held = slices.DeleteFunc(ap.held, func(o *heldInput) bool { return o == k })
	k.expiry.Stop()
	k.unwatch()
	k.answer(why)
	ap.publishHeld()
}

// dropHeld rejects the held inputs for which which is true, and shows that at the viewers of those
// who may decide, except by's, whose doing it is. The Term's lock is held.
func (ap *approvals) dropHeld(by *Conn, why error, which func(*heldInput) bool) {
	for _, k := range slices.Clone(ap.held) {
		if which(k) {
			ap.resolve(k, why)
			ap.tellDeciders(by, Note{Kind: NoteGone, Agent: k.by, Why: Printable(why.Error())})
			ap.t.emit(Event{Kind: EventRefused, Ask: k.id, asker: k.s.principal.ID, To: k.by,
				Reason: why.Error(), from: by})
		}
	}
}

// anyHeld has dropHeld reject all.
func anyHeld(*heldInput) bool { return true }

// mayDecide returns why c may not decide about held input. The Term's lock is held.
func (ap *approvals) mayDecide(c *Conn) error {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	target := ap.t.target(step{conn: c, principal: c.principal})
	if err := authz.Check(c.principal, authz.Approve, target); err != nil {
		return err
	}
	if c.agent() { // a peer of AHP
		return ap.t.denied(&authz.Denied{Verb: authz.Approve, Rule: authz.RuleAgent})
	}
	return nil
}

// tellDeciders tells the outcome of an ask to the viewers of all principals that may decide, except
// but. The Term's lock is held.
func (ap *approvals) tellDeciders(but *Conn, n Note) {
	for _, a := range ap.t.viewers.windows {
		if a.conn != but && ap.mayDecide(a.conn) == nil {
			a.noteLocked(n)
		}
	}
}

// terminalAsk returns k as people and clients are told. The Term's lock is held.
func (ap *approvals) terminalAsk(k *heldInput) ahp.TerminalAsk {
	is := ahp.TerminalAsk{Ask: k.id, By: k.by, Since: k.since.UTC(), Does: k.does,
		Secret: k.question != nil, Lines: k.lines, Hidden: k.hidden,
		Warning: k.warning, All: ap.mayTrust(k), Asker: k.s.principal.ID}
	if k.question == nil {
		is.Text = string(k.text)
	}
	return is
}

// mayTrust reports whether a person may trust k's agent now: while a command runs and, at the
// prompt of a shell that tells when commands end, if k begins one. The Term's lock is held.
func (ap *approvals) mayTrust(k *heldInput) bool {
	t := ap.t
	line, err := t.term.Line()
	if err != nil || line.Foreground <= 1 || k.question != nil {
		return false
	}
	atHome := line.Foreground == t.term.Pid()
	return !atHome || ap.shellTells && t.commands.running == "" && k.does == ahp.AskRuns
}
