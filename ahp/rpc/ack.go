package rpc

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"termhost/ahp"
	"termhost/ahp/store"
)

// Acknowledged flow control is an extension (termhost/ack) for a peer that shows output more slowly
// than the transport carries it, as a browser does: TCP would buffer seconds of it, all of it old
// by the time it is shown. The peer sets a window in initialize, and then acknowledges what it has
// shown. While the window is used up, the writer does not pull: the peer's cursors stand still, and
// if they fall off their logs they are resynchronised, as those of any slow peer.

const (
	// maxWindow bounds a peer's window, in bytes. A larger one controls nothing.
	maxWindow = 64 << 20
	// leastPull is how many bytes the writer takes at a time when the window is nearly used up.
	leastPull = 4 << 10
	// ackWait is how long the writer waits for an acknowledgement before it sends another window.
	// So a peer that forgets to acknowledge is slow but not stuck, and its requests are answered.
	ackWait = 10 * time.Second
)

// ackWindow is the flow control of one peer.
type ackWindow struct {
	window atomic.Int64  // in bytes of terminal/data; 0: the peer does not acknowledge
	owed   atomic.Int64  // written and not acknowledged
	acked  chan struct{} // 1 deep: something was acknowledged
}

// capabilities are what a peer announces in the _meta of initialize and reconnect.
type capabilities struct {
	Meta struct {
		Ack       *ackCapability `json:"termhost/ack"`
		Clipboard *struct{}      `json:"termhost/clipboard"`
		Asked     *struct{}      `json:"termhost/asked"`
		Asks      *struct{}      `json:"termhost/asks"`

		// Under their reserved names: see ahp.Reserved.
		ReservedAck       *ackCapability `json:"x-termhost/ack"`
		ReservedClipboard *struct{}      `json:"x-termhost/clipboard"`
		ReservedAsked     *struct{}      `json:"x-termhost/asked"`
		ReservedAsks      *struct{}      `json:"x-termhost/asks"`

		Others jsontext.Value `json:",embed"`
	} `json:"_meta"`
}

// ackCapability is how much a peer wants to be sent beyond what it has acknowledged.
type ackCapability struct {
	Window int64 `json:"window"`
}

// plain has the capabilities stand under their plain names, and reports whether there is a reserved
// name, also of something that is not known.
func (c *capabilities) plain() (reserved bool) {
	m := &c.Meta
	reserved = m.ReservedAck != nil || m.ReservedClipboard != nil || m.ReservedAsked != nil ||
		m.ReservedAsks != nil
	m.Ack = cmp.Or(m.ReservedAck, m.Ack)
	m.Clipboard = cmp.Or(m.ReservedClipboard, m.Clipboard)
	m.Asked = cmp.Or(m.ReservedAsked, m.Asked)
	m.Asks = cmp.Or(m.ReservedAsks, m.Asks)
	ahp.EachMember(m.Others, func(name string, _ []byte) {
		_, r := ahp.Plain(name)
		reserved = reserved || r
	})
	return reserved
}

// wants applies a peer's capabilities.
func (p *peer) wants(c capabilities) *ahp.Error {
	if c.plain() {
		p.conn.UseReservedNames()
	}
	if c.Meta.Clipboard != nil {
		p.conn.Subscriber().WantClipboards()
	}
	if c.Meta.Asked != nil {
		p.conn.Subscriber().WantAsked()
	}
	if c.Meta.Asks != nil {
		p.conn.Subscriber().WantAsks()
	}
	switch ack := c.Meta.Ack; {
	case ack == nil:
		return nil
	case ack.Window < 1 || ack.Window > maxWindow:
		return ahp.FieldProblem("_meta."+p.conn.NameOf(ahp.MethodAck)+".window",
			"must be 1 to 67108864 bytes")
	default:
		p.acks.window.Store(ack.Window)
	}
	return nil
}

// acknowledged handles a notification of how much the peer has shown.
func (p *peer) acknowledged(r *request) *ahp.Error {
	var params struct {
		Bytes int64 `json:"bytes"`
	}
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	if params.Bytes < 0 {
		return ahp.FieldProblem("bytes", "must not be negative")
	}
	// A peer may count more bytes than the host, which counted invalid UTF-8 as such and not as
	// U+FFFD.
	for {
		owed := p.acks.owed.Load()
		if p.acks.owed.CompareAndSwap(owed, max(owed-params.Bytes, 0)) {
			break
		}
	}
	select {
	case p.acks.acked <- struct{}{}:
	default:
	}
	p.acknowledge(r)
	return nil
}

// waitAcks returns when the peer may be sent more, and about how many bytes.
func (p *peer) waitAcks() (limit int, err error) {
	window := p.acks.window.Load()
	if window == 0 {
		return pullBytes, nil
	}
	var late <-chan time.Time
	for p.acks.owed.Load() >= window {
		if late == nil {
			timer := time.NewTimer(ackWait)
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-p.acks.acked:
		case <-late:
			p.acks.owed.Store(0)
		case <-p.ctx.Done():
			return 0, context.Cause(p.ctx)
		}
	}
	return int(min(max(window-p.acks.owed.Load(), leastPull), pullBytes)), nil
}

// owe counts what was written.
func (p *peer) owe(it store.Item) {
	if it.Entry == nil || p.acks.window.Load() == 0 {
		return
	}
	if d, ok := it.Entry.Action().(ahp.TerminalData); ok {
		p.acks.owed.Add(int64(len(d.Data)))
	}
}
