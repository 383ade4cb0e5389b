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
// shown. While the window is used up, the writer pulls no output: the peer's cursors stand still,
// and if they fall off their logs they are resynchronised, as those of any slow peer. Answers and
// the root's actions are late at most: see stallWait.
//
// A peer that acknowledges promptly has the host find out how much may be on the way: see line.

const (
	// maxWindow bounds a peer's window, in bytes. A larger one controls nothing.
	maxWindow = 64 << 20
	// leastPull is how many bytes the writer takes at a time when the window is nearly used up.
	leastPull = 4 << 10
	// ackWait is how long the writer waits for an acknowledgement before it sends another window.
	// So a peer that forgets to acknowledge is slow but not stuck.
	ackWait = 10 * time.Second
	// stallWait is how long answers and the root's actions wait behind output for which the window
	// has no room. It is a round trip on the slowest line: a peer that shows its output
	// acknowledges sooner, and what overtakes output has it sent anew.
	stallWait = time.Second
)

// ackWindow is the flow control of one peer.
type ackWindow struct {
	window atomic.Int64  // in bytes of terminal/data; 0: the peer does not acknowledge
	owed   atomic.Int64  // written and not acknowledged
	acked  chan struct{} // 1 deep: something was acknowledged

	// Of the writer.
	since   time.Time // when the window was used up; zero: it is not
	stalled bool      // no output is pulled: see stallWait

	line atomic.Pointer[line] // of a peer that acknowledges promptly, instead of owed; else nil
}

// capabilities are what a peer announces in the _meta of initialize and reconnect.
type capabilities struct {
	Meta struct {
		Ack       *ackCapability `json:"termhost/ack"`
		Clipboard *struct{}      `json:"termhost/clipboard"`
		Asked     *struct{}      `json:"termhost/asked"`
		Asks      *struct{}      `json:"termhost/asks"`
		Picture   *struct{}      `json:"termhost/picture"`
		Screen    *screenFirst   `json:"termhost/screenFirst"`

		// Under their reserved names: see ahp.Reserved.
		ReservedAck       *ackCapability `json:"x-termhost/ack"`
		ReservedClipboard *struct{}      `json:"x-termhost/clipboard"`
		ReservedAsked     *struct{}      `json:"x-termhost/asked"`
		ReservedAsks      *struct{}      `json:"x-termhost/asks"`
		ReservedPicture   *struct{}      `json:"x-termhost/picture"`
		ReservedScreen    *screenFirst   `json:"x-termhost/screenFirst"`

		Others jsontext.Value `json:",embed"`
	} `json:"_meta"`
}

// ackCapability is how much a peer wants to be sent beyond what it has acknowledged.
type ackCapability struct {
	Window int64 `json:"window"`
	// Prompt says that the peer acknowledges at the latest 50 ms after it could have.
	Prompt bool `json:"prompt"`
}

// plain has the capabilities stand under their plain names, and reports whether there is a reserved
// name, also of something that is not known.
func (c *capabilities) plain() (reserved bool) {
	m := &c.Meta
	reserved = m.ReservedAck != nil || m.ReservedClipboard != nil || m.ReservedAsked != nil ||
		m.ReservedAsks != nil || m.ReservedPicture != nil || m.ReservedScreen != nil
	m.Ack = cmp.Or(m.ReservedAck, m.Ack)
	m.Clipboard = cmp.Or(m.ReservedClipboard, m.Clipboard)
	m.Asked = cmp.Or(m.ReservedAsked, m.Asked)
	m.Asks = cmp.Or(m.ReservedAsks, m.Asks)
	m.Picture = cmp.Or(m.ReservedPicture, m.Picture)
	m.Screen = cmp.Or(m.ReservedScreen, m.Screen)
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
	if c.Meta.Picture != nil {
		p.conn.Subscriber().WantPictures()
	}
	if screen := c.Meta.Screen; screen != nil {
		if e := screen.check("_meta." + p.conn.NameOf(ahp.MetaScreenFirst)); e != nil {
			return e
		}
		p.conn.Subscriber().WantScreens()
		p.screenFirst.Store(screen)
	}
	switch ack := c.Meta.Ack; {
	case ack == nil:
		return nil
	case ack.Window < 1 || ack.Window > maxWindow:
		return ahp.FieldProblem("_meta."+p.conn.NameOf(ahp.MethodAck)+".window",
			"must be 1 to 67108864 bytes")
	default:
		p.acks.window.Store(ack.Window)
		if ack.Prompt {
			p.acks.line.Store(newLine(ack.Window))
		}
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
	if line := p.acks.line.Load(); line != nil {
		line.ack(params.Bytes, time.Now())
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

// waitAcks returns when the peer may be sent more, and about how many bytes. While the window is
// used up, that is what is not output, after stallWait; 0: there is nothing else.
func (p *peer) waitAcks() (limit int, err error) {
	if p.acks.window.Load() == 0 {
		return pullBytes, nil
	}
	sub, a := p.conn.Subscriber(), &p.acks
	for {
		if left := a.left(); left > 0 {
			a.since = time.Time{}
			if a.stalled {
				a.stalled = false
				sub.Flow()
			}
			return int(min(max(left, leastPull), pullBytes)), nil
		}
		if a.since.IsZero() {
			a.since = time.Now()
		}
		waited := time.Since(a.since)
		switch {
		case waited >= ackWait:
			a.forget()
			continue
		case waited >= stallWait:
			if a.stalled = sub.Stall(p.windows.has) || a.stalled; a.stalled {
				return pullBytes, nil
			}
			return 0, nil
		}
		timer := time.NewTimer(stallWait - waited)
		select {
		case <-a.acked:
		case <-timer.C:
		case <-p.ctx.Done():
			timer.Stop()
			return 0, context.Cause(p.ctx)
		}
		timer.Stop()
	}
}

// opens returns what receives when a window that is used up may have room again, for the writer.
func (a *ackWindow) opens() (acked <-chan struct{}, late <-chan time.Time) {
	if a.since.IsZero() {
		return nil, nil
	}
	return a.acked, time.After(ackWait - time.Since(a.since))
}

// left returns how many bytes the peer may be sent; none if that is not positive.
func (a *ackWindow) left() int64 {
	if line := a.line.Load(); line != nil {
		return line.left()
	}
	return a.window.Load() - a.owed.Load()
}

// room returns how much may be on the way at once, in bytes; 0: that is not found out.
func (a *ackWindow) room() int64 {
	line := a.line.Load()
	if line == nil {
		return 0
	}
	line.mu.Lock()
	defer line.mu.Unlock()
	return line.roomLocked()
}

// forget has what is on the way be acknowledged.
func (a *ackWindow) forget() {
	a.owed.Store(0)
	if line := a.line.Load(); line != nil {
		line.empty()
	}
}

// owe counts what was written.
func (p *peer) owe(it store.Item) {
	if it.Entry == nil || p.acks.window.Load() == 0 {
		return
	}
	d, ok := it.Entry.Action().(ahp.TerminalData)
	if !ok {
		return
	}
	p.oweData(int64(len(d.Data)))
}

// oweData counts output that was written, in bytes.
func (p *peer) oweData(n int64) {
	if p.acks.window.Load() == 0 {
		return
	}
	p.acks.owed.Add(n)
	if line := p.acks.line.Load(); line != nil {
		line.send(n, time.Now())
	}
}
