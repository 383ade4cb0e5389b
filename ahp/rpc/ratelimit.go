package rpc

import (
	"context"
	"time"

	"termhost/ahp/host"
)

// rateLimit bounds how fast messages are read. As many as it allows in a second may
// come all at once.
type rateLimit struct {
	rate int       // messages per second; negative: no limit
	due  time.Time // when the messages so far would have come at that rate
}

// wait returns when the next message may be read.
func (l *rateLimit) wait(ctx context.Context) error {
	if l.rate < 0 {
		return nil
	}
	now := time.Now()
	if l.due.Before(now) {
		l.due = now
	}
	l.due = l.due.Add(l.interval())
	return host.Pause(ctx, l.due.Sub(now)-time.Second)
}

// outputsPerMessage is how many outputs count as one message: at the default rate
// 32,000 a second, more than any program prints lines.
const outputsPerMessage = 32

// outputDiscount is how much less such a message counts.
const outputDiscount = float64(outputsPerMessage-1) / outputsPerMessage

// discount makes the last message count less because it was output by the owner of a
// client-executed terminal. That comes in pieces as small as the program prints them,
// and its bytes have a rate of their own: see [host.Conn.WaitOutput].
func (l *rateLimit) discount() {
	if l.rate > 0 {
		l.due = l.due.Add(-l.interval() * (outputsPerMessage - 1) / outputsPerMessage)
	}
}

// interval is the time between two messages at the rate.
func (l *rateLimit) interval() time.Duration { return time.Second / time.Duration(l.rate) }
