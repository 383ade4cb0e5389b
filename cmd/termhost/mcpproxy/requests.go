package mcpproxy

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"time"

	"termhost/ahp"
)

// pending is a request of the client's.
type pending struct {
	*message
	number int       // in the order of the client's
	since  time.Time // it waits for a connection
	sent   bool      // it may have reached the host
}

// expire answers the requests that have waited too long for a connection.
func (p *proxy) expire(now time.Time) {
	p.waiting = slices.DeleteFunc(p.waiting, func(w *pending) bool {
		late := now.Sub(w.since) >= p.limits.wait || p.refused.After(now)
		if late {
			p.out.put(w.failure(p.unreached(w)))
		}
		return late
	})
}

// flush sends the waiting requests, in the client's order.
func (p *proxy) flush() {
	list := p.waiting
	p.waiting = nil
	for _, w := range list {
		p.send(w)
		if w.method == methodInitialize && p.initialized != nil {
			p.link.out.put(p.initialized.line)
		}
	}
}

// send sends a request on the connection.
func (p *proxy) send(w *pending) {
	w.sent = true
	p.flying[w.key] = w
	p.link.out.put(w.line)
}

// requeue empties the list of requests in flight, because their connection is gone: those that may
// be repeated wait for the next connection, the others are answered with an error.
func (p *proxy) requeue() {
	for _, w := range p.flying {
		if !w.repeatable() {
			p.out.put(w.failure(p.lostText()))
			continue
		}
		w.since = time.Now()
		p.waiting = append(p.waiting, w)
	}
	clear(p.flying)
	slices.SortFunc(p.waiting, func(a, b *pending) int { return cmp.Compare(a.number, b.number) })
}

// fromClient takes a line of the client's.
func (p *proxy) fromClient(in input) {
	switch {
	case in.err != nil:
		p.ended = true
		p.leave = time.Now().Add(p.limits.leaveUnconnected)
		if p.was {
			p.leave = time.Now().Add(p.limits.leave)
		}
		return
	case in.long:
		const why = "the message is longer than 4 MiB"
		p.out.put(refusal(idWithin(in.line, in.tail), ahp.NewError(ahp.CodeInvalidRequest, why)))
		return
	}
	m, fault := parse(in.line)
	switch {
	case fault != nil:
		p.out.put(refusal(nil, fault))
	case m.isRequest():
		p.asked(m)
	case m.isResponse():
		if p.isReady() {
			p.link.out.put(m.line)
		}
	default:
		p.notified(m)
	}
}

// asked takes a request of the client's.
func (p *proxy) asked(m *message) {
	if p.knows(m.key) {
		const why = "a request with this id is not answered yet"
		p.out.put(refusal(m.id, ahp.NewError(ahp.CodeInvalidRequest, why)))
		return
	}
	if m.method == methodUnsubscribe {
		delete(p.subscribed, text(member(m.params, "uri")))
	}
	p.pass(m)
}

// knows reports whether a request of the client's is not answered yet.
func (p *proxy) knows(key string) bool {
	return p.flying[key] != nil || slices.ContainsFunc(p.waiting,
		func(w *pending) bool { return w.key == key })
}

// pass sends a request to the host, if it is there. Otherwise the request waits for it.
func (p *proxy) pass(m *message) {
	p.count++
	w := &pending{message: m, number: p.count, since: time.Now()}
	if p.isReady() && wall().Sub(p.link.heard) < p.limits.stale {
		p.send(w)
		return
	}
	p.waiting = append(p.waiting, w)
	if p.err != nil {
		p.giveUp()
		return
	}
	if p.isReady() {
		p.ping(p.limits.staleAnswer)
	}
	if soon := time.Now().Add(p.limits.hurry); p.dialAt.After(soon) && p.refused.IsZero() {
		p.dialAt = soon
	}
}

// notified takes a notification of the client's.
func (p *proxy) notified(m *message) {
	switch m.method {
	case methodInitialized:
		p.initialized = m
		if p.isReady() { // otherwise it goes with initialize
			p.link.out.put(m.line)
		}
	case methodCancelled:
		key, _ := keyOf(orNull(member(m.params, "requestId")))
		before := len(p.waiting)
		p.waiting = slices.DeleteFunc(p.waiting, func(w *pending) bool { return w.key == key })
		if len(p.waiting) == before && p.flying[key] != nil {
			delete(p.flying, key) // an answer that comes nevertheless is of no use
			p.link.out.put(m.line)
		}
	default:
		if p.isReady() {
			p.link.out.put(m.line)
		}
	}
}

func orNull(value []byte) []byte {
	if value == nil {
		return []byte("null")
	}
	return value
}

// fromHost takes a line of the host's.
func (p *proxy) fromHost(in input) {
	l := p.link
	if in.link != l {
		return // it comes from a connection that was given up
	}
	if in.err != nil {
		p.lost(in.err)
		return
	}
	m, fault := parse(in.line)
	if in.long || fault != nil { // it is no message
		if !l.ready && bytes.Contains(in.line, []byte(p.prefix)) {
			// The answer to the ping stands behind something that has no line end.
			p.ask(methodPing, p.introduction(), func(*message) { p.greet() })
		}
		return
	}
	l.heard, l.due = wall(), time.Time{}
	answered := l.own[m.key]
	switch {
	case m.isResponse() && answered != nil:
		delete(l.own, m.key)
		answered(m)
	case !l.ready:
	case m.isResponse():
		p.answered(m)
	default:
		p.out.put(m.line)
	}
	if p.isReady() {
		p.flush() // what waited for a sign of life
	}
}

// answered passes a response on, if the client waits for it. One without an id is about a line that
// the host has not understood.
func (p *proxy) answered(m *message) {
	if m.key == "" {
		p.out.put(m.line)
		return
	}
	w := p.flying[m.key]
	if w == nil || w.repeatable() && w.method == methodCall &&
		string(member(m.line, "result", "_meta", metaEnded)) == "true" {
		return // nobody waits for it, or the host ends, and the next one will answer
	}
	delete(p.flying, m.key)
	switch {
	case m.failed:
	case w.method == methodInitialize:
		p.hello = w.message
	case w.method == methodSubscribe:
		p.subscribed[text(member(w.params, "uri"))] = w.params
	case w.method == methodCall:
		n, err := strconv.Atoi(string(member(m.line, "result", "_meta", metaNumber)))
		if err == nil {
			p.number = n
		}
	}
	p.out.put(m.line)
}
