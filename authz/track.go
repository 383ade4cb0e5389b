package authz

import (
	"context"
	"time"
)

// tracking is a grant that is to end with its proof.
type tracking struct {
	grant Grant
	end   func(error)
}

// Track calls end once when the grant ends: its key or token is removed, revoked or expired, or its
// rights have changed. The error says why, for the log; only ErrChanged may be shown to the peer.
//
// end runs on a goroutine of the Authority, or inside Track if the grant has ended already. It must
// neither block nor call the Authority; it should cancel the connection. release stops tracking; an
// end that has begun may still be running when release returns.
func (a *Authority) Track(g Grant, end func(error)) (release func()) {
	t := &tracking{grant: g, end: end}
	a.mu.Lock()
	a.tracked[t] = struct{}{}
	a.mu.Unlock()
	// A change between the authentication and this moment was not reported to t.
	if _, err := a.again(g); err != nil {
		a.finish(t, err)
	} else if !g.Principal.Expires.IsZero() {
		select {
		case a.wake <- struct{}{}:
		default:
		}
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.tracked, t)
	}
}

// finish stops tracking t and calls its end function, unless that has been done.
func (a *Authority) finish(t *tracking, err error) {
	a.mu.Lock()
	_, ours := a.tracked[t]
	delete(a.tracked, t)
	a.mu.Unlock()
	if ours {
		t.grant.audit(a.audit, AuditRights, "reason", err.Error())
		t.end(err)
	}
}

// follow is the Authority's goroutine. It checks the proofs of what is tracked again: of everything
// whenever something has changed, and of what expires when it does by the wall clock.
func (a *Authority) follow(ctx context.Context, ring, tokens, invitations, links <-chan struct{}) {
	defer close(a.done)
	for {
		timer := time.NewTimer(a.untilNextExpiry())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-a.wake:
		case <-timer.C:
			a.recheck(func(g Grant) bool { return g.Principal.Valid(a.clock()) != nil })
		case <-ring:
			ring = a.ring.Changed()
			a.endAndRecheck()
		case <-a.renewed:
			a.endAndRecheck()
		case <-invitations:
			invitations = a.invitationsChanged()
			a.recheck(func(g Grant) bool { return g.Principal.Guest != "" })
		case <-links:
			links = a.linksChanged()
			a.recheck(func(g Grant) bool { return g.link.ID != "" })
		case <-tokens:
			tokens = a.tokens.Changed()
			a.recheck(func(g Grant) bool { return g.Principal.Token != "" })
		}
		timer.Stop()
	}
}

// endAndRecheck ends what keys or users may have lost that have changed.
func (a *Authority) endAndRecheck() {
	a.tellRoles()
	a.endWithKeys()
	a.recheck(func(Grant) bool { return true })
}

// endWithKeys ends what has been made with a key, or by a user, that has gone.
func (a *Authority) endWithKeys() {
	a.endTokens()
	a.endInvitations()
	a.endLinks()
}

// invitationsChanged is [keys.Invitations.Changed]; nil if there are no invitations.
func (a *Authority) invitationsChanged() <-chan struct{} {
	if a.invitations == nil {
		return nil
	}
	return a.invitations.Changed()
}

const (
	// idleCheck is how long follow sleeps when nothing that is tracked expires.
	idleCheck = time.Hour
	// expiryCheck is how long it sleeps at most when something does. Timers stand still while the
	// machine is suspended, and know nothing of a clock that was set.
	expiryCheck = time.Second
)

func (a *Authority) untilNextExpiry() time.Duration {
	var next time.Time
	a.mu.Lock()
	for t := range a.tracked {
		next = earlier(next, t.grant.Principal.Expires)
	}
	a.mu.Unlock()
	if next.IsZero() {
		return idleCheck
	}
	return min(max(next.Sub(a.clock()), 0), expiryCheck)
}

// recheck checks the tracked grants that suspect picks, and ends those whose proof has gone. If it
// is the first to see that a key has gone, what was made with the key ends first: whoever is told
// of the end may put the key back at once.
func (a *Authority) recheck(suspect func(Grant) bool) {
	a.mu.Lock()
	var all []*tracking
	for t := range a.tracked {
		if suspect(t.grant) {
			all = append(all, t)
		}
	}
	a.mu.Unlock()
	gone := map[*tracking]error{}
	for _, t := range all {
		if _, err := a.again(t.grant); err != nil {
			gone[t] = err
		}
	}
	if len(gone) > 0 {
		a.endWithKeys()
	}
	for t, err := range gone {
		a.finish(t, err)
	}
}
