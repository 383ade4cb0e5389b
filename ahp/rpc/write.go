package rpc

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/ahp/transport"
)

const (
	// pullBytes is how much output the writer takes at a time: enough for large frames, and little
	// enough to hold.
	pullBytes = 256 << 10

	// flushBytes, in bytes, is how much is put together before it is sent: so much that a system
	// call costs little of it.
	flushBytes = 32 << 10

	// maxJoined is how much output goes into one action, in bytes: as much as comes at once from a
	// program that floods.
	maxJoined = 64 << 10

	// A writer that has had nothing to write for quietTime keeps a buffer of at
	// most keepBuffer bytes and a list of at most keepItems, so that a thousand
	// idle peers hold little memory.
	keepBuffer = 4 << 10
	keepItems  = 16
	quietTime  = time.Second
)

// writeLoop writes all items in order until the context ends.
func (p *peer) writeLoop() (err error) {
	defer p.contain(&err)
	sub := p.conn.Subscriber()
	var items []store.Item
	out := frames{to: p.transport}
	for {
		limit, err := p.waitAcks()
		if err != nil {
			return err
		}
		sent, err := p.sendFrames()
		if err != nil {
			return err
		}
		p.leaveOut()
		if items = items[:0]; limit > 0 && p.windows.begun < maxBegun {
			items = sub.Pull(items, limit)
		}
		if len(items) == 0 && sent {
			continue
		}
		if len(items) == 0 {
			var quiet, retry <-chan time.Time
			if after := p.windows.retry; after > 0 {
				retry = time.After(after)
			}
			acked, late := p.acks.opens()
			if cap(out.buf) > keepBuffer || cap(items) > keepItems {
				quiet = time.After(quietTime)
			}
			select {
			case <-sub.Signal():
			case <-p.windows.signal:
			case <-retry:
			case <-acked:
			case <-late:
			case <-quiet:
				out.buf, items = nil, nil
			case <-p.ctx.Done():
				return context.Cause(p.ctx)
			}
			continue
		}
		if err := p.writeItems(&out, items); err != nil {
			return err
		}
		clear(items)
	}
}

// writeItems writes the pulled items, but for those that are sent in windows.
func (p *peer) writeItems(out *frames, items []store.Item) error {
	for len(items) > 0 {
		it := items[0]
		if it.Lagged != nil {
			p.redraw(it.Lagged)
			items = items[1:]
			continue
		}
		if p.enqueue(it) {
			items = items[1:]
			continue
		}
		if it.Post != nil {
			// It may say that all before it has been written.
			if err := out.flush(); err != nil {
				return err
			}
			if err := p.writePost(out, it); err != nil {
				return err
			}
			items = items[1:]
			continue
		}
		n := joined(items)
		out.begin()
		if n > 1 {
			out.buf = p.encodeJoined(out.buf, items[:n])
		} else {
			out.buf = p.encode(out.buf, it)
		}
		out.end()
		for i := range items[:n] {
			p.owe(items[i])
		}
		items = items[n:]
		if len(out.buf) >= flushBytes {
			if err := out.flush(); err != nil {
				return err
			}
		}
	}
	return out.flush()
}

// writePost writes a message of the connection's own. A large answer stays in memory until the peer
// has read it, so only few of an account are written at once.
func (p *peer) writePost(out *frames, it store.Item) error {
	if it.Large {
		release, err := p.conn.WaitLarge(p.ctx)
		if err != nil {
			return err
		}
		defer release()
	}
	out.begin()
	out.buf = it.Post(out.buf)
	out.end()
	err := out.flush()
	if it.Large {
		out.buf = nil
	}
	return err
}

// writeMessage writes one message.
func (p *peer) writeMessage(appendTo func(dst []byte) []byte) error {
	out := frames{to: p.transport}
	out.begin()
	out.buf = appendTo(out.buf)
	out.end()
	return out.flush()
}

// joined returns how many of the first items are sent as one: output of one channel that has come
// while the writer was busy. The peer's state becomes the same, for less work on both sides.
func joined(items []store.Item) int {
	first := items[0].Entry
	bytes, n := first.Output(), 1
	if bytes == 0 {
		return n
	}
	for _, it := range items[1:] {
		if it.Entry == nil || it.Entry.Channel() != first.Channel() || it.Entry.Output() == 0 {
			break
		}
		if bytes += it.Entry.Output(); bytes > maxJoined {
			break
		}
		n++
	}
	return n
}

func (p *peer) encodeJoined(buf []byte, items []store.Item) []byte {
	buf = append(buf, actionHead...)
	buf = store.AppendJoined(buf, items, p.conn.Shape())
	return append(buf, '}')
}

// actionHead begins the notification of an action.
const actionHead = `{"jsonrpc":"2.0","method":"` + ahp.MethodAction + `","params":`

// encode appends the message of an entry; nothing, if it says nothing to this peer.
func (p *peer) encode(buf []byte, it store.Item) []byte {
	switch a := it.Entry.Action().(type) {
	case store.Clipboard:
		return p.appendClipboard(buf, it.Entry.Channel(), a)
	case store.Asked:
		return p.appendAsked(buf, it.Entry.Channel(), a)
	case store.Asks:
		return p.appendAsks(buf, it.Entry.Channel())
	case store.TrustOver:
		return p.appendTrustOver(buf, it.Entry.Channel(), a)
	}
	buf = append(buf, actionHead...)
	buf = it.Entry.AppendEnvelope(buf, p.conn.Shape())
	return append(buf, '}')
}

// respond answers a request; result appends the result as JSON, and should keep little in memory.
func (p *peer) respond(id []byte, result func(dst []byte) []byte) {
	p.conn.Subscriber().Post(func(dst []byte) []byte {
		return append(result(append(appendHead(dst, id), `,"result":`...)), '}')
	}, 0)
}

func appendResult(dst, id, result []byte) []byte {
	dst = append(appendHead(dst, id), `,"result":`...)
	return append(append(dst, result...), '}')
}

// refuse answers with an error; a nil id is unknown.
func (p *peer) refuse(id []byte, e *ahp.Error) {
	p.conn.Subscriber().Post(func(dst []byte) []byte { return appendError(dst, id, e) }, 0)
}

// work handles a request and returns the result as JSON.
type work func() (result json.RawMessage, e *ahp.Error)

// answerLater answers a request with the result of do, which runs on its own goroutine while
// further messages are handled. done is called before the peer can read the answer: it may send its
// next request at once.
func (p *peer) answerLater(id []byte, do work, done func()) {
	p.background.Go(func() {
		result, e := p.contained(do)
		done()
		if e != nil {
			p.refuse(id, e)
			return
		}
		p.conn.Subscriber().Post(func(dst []byte) []byte { return appendResult(dst, id, result) },
			len(result))
	})
}

// contained calls do and turns a panic in it into an error.
func (p *peer) contained(do work) (result json.RawMessage, e *ahp.Error) {
	defer func() {
		if v := recover(); v != nil {
			p.logPanic(v)
			e = ahp.NewError(ahp.CodeInternal, transport.InternalError)
		}
	}()
	return do()
}

// snapshots answers a request whose result holds snapshots, or what a reconnecting peer missed. The
// answer takes its place in the order before take subscribes, and the writer stops there until take
// has returned. So all that the result does not contain follows the answer. channels is the most it
// may be about.
func (p *peer) snapshots(id []byte, channels int,
	take func() (result func(dst []byte) []byte, e *ahp.Error)) {
	var result func(dst []byte) []byte
	e := ahp.NewError(ahp.CodeInternal, transport.InternalError) // replaced unless take panics
	taken := make(chan struct{})
	defer close(taken)
	answer := func(dst []byte) []byte {
		<-taken
		if e != nil {
			return appendError(dst, id, e)
		}
		return append(result(append(appendHead(dst, id), `,"result":`...)), '}')
	}
	if channels > 0 {
		p.conn.Subscriber().PostLarge(answer, 0)
	} else {
		p.conn.Subscriber().Post(answer, 0)
	}
	result, e = take()
}

func appendError(dst, id []byte, e *ahp.Error) []byte {
	dst = appendHead(dst, id)
	dst = append(dst, `,"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(e.Code), 10)
	dst = append(dst, `,"message":`...)
	dst = ahp.AppendJSONString(dst, e.Message)
	if len(e.Data) > 0 {
		dst = append(dst, `,"data":`...)
		dst = append(dst, e.Data...)
	}
	return append(dst, "}}"...)
}

// appendHead appends a response up to and including its id.
func appendHead(dst, id []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		return append(dst, "null"...)
	}
	return append(dst, id...)
}

func appendNull(dst []byte) []byte { return append(dst, "null"...) }
