package client

import (
	"context"
	"encoding/json"
)

// Start sends a request, and returns what waits for its answer and decodes it
// into result, unless that is nil. Requests reach the host in the order in which
// Start was called. ctx bounds how long Start waits for a connection; the errors
// are those of [Client.Call].
func (c *Client) Start(ctx context.Context, method string, params, result any) (wait func(context.Context) error, err error) {
	var take func(json.RawMessage) error
	if result != nil {
		take = func(raw json.RawMessage) error { return json.Unmarshal(raw, result) }
	}
	return c.start(ctx, method, params, take)
}

// start sends a request. take is given the result before anything that came
// after it is read.
func (c *Client) start(ctx context.Context, method string, params any, take func(json.RawMessage) error) (wait func(context.Context) error, err error) {
	l, err := c.connected(ctx)
	if err != nil {
		return nil, err
	}
	call, id, err := c.begin(ctx, l, method, params, take)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		select {
		case err := <-call.done:
			return err
		case <-ctx.Done():
			c.mu.Lock()
			_, waiting := l.calls[id]
			delete(l.calls, id)
			c.mu.Unlock()
			if !waiting { // it is being answered: what take has done must be known
				return <-call.done
			}
			return context.Cause(ctx)
		case <-c.done:
			select {
			case err := <-call.done:
				return err
			default:
				return c.Err()
			}
		}
	}, nil
}
