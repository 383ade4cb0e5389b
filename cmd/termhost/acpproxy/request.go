package acpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
)

const (
	// maxQueue is how many of the agent's requests may wait to be sent to the host. Then the agent
	// is not read until some are.
	maxQueue = 1024
	// maxUnderway is how many requests the host is sent before the first is answered, not counting
	// those that are answered out of order. It answers one after the other, and each answer may be
	// as large as the host's bound on output.
	maxUnderway = 64
	// maxWaiting is how many requests may be answered out of order: those that wait for commands to
	// end, and those that start one while the host is away. More are refused. Not reading the agent
	// instead would keep it from ending the commands.
	maxWaiting = 1024
)

// request is a terminal request of the agent's.
type request struct {
	id     []byte // nil: no answer is wanted
	method string
	params json.RawMessage
	ctx    context.Context // ends when the agent cancels the request, or it has been answered
	cancel context.CancelCauseFunc
}

// enqueue takes over a terminal request of the agent's, or a notification of such a method. It
// copies what it needs of m. While too many requests are under way it waits, until the host answers
// and the agent takes the answers.
func (p *Proxy) enqueue(m *message) {
	ctx, cancel := context.WithCancelCause(p.ctx)
	r := &request{
		id:     slices.Clone(m.id),
		method: m.method,
		params: slices.Clone(m.params.of(m.line)),
		ctx:    ctx,
		cancel: cancel,
	}
	if m.nullID { // unusual, but to be answered (JSON-RPC 2.0, section 4)
		r.id = []byte("null")
	}
	if r.id != nil {
		p.mu.Lock()
		p.answering[string(r.id)] = cancel
		p.mu.Unlock()
	}
	select {
	case p.requests <- r:
	case <-p.ctx.Done():
	}
}

var errCancelled = errors.New("acp: cancelled by the agent")

// cancelled cancels the terminal request that m names; false: it names none.
func (p *Proxy) cancelled(m *message) bool {
	id := m.params.get("requestId").of(m.line)
	p.mu.Lock()
	defer p.mu.Unlock()
	cancel := p.answering[string(id)]
	if cancel != nil {
		cancel(errCancelled)
	}
	return cancel != nil
}

// sendRequests sends the agent's requests to the host in their order.
func (p *Proxy) sendRequests() {
	for {
		select {
		case r := <-p.requests:
			if !p.sendRequest(r) {
				return
			}
		case <-p.ctx.Done():
			return
		}
	}
}

// sendRequest sends one request, and has it answered in its turn, or out of order if that may take
// long. It returns false when the agent has ended.
func (p *Proxy) sendRequest(r *request) bool {
	finish, outOfOrder := p.begin(r)
	if outOfOrder && p.waiting.Add(1) > maxWaiting {
		p.waiting.Add(-1)
		finish, outOfOrder = refusing(errTooMany()), false
	}
	answer := func() {
		result, e := finish()
		p.respond(r, result, e)
	}
	if outOfOrder {
		p.tasks.Go(func() {
			defer p.waiting.Add(-1)
			answer()
		})
		return true
	}
	select {
	case p.answers <- answer:
		return true
	case <-p.ctx.Done():
		return false
	}
}

func errTooMany() *ahp.Error {
	const why = "1024 requests wait for commands to end; let some finish"
	return ahp.NewError(ahp.CodeLimit, why, "limit", "waiting requests")
}

// sendAnswers answers the agent's requests in their order, except for those answered out of order.
func (p *Proxy) sendAnswers() {
	for {
		select {
		case answer := <-p.answers:
			answer()
		case <-p.ctx.Done():
			return
		}
	}
}

// respond answers a request of the agent's, if it wants an answer.
func (p *Proxy) respond(r *request, result json.RawMessage, e *ahp.Error) {
	if r.id == nil {
		r.cancel(nil)
		return
	}
	p.mu.Lock()
	delete(p.answering, string(r.id))
	p.mu.Unlock()
	r.cancel(nil)
	// An agent that takes no answer has ended, which its other stream tells.
	if e != nil {
		_ = p.agent.refuse(r.id, e)
		return
	}
	_ = p.agent.answer(r.id, result)
}

// finisher waits for the host's answer to a request, and returns it.
type finisher func() (json.RawMessage, *ahp.Error)

// refusing is the finisher of a request that has failed.
func refusing(e *ahp.Error) finisher {
	return func() (json.RawMessage, *ahp.Error) { return nil, e }
}

// begin sends a request to the host. outOfOrder: the answer may take long, and requests after this
// one need not wait for it.
func (p *Proxy) begin(r *request) (finish finisher, outOfOrder bool) {
	if r.method == wire.MethodCreate {
		return p.beginCreate(r)
	}
	var q wire.TerminalParams
	if e := ahp.DecodeParams(r.params, &q); e != nil {
		return refusing(e), false
	}
	t, e := p.find(&q)
	if e != nil {
		return refusing(e), false
	}
	switch {
	case r.method == wire.MethodWait:
		return func() (json.RawMessage, *ahp.Error) { return p.exit(r.ctx, t) }, true
	case r.method == wire.MethodRelease:
		return p.beginRelease(t), false
	case t.failed != nil && r.method == wire.MethodOutput:
		return answering(ahp.Encode(t.failed)), false
	case t.failed != nil:
		return answering(done), false
	}
	var result json.RawMessage
	ctx, cancel := context.WithTimeoutCause(t.ctx, p.answerWait, errNoAnswer)
	wait := p.send(ctx, t, r.method, &result)
	return func() (json.RawMessage, *ahp.Error) {
		defer cancel()
		err := wait()
		return result, p.hostError(err)
	}, false
}

// done is the result of terminal/kill and terminal/release.
var done = json.RawMessage("{}")

// answering is the finisher of a request that the host need not be asked for.
func answering(result json.RawMessage) finisher {
	return func() (json.RawMessage, *ahp.Error) { return result, nil }
}

// beginRelease releases a terminal. If its view may still change, the output is asked for first:
// the host may forget the terminal as soon as it is released.
func (p *Proxy) beginRelease(t *remote) finisher {
	p.forget(t)
	if t.failed != nil { // the host has released it already
		close(t.lastKnown)
		return answering(done)
	}
	ctx, cancel := context.WithTimeoutCause(t.ctx, p.answerWait, errNoAnswer)
	var out wire.OutputResult
	getOutput := func() error { return nil }
	wanted := p.viewMayChange(t)
	if wanted {
		getOutput = p.send(ctx, t, wire.MethodOutput, &out)
	}
	release := p.send(ctx, t, wire.MethodRelease, nil)
	return func() (json.RawMessage, *ahp.Error) {
		defer cancel()
		if wanted && getOutput() == nil {
			t.lastOutput = &out
		}
		close(t.lastKnown)
		p.tasks.Go(func() { p.showLastOutput(t) })
		err := release()
		if isMissing(err) { // it was released, and the answer was lost
			err = nil
		}
		p.giveBackWhenDrawn(t)
		return done, p.hostError(err)
	}
}
