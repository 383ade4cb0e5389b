package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/gorilla/websocket"

	"termhost/ahp"
)

// request is a JSON-RPC request or, without an id, a notification.
type request struct {
	Version string `json:"jsonrpc"`
	ID      int64  `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// message is what the host sends: a response or a notification.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *ahp.Error      `json:"error"`
}

// connect makes a transport and has greet begin the conversation on it.
func (c *Client) connect(ctx context.Context, greet func(context.Context, *link) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, handshakeWait, errors.New("client: the host did not answer in time"))
	defer cancel()
	t, err := c.cfg.Dial(ctx)
	if err != nil {
		return err
	}
	l := &link{t: t, out: make(chan []byte, outQueue), ended: make(chan struct{}), written: make(chan struct{}),
		calls: map[int64]*call{}}
	go l.write()
	stop := context.AfterFunc(ctx, func() { t.Close("goodbye") })
	err = greet(ctx, l)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		c.hangUp(l)
		return err
	}
	c.mu.Lock()
	c.link = l
	c.links++
	state := State{Connected: true, Link: c.links, Resumed: c.resumed, Owned: c.owned}
	close(c.linked)
	c.mu.Unlock()
	c.tell(state)
	return nil
}

// write sends what is queued until the link has ended.
func (l *link) write() {
	defer close(l.written)
	for {
		select {
		case msg := <-l.out:
			if l.t.Write(msg) != nil {
				l.t.Close("goodbye") // the reader finds out why
				return
			}
		case <-l.ended:
			return
		}
	}
}

// hangUp ends a link; calls that wait on it are lost.
func (c *Client) hangUp(l *link) {
	close(l.ended)
	finish(l.t)
	<-l.written
	c.mu.Lock()
	defer c.mu.Unlock()
	l.over = true
	for id, call := range l.calls {
		delete(l.calls, id)
		call.done <- ErrLost
	}
	if c.link == l {
		c.link = nil
		c.linked = make(chan struct{})
	}
}

// serve reads the present link to its end and returns why it ended.
func (c *Client) serve() error {
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	stop := context.AfterFunc(c.ctx, func() { l.t.Close("goodbye") })
	defer stop()
	if c.cfg.Keepalive > 0 {
		kept := make(chan struct{})
		go func() {
			defer close(kept)
			c.keepAlive(l)
		}()
		defer func() { <-kept }()
	}
	defer c.hangUp(l)
	for {
		if err := c.readOne(l); err != nil {
			return err
		}
	}
}

func (c *Client) readOne(l *link) error {
	msg, err := l.t.Read()
	l.heard.Store(true)
	switch {
	case l.silent.Load():
		return errSilent
	case err != nil:
		return fmt.Errorf("client: %w", err)
	}
	var m message
	if err := json.Unmarshal(msg, &m); err != nil {
		return errors.New("client: the host sent what is no JSON-RPC message")
	}
	switch {
	case m.Method == "action":
		var e ahp.Envelope
		if err := json.Unmarshal(m.Params, &e); err != nil {
			return errors.New("client: the host sent an action that cannot be read")
		}
		c.apply(&e)
	case m.Method == "":
		c.answer(l, &m)
	}
	return nil
}

// answer gives a response to whoever waits for it.
func (c *Client) answer(l *link, m *message) {
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	if err != nil {
		if m.Error != nil {
			c.log.Warn("the host refused a message", "code", m.Error.Code, "reason", m.Error.Message)
		}
		return
	}
	c.mu.Lock()
	call := l.calls[id]
	delete(l.calls, id)
	c.mu.Unlock()
	switch {
	case call == nil: // its caller has given up
	case m.Error != nil:
		call.done <- m.Error
	case call.take != nil:
		call.done <- call.take(m.Result)
	default:
		call.done <- nil
	}
}

// begin sends a request on l.
func (c *Client) begin(ctx context.Context, l *link, method string, params any, take func(json.RawMessage) error) (*call, int64, error) {
	call := &call{take: take, done: make(chan error, 1)}
	c.mu.Lock()
	if l.over {
		c.mu.Unlock()
		return nil, 0, ErrLost
	}
	c.nextID++
	id := c.nextID
	l.calls[id] = call
	c.mu.Unlock()
	if err := c.send(ctx, l, request{Version: "2.0", ID: id, Method: method, Params: params}); err != nil {
		c.mu.Lock()
		delete(l.calls, id)
		c.mu.Unlock()
		return nil, 0, err
	}
	return call, id, nil
}

// call sends a request and waits for its answer. take is given the result before
// anything that came after it is read.
func (c *Client) call(ctx context.Context, method string, params any, take func(json.RawMessage) error) error {
	wait, err := c.start(ctx, method, params, take)
	if err != nil {
		return err
	}
	return wait(ctx)
}

// greeting sends a request on a link that nobody reads yet, and reads until it
// is answered.
func (c *Client) greeting(ctx context.Context, l *link, method string, params any, take func(json.RawMessage) error) error {
	call, _, err := c.begin(ctx, l, method, params, take)
	if err != nil {
		return err
	}
	for {
		if err := c.readOne(l); err != nil {
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
// snapshots; those that get none are gone.
func (c *Client) initialize(ctx context.Context, l *link) error {
	var p initializeParams
	p.InitializeParams = ahp.InitializeParams{Channel: ahp.RootURI, ProtocolVersions: c.cfg.Versions, ClientID: c.id,
		InitialSubscriptions: c.subscriptions()}
	p.ClientInfo.Name = "termhost"
	return c.greeting(ctx, l, "initialize", p, func(raw json.RawMessage) error {
		var hello ahp.InitializeResult
		if err := json.Unmarshal(raw, &hello); err != nil {
			return fmt.Errorf("client: the answer to initialize cannot be read: %w", err)
		}
		return c.begun(&hello)
	})
}

func (c *Client) begun(hello *ahp.InitializeResult) error {
	snapshots := hello.Snapshots
	hello.Snapshots = nil
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hello = *hello
	c.lastSeq = hello.ServerSeq
	c.resumed, c.owned = false, nil
	c.failActsLocked(ErrLost)
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
			c.loseLocked(uri)
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

// loseLocked forgets a mirror whose channel the host does not have.
func (c *Client) loseLocked(uri string) {
	if m := c.mirrors[uri]; m != nil {
		delete(c.mirrors, uri)
		m.fail(ErrGone)
	}
}

// resume continues the conversation where the last transport ended.
func (c *Client) resume(ctx context.Context, l *link) error {
	c.mu.Lock()
	last := c.lastSeq
	c.mu.Unlock()
	p := ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: c.id, LastSeenServerSeq: last, Subscriptions: c.subscriptions()}
	err := c.greeting(ctx, l, "reconnect", p, c.takeReplay)
	var refused *ahp.Error
	if errors.As(err, &refused) && refused.Code == ahp.CodeNotFound {
		return c.initialize(ctx, l) // the host has forgotten us
	}
	return err
}

func (c *Client) takeReplay(raw json.RawMessage) error {
	var r struct {
		ahp.ReconnectResult
		Snapshots []ahp.Snapshot `json:"snapshots"` // of other hosts
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
		c.loseLocked(uri)
	}
	c.resumed, c.owned = true, nil
	if r.Meta != nil {
		c.owned = r.Meta.Owned
	}
	// An echo that has not come with the replay does not come any more.
	c.failActsLocked(ErrLost)
	return nil
}

// isFinal reports whether to connect again would end the same way.
func isFinal(err error) bool {
	var closed *websocket.CloseError
	var refused *ahp.Error
	switch {
	case errors.Is(err, ErrRefused):
		return true
	case errors.As(err, &closed):
		switch closed.Code {
		case websocket.CloseNormalClosure, websocket.CloseGoingAway, websocket.CloseAbnormalClosure,
			websocket.CloseInternalServerErr, websocket.CloseServiceRestart, websocket.CloseTryAgainLater:
			return false
		}
		return true
	case errors.As(err, &refused):
		return refused.Code != ahp.CodeInternal && refused.Code != ahp.CodeLimit
	}
	return false
}
