package authz

import (
	"context"
	"errors"
	"time"

	"termhost/keys"
)

// Track calls end once when the grant is over: its key or token is removed,
// revoked or expired, or its rights changed. The error says why, for the log;
// of it, only ErrChanged is for the peer. end runs on a goroutine of the
// Authority, or inside Track if the grant is over already; it must not block,
// and it must not call back: it should cancel the connection. release forgets
// the grant; an end that has begun may still be running when it returns.
func (a *Authority) Track(g Grant, end func(error)) (release func()) {
	t := &tracking{grant: g, end: end}
	a.mu.Lock()
	a.tracked[t] = struct{}{}
	a.mu.Unlock()
	// A change between the authentication and this moment has been missed.
	if _, err := a.Again(g); err != nil {
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

// finish forgets t and calls its end function, unless somebody else has.
func (a *Authority) finish(t *tracking, err error) {
	a.mu.Lock()
	_, ours := a.tracked[t]
	delete(a.tracked, t)
	a.mu.Unlock()
	if ours {
		t.end(err)
	}
}

// follow asks for the proof of everything tracked again whenever something
// changed, and of what expires when it does.
func (a *Authority) follow(ctx context.Context, ring, tokens <-chan struct{}) {
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
			a.endTokens()
			a.recheck(func(Grant) bool { return true })
		case <-a.renewed:
			a.endTokens()
			a.recheck(func(Grant) bool { return true })
		case <-tokens:
			tokens = a.tokens.Changed()
			a.recheck(func(g Grant) bool { return g.Principal.Token != "" })
		}
		timer.Stop()
	}
}

// idleCheck is how long follow sleeps when nothing tracked expires.
const idleCheck = time.Hour

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
	return min(max(next.Sub(a.clock()), 0), idleCheck)
}

// recheck ends those of the tracked grants that suspect picks and whose proof
// has gone.
func (a *Authority) recheck(suspect func(Grant) bool) {
	a.mu.Lock()
	var all []*tracking
	for t := range a.tracked {
		if suspect(t.grant) {
			all = append(all, t)
		}
	}
	a.mu.Unlock()
	for _, t := range all {
		if _, err := a.Again(t.grant); err != nil {
			a.finish(t, err)
		}
	}
}

// endTokens ends the tokens whose key is gone or refused, or has another role
// than when it minted them. A key that is only withdrawn, because its file
// cannot be trusted at the moment, keeps its tokens; they are of no use
// meanwhile.
func (a *Authority) endTokens() {
	now := a.clock()
	for _, token := range a.tokens.List("", now) {
		id, err := a.ring.StillAnywhere(token.Identity, now)
		if errors.Is(err, keys.ErrWithdrawn) {
			continue
		}
		if err == nil {
			_, err = a.tokenGrant(token, id, now)
		}
		if err == nil {
			continue
		}
		if err := a.tokens.Revoke(token.Identity.Fingerprint, token.Name); err != nil && !errors.Is(err, keys.ErrNoToken) {
			a.log.Error("a token could not be ended on disk", "token", token.Name, "key", token.Identity.Fingerprint, "reason", err.Error())
			continue
		}
		a.log.Info("token ended with its key", "token", token.Name, "key", token.Identity.Fingerprint, "reason", err.Error())
	}
}
