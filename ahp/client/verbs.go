package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"termhost/ahp"
)

type channelParams struct {
	Channel string `json:"channel"`
}

// Ping returns when the host has answered. All that happened at the host before it
// read the ping has been applied to the mirrors by then.
func (c *Client) Ping(ctx context.Context) error {
	return c.call(ctx, ahp.MethodPing, channelParams{ahp.RootURI}, nil)
}

// CreateTerminal asks for a terminal. If the claim is nil, it is this client's.
func (c *Client) CreateTerminal(ctx context.Context, p ahp.CreateTerminalParams) error {
	type params struct {
		ahp.CreateTerminalParams
		Claim json.RawMessage `json:"claim"`
	}
	claim := ahp.ClientClaim(c.id)
	if p.Claim != nil {
		claim = *p.Claim
	}
	return c.call(ctx, ahp.MethodCreateTerminal, params{p, claim.AppendJSON(nil, c.shape())}, nil)
}

// DisposeTerminal ends a terminal and returns when it is gone.
func (c *Client) DisposeTerminal(ctx context.Context, uri string) error {
	return c.call(ctx, ahp.MethodDisposeTerminal, channelParams{uri}, nil)
}

func (c *Client) shape() ahp.Shape {
	v, _ := ahp.ParseVersion(c.Hello().ProtocolVersion)
	return v.Shape()
}

// Subscribe follows a channel and returns its mirror. All who follow the same
// channel get the same one; each must close it. Subscribe tries again when the
// connection is lost.
func (c *Client) Subscribe(ctx context.Context, uri string) (*Mirror, error) {
	for {
		var m *Mirror
		take := func(raw json.RawMessage) error {
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
		}
		err := c.call(ctx, ahp.MethodSubscribe, channelParams{uri}, take)
		if errors.Is(err, ErrLost) {
			continue
		}
		return m, err
	}
}

// mirror returns the mirror of a channel, set to the state of a new snapshot.
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
