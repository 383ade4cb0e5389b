package client

import (
	"bytes"
	"context"
	"encoding/json"

	"termhost/ahp"
)

// Post sends an action without waiting for the host's word, which comes to tell:
// what the host has to say beside, and nil, [*Rejected], or [ErrLost] when the
// connection ended before. tell is called once by the client's own goroutine and
// must not block or call back. Actions reach the host in the order in which Post
// was called.
//
// link is the connection that the action is meant for, as [State] numbers them:
// on any other one Post does nothing and returns ErrLost. So nobody sends out of
// order who has not looked yet at what a lost connection left undone. On an
// error tell is not called.
func (c *Client) Post(ctx context.Context, link int64, channel string, a ahp.Action, tell func(notice string, err error)) (clientSeq int64, err error) {
	c.mu.Lock()
	l := c.link
	if l == nil || c.links != link {
		c.mu.Unlock()
		return 0, ErrLost
	}
	c.mu.Unlock()
	return c.post(ctx, l, channel, a, tell)
}

func (c *Client) post(ctx context.Context, l *link, channel string, a ahp.Action, tell func(string, error)) (clientSeq int64, err error) {
	c.mu.Lock()
	if l.over {
		c.mu.Unlock()
		return 0, ErrLost
	}
	c.nextSeq++
	seq := c.nextSeq
	c.acts[seq] = &dispatched{kind: a.Type(), tell: tell}
	c.mu.Unlock()
	params := ahp.DispatchParams{Channel: channel, ClientSeq: seq, Action: ahp.AppendAction(nil, a, c.shape())}
	if err := c.send(ctx, l, request{Version: "2.0", Method: "dispatchAction", Params: params}); err != nil && c.forget(seq) {
		return 0, err
	}
	return seq, nil
}

// forget makes the answer to an action nobody's. It is false if that was told
// already.
func (c *Client) forget(seq int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	waits := c.acts[seq] != nil
	delete(c.acts, seq)
	return waits
}

// noticeOf returns what the host says to the sender of an action, with its echo.
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
