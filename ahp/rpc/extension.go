package rpc

import (
	"context"
	"encoding/json"
	"strconv"

	"termhost/ahp"
)

// Extension answers the methods of another protocol on an AHP connection that has
// been initialized.
type Extension interface {
	// Begin is called once, when the peer has initialized or reconnected, before any
	// request is handled.
	Begin()
	// Has reports whether the Extension has a method. It is never asked for a reserved name: see
	// [ahp.Reserved].
	Has(method string) bool
	// Handle answers a request of such a method. The connection's reader calls it for one request
	// after the other; params belongs to the Extension.
	Handle(method string, params json.RawMessage) Reply
	// Announcement is a member of _meta in the result of initialize that announces the methods to
	// the peer. It never changes.
	Announcement() (key string, value json.RawMessage)
	// Close is called once, after the connection and all Waits have ended.
	Close()
}

// Reply is the answer to a request: one of Error, Result and, if the answer takes
// time, Wait.
type Reply struct {
	// Result appends the result as JSON. It is called when the answer is about to be written, so
	// that large results take no memory while a slow peer reads earlier ones.
	Result func(dst []byte) []byte
	Error  *ahp.Error
	// Wait is called on a goroutine of its own and returns the answer. ctx ends with
	// the connection.
	Wait func(ctx context.Context) (result json.RawMessage, e *ahp.Error)
}

// maxWaits bounds the unanswered requests of an Extension per peer; more are refused.
const maxWaits = 1024

// extended has the connection's Extension answer a request of a method, if it knows that.
func (p *peer) extended(r *request, method string) bool {
	if p.extension == nil || !p.conn.Initialized() || !p.extension.Has(method) {
		return false
	}
	if r.id == nil {
		p.refuse(nil, errNeedsID(r.method))
		return true
	}
	switch reply := p.extension.Handle(method, r.params); {
	case reply.Error != nil:
		p.refuse(r.id, reply.Error)
	case reply.Wait != nil:
		p.await(r.id, reply.Wait)
	default:
		p.respond(r.id, reply.Result)
	}
	return true
}

// await answers a request when wait returns.
func (p *peer) await(id []byte, wait func(context.Context) (json.RawMessage, *ahp.Error)) {
	if p.waits.Add(1) > maxWaits {
		p.waits.Add(-1)
		p.refuse(id, ahp.NewError(ahp.CodeLimit, strconv.Itoa(maxWaits)+" requests of this "+
			"connection are waiting; let some finish", "limit", "waiting requests"))
		return
	}
	do := func() (json.RawMessage, *ahp.Error) { return wait(p.ctx) }
	p.answerLater(id, do, func() { p.waits.Add(-1) })
}
