package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gorilla/websocket"

	"termhost/ahp"
)

// greet sends a request on a connection that nobody else reads from yet, and reads
// until it is answered.
func (c *Client) greet(ctx context.Context, conn *connection, method string, params any,
	take func(json.RawMessage) error) error {
	call, _, err := c.begin(ctx, conn, method, params, take)
	if err != nil {
		return err
	}
	for {
		if err := c.readOne(conn); err != nil {
			return err
		}
		select {
		case err := <-call.done:
			return err
		default:
		}
	}
}

type initializeParams struct {
	ahp.InitializeParams
	ClientInfo struct {
		Name string `json:"name"`
	} `json:"clientInfo"`
}

// initialize begins a new conversation. Mirrors of an earlier one take the new
// snapshots; the channels of those without a snapshot are gone.
func (c *Client) initialize(ctx context.Context, conn *connection) error {
	var p initializeParams
	p.InitializeParams = ahp.InitializeParams{Channel: ahp.RootURI, ClientID: c.id,
		ProtocolVersions: c.cfg.Versions, InitialSubscriptions: c.subscriptions()}
	p.ClientInfo.Name = "termhost"
	return c.greet(ctx, conn, ahp.MethodInitialize, p, func(raw json.RawMessage) error {
		var hello ahp.InitializeResult
		if err := json.Unmarshal(raw, &hello); err != nil {
			return fmt.Errorf("client: the answer to initialize cannot be read: %w", err)
		}
		return c.initialized(&hello)
	})
}

// initialized takes the answer to initialize.
func (c *Client) initialized(hello *ahp.InitializeResult) error {
	snapshots := hello.Snapshots
	hello.Snapshots = nil
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hello = *hello
	c.lastSeq = hello.ServerSeq
	c.resumed, c.owned = false, nil
	c.failPendingLocked(ErrLost)
	kept := map[string]bool{}
	for i := range snapshots {
		if m := c.mirrors[snapshots[i].Resource]; m != nil {
			kept[m.uri] = true
			if err := m.reset(&snapshots[i]); err != nil {
				return err
			}
		}
	}
	for uri := range c.mirrors {
		if !kept[uri] {
			c.dropMirrorLocked(uri)
		}
	}
	return nil
}

func (c *Client) subscriptions() []ahp.SubscriptionRef {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := []ahp.SubscriptionRef{}
	for uri := range c.mirrors {
		list = append(list, ahp.SubscriptionRef(uri))
	}
	return list
}

// dropMirrorLocked forgets the mirror of a channel that the host does not have.
func (c *Client) dropMirrorLocked(uri string) {
	if m := c.mirrors[uri]; m != nil {
		delete(c.mirrors, uri)
		m.fail(ErrGone)
	}
}

// resume continues where the last connection was lost. If the host does not know this client any
// more, it begins anew.
func (c *Client) resume(ctx context.Context, conn *connection) error {
	c.mu.Lock()
	last := c.lastSeq
	c.mu.Unlock()
	p := ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: c.id, LastSeenServerSeq: last,
		Subscriptions: c.subscriptions()}
	err := c.greet(ctx, conn, ahp.MethodReconnect, p, c.resynchronise)
	var refused *ahp.Error
	if errors.As(err, &refused) && refused.Code == ahp.CodeNotFound {
		return c.initialize(ctx, conn)
	}
	return err
}

// resynchronise takes the answer to reconnect.
func (c *Client) resynchronise(raw json.RawMessage) error {
	var r struct {
		ahp.ReconnectResult
		Snapshots []ahp.Snapshot `json:"snapshots"` // termhost sends none, other hosts may
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("client: the answer to reconnect cannot be read: %w", err)
	}
	for i := range r.Actions {
		c.apply(&r.Actions[i])
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range r.Snapshots {
		if m := c.mirrors[r.Snapshots[i].Resource]; m != nil {
			if err := m.reset(&r.Snapshots[i]); err != nil {
				return err
			}
		}
	}
	for _, uri := range r.Missing {
		c.dropMirrorLocked(uri)
	}
	c.resumed, c.owned = true, nil
	if r.Meta != nil {
		c.owned = r.Meta.Owned
	}
	// An echo that was not replayed will not come any more.
	c.failPendingLocked(ErrLost)
	return nil
}

// isFinal reports whether connecting again would end in the same way.
func isFinal(err error) bool {
	var closed *websocket.CloseError
	var refused *ahp.Error
	switch {
	case errors.Is(err, ErrRefused):
		return true
	case errors.As(err, &closed):
		switch closed.Code {
		case websocket.CloseNormalClosure, websocket.CloseGoingAway,
			websocket.CloseAbnormalClosure, websocket.CloseInternalServerErr,
			websocket.CloseServiceRestart, websocket.CloseTryAgainLater:
			return false
		}
		return true
	case errors.As(err, &refused):
		return refused.Code != ahp.CodeInternal && refused.Code != ahp.CodeLimit &&
			!refused.Ended()
	}
	return false
}
