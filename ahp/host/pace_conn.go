package host

import (
	"context"
	"sync"
	"time"

	"termhost/authz"
	"termhost/authz/admit"
)

// Pace charges the connection's account for bytes and parts of messages that have come, and waits
// as long as nothing more is to be read from it. A negative number is a refund. An error is ctx's
// cause.
func (c *Conn) Pace(ctx context.Context, bytes, parts int) error {
	if c.pace == nil {
		return nil
	}
	return admit.Pause(ctx, c.pace.owe(bytes, parts, time.Now()))
}

// WaitLarge returns when the connection may write an answer that is large; release must be called
// when that is written. An error is ctx's cause.
func (c *Conn) WaitLarge(ctx context.Context) (release func(), err error) {
	if c.pace == nil {
		return func() {}, nil
	}
	select {
	case c.pace.large <- struct{}{}:
		return func() { <-c.pace.large }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// WaitReading returns when the connection may read a log or a recording; release must be called
// when nothing of it is in memory any more, and may be called again. It waits for other readers of
// the account for readingTime. An error is a [*admit.QuotaError] or ctx's cause.
func (c *Conn) WaitReading(ctx context.Context) (release func(), err error) {
	if c.pace == nil {
		return func() {}, nil
	}
	late := time.NewTimer(readingTime)
	defer late.Stop()
	select {
	case c.pace.readings <- struct{}{}:
		return sync.OnceFunc(func() { <-c.pace.readings }), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-late.C:
		return nil, &admit.QuotaError{What: "logs and recordings that are being read",
			Limit: maxReadings, Own: true}
	}
}

// paceLocked returns the pace of p's account; nil: it has none.
func (h *Host) paceLocked(p authz.Principal) *Pace {
	if p.Role == authz.Admin {
		return nil
	}
	pace := h.paces[p.Account()]
	if pace == nil {
		pace = newPace()
		h.paces[p.Account()] = pace
	}
	return pace
}

// forgetPacesLocked forgets those of accounts without connections that owe nothing: nobody gets
// more by coming back.
func (h *Host) forgetPacesLocked() {
	used := map[string]bool{}
	for c := range h.conns {
		used[c.principal.Account()] = true
	}
	now := time.Now()
	for account, p := range h.paces {
		if !used[account] && p.bytes.Full(now) && p.messages.Full(now) && p.work.Full(now) {
			delete(h.paces, account)
		}
	}
}
