package rpc

import (
	"context"
	"time"

	"termhost/ahp/host"
	"termhost/authz/admit"
)

// rateLimit bounds how fast messages are read. Its burst is what it allows in a second.
type rateLimit struct {
	rate   int // messages per second; negative: no limit
	bucket admit.Bucket
}

// wait returns when the next message may be read.
func (l *rateLimit) wait(ctx context.Context) error {
	return admit.Pause(ctx, l.take(host.MessageParts))
}

// discount makes the last message count less because it was output from the owner of a
// client-executed terminal: see [host.MessageParts].
func (l *rateLimit) discount() { l.take(-outputDiscount) }

// outputDiscount is how many parts less such a message counts.
const outputDiscount = host.MessageParts - 1

func (l *rateLimit) take(parts int) time.Duration {
	rate := host.MessageParts * l.rate
	return l.bucket.Take(admit.Rate{PerSecond: rate, Burst: rate}, parts, time.Now())
}
