package rpc

import (
	"context"
	"encoding/json"

	"termhost/ahp"
)

// Extension answers the methods of another protocol on an AHP connection, once
// it is initialized.
type Extension interface {
	// Has reports whether a method is one of its own.
	Has(method string) bool
	// Handle answers a request of such a method. It is called by the connection's
	// reader, one request after the other; params is the Extension's.
	Handle(method string, params json.RawMessage) Reply
	// Announcement is a member of initialize's _meta, which says that the methods are
	// there. It does not change.
	Announcement() (key string, value json.RawMessage)
	// Close is called once, when the connection has ended and no Wait is running.
	Close()
}

// Reply is the answer to a request: Error, or Result, or where it takes time,
// Wait.
type Reply struct {
	// Result appends the result as JSON. It is called when the answer is about to
	// be written, so that large ones take no room while they wait for a slow peer.
	Result func(dst []byte) []byte
	Error  *ahp.Error
	// Wait, if not nil, is called on a goroutine of its own and returns the
	// answer. ctx ends with the connection.
	Wait func(ctx context.Context) (result json.RawMessage, e *ahp.Error)
}

// maxWaits is how many requests of an Extension one peer may have waiting; more
// are refused: a peer that waits for a thousand things at once has lost count.
const maxWaits = 1024

// extended has the connection's Extension answer a request, if there is one.
func (p *peer) extended(r *request) (known bool) {
	if p.extension == nil || !p.c.Initialized() || !p.extension.Has(r.method) {
		return false
	}
	if r.id == nil {
		p.refuse(nil, ahp.NewError(ahp.CodeInvalidRequest, r.method+" is a request and needs an id"))
		return true
	}
	switch reply := p.extension.Handle(r.method, r.params); {
	case reply.Error != nil:
		p.refuse(r.id, reply.Error)
	case reply.Wait != nil:
		p.await(r.id, reply.Wait)
	default:
		p.respond(r.id, reply.Result)
	}
	return true
}

// await answers a request when wait returns; other messages are answered
// meanwhile.
func (p *peer) await(id []byte, wait func(context.Context) (json.RawMessage, *ahp.Error)) {
	if p.waits.Add(1) > maxWaits {
		p.waits.Add(-1)
		p.refuse(id, ahp.NewError(ahp.CodeLimit, "1024 requests of this connection are waiting; let some finish", "limit", "waiting requests"))
		return
	}
	p.background.Go(func() {
		defer p.waits.Add(-1)
		result, e := p.waited(wait)
		if e != nil {
			p.refuse(id, e)
			return
		}
		p.respond(id, func(dst []byte) []byte { return append(dst, result...) })
	})
}

func (p *peer) waited(wait func(context.Context) (json.RawMessage, *ahp.Error)) (result json.RawMessage, e *ahp.Error) {
	var err error
	defer func() {
		if err != nil {
			e = ahp.NewError(ahp.CodeInternal, err.Error())
		}
	}()
	defer p.contain(&err)
	return wait(p.ctx)
}
