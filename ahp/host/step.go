package host

import (
	"errors"
	"strings"

	"termhost/ahp"
	"termhost/authz"
)

// step says who acts on a terminal, and how.
type step struct {
	conn      *Conn // its Subscriber gets the answer; nil: only the principal is known
	principal authz.Principal
	origin    *ahp.Origin // of the action; nil: the action is the host's own
	notice    string      // goes with the answer to terminal/output; "": none
	approved  bool        // a person has approved exactly this input
	answers   *question   // the only question that the input may answer; nil: any
}

// step returns a step of the connection's client: its action with the given clientSeq.
func (c *Conn) step(clientSeq int64) step {
	origin := &ahp.Origin{ClientID: c.client.id, ClientSeq: clientSeq}
	return step{conn: c, principal: c.principal, origin: origin}
}

// over reports whether the sender's connection has ended. Then its input is not taken, because its
// client may have been told already what was taken: see typedBy.
func (s step) over() bool { return s.conn.ctx.Err() != nil }

// name returns the name of who acts.
func (s step) name() string {
	if s.conn != nil {
		return s.conn.Name()
	}
	return Printable(nameOf(s.principal))
}

// person returns the ID of the principal if a person acts by hand; "": somebody else does.
func (s step) person() string {
	if s.conn == nil || s.conn.door.Person && !s.conn.agent() {
		return s.principal.ID
	}
	return ""
}

// byHand returns the person, as of [authz.Person], who acts by hand, in a page too; "": somebody
// else does.
func (s step) byHand() string {
	if s.conn != nil && s.conn.agent() {
		return ""
	}
	return authz.Person(s.principal.ID)
}

// target returns the facts about t that the policy decides by, if s asks. The Term's lock is held.
func (t *Terminal) target(s step) authz.Target {
	person := authz.Person(s.principal.ID)
	return authz.Target{
		Name:         t.id,
		Created:      t.origin.created,
		Called:       t.Name(),
		Executor:     t.exec.kind(),
		Holds:        t.keyboard.holder.principal == s.principal.ID,
		Yours:        authz.Person(t.keyboard.holder.principal) == person,
		HoldsByToken: strings.HasPrefix(t.keyboard.holder.principal, person+"/"),
		Owner:        t.exec.owner(s),
		Made:         t.origin.creator.ID == s.principal.ID,
		Piped:        t.Piped(),
		Unstarted:    t.approvals.unstarted(),
		InputShared:  t.host.cfg().InputShared,
		Forced:       t.origin.forced && t.origin.creator.ID == s.principal.ID,
	}
}

// check asks the policy. A refusal for want of the claim says who has it: see [HeldError]. The
// Term's lock is held.
func (t *Terminal) check(s step, v authz.Verb) error {
	target := t.target(s)
	err := authz.Check(s.principal, v, target)
	var denied *authz.Denied
	if !errors.As(err, &denied) || target.Holds {
		return err
	}
	target.Holds = true
	if authz.Check(s.principal, v, target) != nil {
		return err // not even a holder may
	}
	return &HeldError{Terminal: t.Name(), Holder: t.keyboard.holder.text(),
		Agent: t.keyboard.holder.claim.Kind == ahp.ClaimSession, Denied: denied}
}

// denied returns a refusal as one that is about t.
func (t *Terminal) denied(d *authz.Denied) error {
	about := *d
	about.Terminal = t.Name()
	return &about
}

// accept appends a client's action. A sender that does not subscribe to the terminal gets its echo
// all the same. The Term's lock is held.
func (t *Terminal) accept(s step, a ahp.Action) {
	t.log.append(a, s.origin)
	if !s.conn.sub.Subscribed(t.ch) {
		s.conn.sub.Answer(t.uri, a, s.origin, "")
	}
}
