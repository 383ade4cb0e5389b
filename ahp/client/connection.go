package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"termhost/ahp"
	"termhost/ahp/transport"
)

const (
	// outQueue is how many messages may wait for a connection's writer; callers
	// with more have to wait.
	outQueue = 64
	// handshakeWait bounds the time to connect, up to the answer to initialize or
	// reconnect, which may bring all that was missed: 8 MiB of output over a slow
	// line.
	handshakeWait = 5 * time.Minute
)

// connection is one transport and what waits for answers on it.
type connection struct {
	transport transport.Transport
	out       chan []byte
	ended     chan struct{} // closed when the transport is over
	written   chan struct{} // closed when the writer has ended
	heard     atomic.Bool   // a message has come since keepAlive last looked
	silent    atomic.Bool   // keepAlive has closed the transport

	// Guarded by Client.mu.
	calls map[int64]*call // by id
	over  bool            // calls are not answered any more
}

// connect makes a connection and calls greet, which begins the conversation on it.
func (c *Client) connect(ctx context.Context,
	greet func(context.Context, *connection) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, handshakeWait,
		errors.New("client: the host did not answer in time"))
	defer cancel()
	t, err := c.cfg.Dial(ctx)
	if err != nil {
		return err
	}
	conn := &connection{transport: t, out: make(chan []byte, outQueue),
		ended: make(chan struct{}), written: make(chan struct{}), calls: map[int64]*call{}}
	go conn.write()
	stop := context.AfterFunc(ctx, func() { t.Close(transport.Goodbye) })
	err = greet(ctx, conn)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		c.hangUp(conn)
		return err
	}
	c.mu.Lock()
	c.conn = conn
	c.conns++
	state := State{Connected: true, Conn: c.conns, Resumed: c.resumed, Owned: c.owned}
	close(c.connected)
	c.mu.Unlock()
	c.tell(state)
	return nil
}

// write sends what is queued until the connection has ended.
func (conn *connection) write() {
	defer close(conn.written)
	for {
		select {
		case msg := <-conn.out:
			if conn.transport.Write(msg) != nil {
				conn.transport.Close(transport.Goodbye) // Read returns the reason
				return
			}
		case <-conn.ended:
			return
		}
	}
}

// hangUp ends a connection. Calls that are waiting for answers on it are lost.
func (c *Client) hangUp(conn *connection) {
	close(conn.ended)
	conn.transport.Close(transport.Goodbye)
	if f, ok := conn.transport.(transport.Finisher); ok {
		f.Finish()
	}
	<-conn.written
	c.mu.Lock()
	defer c.mu.Unlock()
	conn.over = true
	for id, call := range conn.calls {
		delete(conn.calls, id)
		call.done <- ErrLost
	}
	if c.conn == conn {
		c.conn = nil
		c.connected = make(chan struct{})
	}
}

// serve reads from the present connection to its end, and returns why it ended.
func (c *Client) serve() error {
	c.mu.Lock()
	conn := c.conn
	c.mu.Unlock()
	stop := context.AfterFunc(c.ctx, func() { conn.transport.Close(transport.Goodbye) })
	defer stop()
	if c.cfg.Keepalive > 0 {
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.keepAlive(conn)
		}()
		defer func() { <-done }()
	}
	defer c.hangUp(conn)
	for {
		if err := c.readOne(conn); err != nil {
			return err
		}
	}
}

// readOne reads and handles a message.
func (c *Client) readOne(conn *connection) error {
	msg, err := conn.transport.Read()
	conn.heard.Store(true)
	switch {
	case conn.silent.Load():
		return errSilent
	case err != nil:
		return fmt.Errorf("client: %w", err)
	}
	m, ok := ahp.ParseMessage(msg)
	if !ok {
		return errors.New("client: the host sent something that is not a JSON-RPC message")
	}
	switch m.Method {
	case ahp.MethodAction:
		e, err := ahp.DecodeEnvelope(m.Params)
		if err != nil {
			return errors.New("client: the host sent an action that cannot be read")
		}
		c.apply(&e)
	case "":
		c.answer(conn, &m)
	}
	return nil
}

// connection waits until there is a connection, and returns it.
func (c *Client) connection(ctx context.Context) (*connection, error) {
	for {
		c.mu.Lock()
		conn, connected := c.conn, c.connected
		c.mu.Unlock()
		if conn != nil {
			return conn, nil
		}
		select {
		case <-connected:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-c.ctx.Done():
			return nil, c.Err()
		}
	}
}

// send encodes a message and hands it to the connection's writer.
func (c *Client) send(ctx context.Context, conn *connection, v any) error {
	msg, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("client: the message cannot be encoded: %w", err)
	}
	return c.queue(ctx, conn, msg)
}

// queue hands a message to the connection's writer.
func (c *Client) queue(ctx context.Context, conn *connection, msg []byte) error {
	select {
	case conn.out <- msg:
		return nil
	case <-conn.ended:
		return ErrLost
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.ctx.Done():
		return c.Err()
	}
}
