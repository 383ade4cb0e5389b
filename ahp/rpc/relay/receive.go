package relay

import (
	"context"
	"encoding/json"
	"fmt"

	"termhost/ahp"
)

// read takes a line of the owner.
func (r *remote) read(ctx context.Context, line []byte) error {
	m, err := parse(line)
	if err != nil {
		return err
	}
	r.receiving.Lock()
	for r.holds > 0 && m.method != "" && r.heldBytes > maxHeld {
		released := r.released
		r.receiving.Unlock()
		select {
		case <-released:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		r.receiving.Lock()
	}
	defer r.receiving.Unlock()
	if r.holds > 0 && m.method != "" {
		r.held, r.heldBytes = append(r.held, m), r.heldBytes+len(line)
		return nil
	}
	return r.receive(m)
}

// receive takes a message of the owner. r.receiving is held.
func (r *remote) receive(m message) error {
	switch {
	case m.method == "" && m.id != 0:
		return r.answered(m)
	case m.method == ahp.MethodAction:
		return r.action(m.params)
	case m.method != "" && m.id == 0:
		return r.note(m)
	}
	return nil
}

// answered takes an answer.
func (r *remote) answered(m message) error {
	r.mu.Lock()
	q := r.asked[m.id]
	delete(r.asked, m.id)
	uri, late := r.late[m.id]
	delete(r.late, m.id)
	if late && m.err == nil && !r.followsLocked(uri) {
		// The client was told that it does not follow the terminal.
		r.enqueueLocked(outgoing{
			text: appendRequest(nil, 0, ahp.MethodUnsubscribe, []byte("{}"), uri)})
	}
	if q != nil && q.follows != "" && m.err == nil {
		r.follows[q.follows] = true
	}
	r.mu.Unlock()
	switch {
	case q == nil:
		return nil
	case q.follows == "" || m.err != nil:
		r.answer(q, m.result, renamed(r.dated(q, m.err), r.host, q.uri))
		return nil
	}
	name, _ := ahp.FleetURI(r.host, q.follows)
	text, seq, err := snapshot(member(m.result, "snapshot"), name, r.host)
	if err != nil {
		r.answer(q, nil, ahp.NewError(ahp.CodeInternal, r.host+": "+err.Error()))
		return err
	}
	r.lastSeen = max(r.lastSeen, seq)
	if q.deliver != nil {
		q.deliver(text, nil)
		return nil
	}
	head := append(append([]byte(`{"jsonrpc":"2.0","id":`), q.id...), `,"result":{"snapshot":`...)
	r.all.passOn(r.host, numbered(append(head, text...), "}}}"), len(text), seq, nil)
	return nil
}

// dated explains the error of a host whose termhost does not know a method. Others stay.
func (r *remote) dated(q *question, e *ahp.Error) *ahp.Error {
	if e == nil || e.Code != ahp.CodeMethodNotFound {
		return e
	}
	version := "of an unknown version"
	for _, h := range r.all.door.fleet.Hosts() {
		if h.Name == r.host && h.Version != "" {
			version = h.Version
		}
	}
	return ahp.NewError(e.Code, fmt.Sprintf("%s runs termhost %s, which does not know %s over "+
		"the fleet: update it", r.host, version, q.method), "method", q.method, "host", r.host)
}

// followsLocked reports whether the client follows a terminal, or is about to.
func (r *remote) followsLocked(uri string) bool {
	if r.follows[uri] {
		return true
	}
	for _, q := range r.asked {
		if q.follows == uri {
			return true
		}
	}
	return false
}

// action passes on an action.
func (r *remote) action(params json.RawMessage) error {
	e, err := ahp.DecodeEnvelope(params)
	if err != nil || len(e.Action) == 0 || e.Action[0] != '{' {
		return errMessage
	}
	name, ok := ahp.FleetURI(r.host, e.Channel)
	if !ok {
		return nil // of another channel than a terminal's
	}
	if e.Origin != nil && e.Origin.ClientID == r.all.peer.Conn.ClientID() {
		r.settle(e.Origin.ClientSeq, e.RejectionReason == "")
	}
	r.lastSeen = max(r.lastSeen, e.ServerSeq)
	var written func()
	if size := dataSize(e.Action); size > 0 {
		r.mu.Lock()
		link := r.link
		r.mu.Unlock()
		written = func() { r.wrote(link, size) }
	}
	text := appendEnvelope(&e, name)
	r.all.passOn(r.host, numbered(text, "}}"), len(text), e.ServerSeq, written)
	return nil
}

// note passes on a notification about a terminal, or takes note of one about all.
func (r *remote) note(m message) error {
	plain, _ := ahp.Plain(m.method)
	switch plain {
	case ahp.MethodWanting:
		return r.wants(m.params)
	case ahp.MethodGroups:
		return r.belong(m.params)
	}
	var channel string
	_ = json.Unmarshal(member(m.params, "channel"), &channel)
	name, ok := ahp.FleetURI(r.host, channel)
	if !ok {
		return nil
	}
	switch plain {
	case ahp.MethodUnsubscribed:
		r.forget(ahp.MethodUnsubscribe, channel)
	case ahp.MethodClipboard, ahp.MethodAsked, ahp.MethodAsks, ahp.MethodTrustOver:
	default:
		return nil
	}
	text := appendNote(m.method, m.params, name)
	r.all.passOn(r.host, func(dst []byte, _ uint64) []byte { return append(dst, text...) },
		len(text), 0, nil)
	return nil
}

// replayed takes the answer to reconnect.
func (r *remote) replayed(result json.RawMessage) error {
	var replay struct {
		Actions []json.RawMessage `json:"actions"`
		Missing []string          `json:"missing"`
		Meta    struct {
			Termhost struct {
				Typed map[string]int64 `json:"typed"`
			} `json:"termhost"`
		} `json:"_meta"`
	}
	if json.Unmarshal(result, &replay) != nil {
		return errMessage
	}
	typed := replay.Meta.Termhost.Typed
	r.resolve(typed)
	if r.resumed != nil {
		r.resumed(typed, replay.Missing)
		r.resumed = nil
	}
	for _, params := range replay.Actions {
		if err := r.action(params); err != nil {
			return err
		}
	}
	for _, uri := range replay.Missing {
		r.mu.Lock()
		follows := r.follows[uri]
		delete(r.follows, uri)
		r.mu.Unlock()
		if follows {
			r.unsubscribed(uri, r.host+": the terminal is gone")
		}
	}
	return nil
}

// resolve answers the actions whose link was lost before the owner did. typed has what it has taken
// last for each terminal; nil: nobody knows.
func (r *remote) resolve(typed map[string]int64) {
	r.mu.Lock()
	if typed == nil {
		r.typed.forget()
	}
	sent := r.sent
	r.sent = nil
	for _, o := range r.queue { // these are still to be sent
		if o.action != nil {
			r.sent = append(r.sent, o.action)
		}
	}
	r.mu.Unlock()
	for _, a := range sent {
		last, any := typed[a.uri]
		switch {
		case !a.written: // it waits in the queue
		case a.kind == inputType && any && a.seq <= last:
			name, _ := ahp.FleetURI(r.host, a.uri)
			echo := ahp.Envelope{Action: []byte(`{"type":"terminal/input","data":""}`),
				Origin: &ahp.Origin{ClientID: r.all.peer.Conn.ClientID(), ClientSeq: a.seq}}
			text := appendEnvelope(&echo, name)
			r.all.passOn(r.host, numbered(text, "}}"), len(text), 0, nil)
		default:
			r.reject([]*sentAction{a}, r.host+": "+errLost.Error())
		}
	}
}
