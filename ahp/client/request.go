package client

import (
	"context"
	"encoding/json"
	"strconv"

	"termhost/ahp"
)

// request is a JSON-RPC request or, without an id, a notification.
type request struct {
	Version string `json:"jsonrpc"`
	ID      int64  `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// call is a request that has not been answered yet.
type call struct {
	// take, if not nil, gets the result before the reader reads on.
	take func(result json.RawMessage) error
	done chan error // holds one
}

// Call sends a request and decodes its result into result, unless that is nil. If
// the host answers with an error, that is an *ahp.Error; if it does not answer, the
// error is ErrLost.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	return c.call(ctx, method, params, into(result))
}

// Start sends a request, and returns a function that waits for the answer and
// decodes it into result, unless that is nil. Requests reach the host in the order
// of the calls of Start. ctx bounds how long Start waits for a connection; the
// errors are those of [Client.Call].
func (c *Client) Start(ctx context.Context, method string, params, result any) (
	wait func(context.Context) error, err error) {
	return c.start(ctx, method, params, into(result))
}

// into returns a function that decodes into result; nil if that is nil.
func into(result any) func(json.RawMessage) error {
	if result == nil {
		return nil
	}
	return func(raw json.RawMessage) error { return json.Unmarshal(raw, result) }
}

// call sends a request and waits for its answer. take, if not nil, gets the result
// before anything is read that came after it.
func (c *Client) call(ctx context.Context, method string, params any,
	take func(json.RawMessage) error) error {
	wait, err := c.start(ctx, method, params, take)
	if err != nil {
		return err
	}
	return wait(ctx)
}

// start is the first half of call.
func (c *Client) start(ctx context.Context, method string, params any,
	take func(json.RawMessage) error) (wait func(context.Context) error, err error) {
	conn, err := c.connection(ctx)
	if err != nil {
		return nil, err
	}
	call, id, err := c.begin(ctx, conn, method, params, take)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		select {
		case err := <-call.done:
			return err
		case <-ctx.Done():
			c.mu.Lock()
			_, waiting := conn.calls[id]
			delete(conn.calls, id)
			c.mu.Unlock()
			if !waiting { // take may have been called: its effect must be reported
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

// begin sends a request on a connection.
func (c *Client) begin(ctx context.Context, conn *connection, method string, params any,
	take func(json.RawMessage) error) (*call, int64, error) {
	call := &call{take: take, done: make(chan error, 1)}
	c.mu.Lock()
	if conn.over {
		c.mu.Unlock()
		return nil, 0, ErrLost
	}
	c.nextID++
	id := c.nextID
	conn.calls[id] = call
	c.mu.Unlock()
	q := request{Version: "2.0", ID: id, Method: method, Params: params}
	if err := c.send(ctx, conn, q); err != nil {
		c.mu.Lock()
		delete(conn.calls, id)
		c.mu.Unlock()
		return nil, 0, err
	}
	return call, id, nil
}

// answer completes the call that a response is for.
func (c *Client) answer(conn *connection, m *ahp.Message) {
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	if err != nil {
		if m.Error != nil {
			c.log.Warn("the host refused a message", "code", m.Error.Code,
				"reason", m.Error.Message)
		}
		return
	}
	c.mu.Lock()
	call := conn.calls[id]
	delete(conn.calls, id)
	c.mu.Unlock()
	switch {
	case call == nil: // its caller has stopped waiting
	case m.Error != nil:
		call.done <- m.Error
	case call.take != nil:
		call.done <- call.take(m.Result)
	default:
		call.done <- nil
	}
}
