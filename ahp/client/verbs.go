package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"termhost/ahp"
)

// Call sends any request and decodes its result into result, unless that is nil.
// An answer that is an error is an *ahp.Error; ErrLost is none at all.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	var take func(json.RawMessage) error
	if result != nil {
		take = func(raw json.RawMessage) error { return json.Unmarshal(raw, result) }
	}
	return c.call(ctx, method, params, take)
}

type channelParams struct {
	Channel string `json:"channel"`
}

// Ping returns when the host has answered: everything that it did before it read
// the ping has then been applied to the mirrors.
func (c *Client) Ping(ctx context.Context) error {
	return c.call(ctx, "ping", channelParams{ahp.RootURI}, nil)
}

// CreateTerminal asks for a terminal. A nil claim is this client's.
func (c *Client) CreateTerminal(ctx context.Context, p ahp.CreateTerminalParams) error {
	type params struct {
		ahp.CreateTerminalParams
		Claim json.RawMessage `json:"claim"`
	}
	claim := ahp.ClientClaim(c.id)
	if p.Claim != nil {
		claim = *p.Claim
	}
	return c.call(ctx, "createTerminal", params{p, claim.AppendJSON(nil, c.shape())}, nil)
}

// DisposeTerminal ends a terminal and returns when it is gone.
func (c *Client) DisposeTerminal(ctx context.Context, uri string) error {
	return c.call(ctx, "disposeTerminal", channelParams{uri}, nil)
}

func (c *Client) shape() ahp.Shape {
	v, _ := ahp.ParseVersion(c.Hello().ProtocolVersion)
	return v.Shape()
}

// Dispatch sends an action and returns when the host has accepted or refused it:
// nil, [*Rejected], [ErrLost] where neither can be known, or ctx's cause. Its
// effect is in the mirror when Dispatch returns.
func (c *Client) Dispatch(ctx context.Context, channel string, a ahp.Action) error {
	l, err := c.connected(ctx)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	seq, err := c.post(ctx, l, channel, a, func(_ string, err error) { done <- err })
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

// Subscribe follows a channel and returns its mirror, the same one for everybody
// who follows it; each must close it. It is tried again when the connection is
// lost.
func (c *Client) Subscribe(ctx context.Context, uri string) (*Mirror, error) {
	for {
		var m *Mirror
		err := c.call(ctx, "subscribe", channelParams{uri}, func(raw json.RawMessage) error {
			var r struct {
				Snapshot ahp.Snapshot `json:"snapshot"`
			}
			err := json.Unmarshal(raw, &r)
			if err == nil {
				m, err = c.mirror(&r.Snapshot)
			}
			if err != nil {
				return fmt.Errorf("client: the snapshot cannot be read: %w", err)
			}
			return nil
		})
		if errors.Is(err, ErrLost) {
			continue
		}
		return m, err
	}
}

// mirror returns the mirror of a channel with the state of a new snapshot.
func (c *Client) mirror(s *ahp.Snapshot) (*Mirror, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.mirrors[s.Resource]
	if m == nil {
		m = &Mirror{client: c, uri: s.Resource, limit: c.cfg.MirrorBytes}
	}
	if err := m.reset(s); err != nil {
		return nil, err
	}
	m.refs++
	c.mirrors[m.uri] = m
	return m, nil
}

// apply takes an action into its mirror and tells who waits for it. A rejected
// action has not happened.
func (c *Client) apply(e *ahp.Envelope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastSeq = max(c.lastSeq, e.ServerSeq)
	m := c.mirrors[e.Channel]
	if m != nil && e.RejectionReason == "" {
		if a, err := ahp.DecodeAction(e.Action); err == nil {
			m.apply(e.ServerSeq, a)
		} else {
			c.log.Warn("an action of the host cannot be read", "channel", e.Channel, "err", err.Error())
		}
	}
	if e.Origin == nil || e.Origin.ClientID != c.id {
		if a, err := ahp.DecodeAction(e.Action); m == nil && err == nil && c.cfg.OnAction != nil {
			c.cfg.OnAction(e.Channel, a)
		}
		return
	}
	d := c.acts[e.Origin.ClientSeq]
	if d == nil {
		return
	}
	delete(c.acts, e.Origin.ClientSeq)
	if e.RejectionReason != "" {
		d.tell("", &Rejected{Action: d.kind, Reason: e.RejectionReason})
		return
	}
	d.tell(noticeOf(e.Action), nil)
}
