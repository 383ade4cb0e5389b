package client

import (
	"bytes"
	"context"
	"encoding/json"

	"termhost/ahp"
)

// Rejected is the host's refusal of an action.
type Rejected struct {
	Action string // its type
	Reason string
}

func (e *Rejected) Error() string { return "client: " + e.Action + " was rejected: " + e.Reason }

// pendingAction is an action whose echo has not come yet.
type pendingAction struct {
	kind    string
	channel string                         // normalized; "": it is no channel
	tell    func(notice string, err error) // must not block or call the Client
}

// Dispatch sends an action and returns when the host has accepted or refused it:
// nil, [*Rejected], [ErrLost] if that cannot be known, or ctx's cause. When it
// returns, the mirror shows the action's effect.
func (c *Client) Dispatch(ctx context.Context, channel string, a ahp.Action) error {
	conn, err := c.connection(ctx)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	seq, err := c.post(ctx, conn, channel, a, func(_ string, err error) { done <- err })
	if err != nil {
		return err
	}
	defer c.forget(seq)
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.done:
		return c.Err()
	}
}

// Post sends an action and does not wait for the host's answer. That goes to tell:
// a notice that the host may add, and nil, [*Rejected], or [ErrLost] if the
// connection ended first. The client's own goroutine calls tell once; it must not
// block or call the Client. Actions reach the host in the order of the calls of
// Post.
//
// conn is the connection that the action is meant for, numbered as in [State]. If
// another one has taken its place, Post does nothing and returns ErrLost: callers
// must first look at what the lost connection has left undone, or they would send
// out of order. After an error tell is not called.
func (c *Client) Post(ctx context.Context, conn int64, channel string, a ahp.Action,
	tell func(notice string, err error)) (clientSeq int64, err error) {
	c.mu.Lock()
	present := c.conn
	if present == nil || c.conns != conn {
		c.mu.Unlock()
		return 0, ErrLost
	}
	c.mu.Unlock()
	return c.post(ctx, present, channel, a, tell)
}

func (c *Client) post(ctx context.Context, conn *connection, channel string, a ahp.Action,
	tell func(string, error)) (clientSeq int64, err error) {
	c.mu.Lock()
	if conn.over {
		c.mu.Unlock()
		return 0, ErrLost
	}
	c.nextSeq++
	seq := c.nextSeq
	p := &pendingAction{kind: a.Type(), tell: tell}
	p.channel, _ = ahp.NormalizeChannel(channel)
	c.pending[seq] = p
	c.mu.Unlock()
	msg := ahp.AppendDispatch(nil, channel, seq, a, c.shape())
	if err := c.queue(ctx, conn, msg); err != nil && c.forget(seq) {
		return 0, err
	}
	return seq, nil
}

// forget stops waiting for the answer to an action. It returns false if the answer has been
// delivered.
func (c *Client) forget(seq int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	waits := c.pending[seq] != nil
	delete(c.pending, seq)
	return waits
}

func (c *Client) failPendingLocked(err error) {
	for seq, p := range c.pending {
		delete(c.pending, seq)
		p.tell("", err)
	}
}

// sameTerminal reports whether own is what a host calls a terminal of its own that a client has
// named by the host's name in its fleet.
func sameTerminal(named, own string) bool {
	_, uri, ok := ahp.SplitFleetURI(named)
	return ok && uri == own
}

// apply applies an action to its mirror, unless it was rejected, and answers the sender if that was
// this client.
func (c *Client) apply(e *ahp.Envelope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastSeq = max(c.lastSeq, e.ServerSeq)
	m := c.mirrors[e.Channel]
	if m != nil && e.RejectionReason == "" {
		if a, err := ahp.DecodeAction(e.Action); err == nil {
			m.apply(e.ServerSeq, a)
		} else {
			c.log.Warn("an action of the host cannot be read", "channel", e.Channel,
				"err", err.Error())
		}
	}
	if e.Origin == nil || e.Origin.ClientID != c.id {
		if m == nil && c.cfg.OnAction != nil {
			if a, err := ahp.DecodeAction(e.Action); err == nil {
				c.cfg.OnAction(e.Channel, a)
			}
		}
		return
	}
	p := c.pending[e.Origin.ClientSeq]
	if p == nil || p.channel != "" && p.channel != e.Channel &&
		!sameTerminal(p.channel, e.Channel) {
		return // in a fleet it may be the word of another host, which knows nothing of the action
	}
	delete(c.pending, e.Origin.ClientSeq)
	if e.RejectionReason != "" {
		p.tell("", &Rejected{Action: p.kind, Reason: e.RejectionReason})
		return
	}
	p.tell(noticeOf(e.Action), nil)
}

// noticeOf returns the notice that the host has added to the echo of an action.
func noticeOf(raw json.RawMessage) string {
	if !bytes.Contains(raw, []byte(`"_meta"`)) {
		return ""
	}
	a, err := ahp.DecodeAction(raw)
	if out, ok := a.(ahp.TerminalOutput); ok && err == nil {
		return out.Notice
	}
	return ""
}
