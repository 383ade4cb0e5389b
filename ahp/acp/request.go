package acp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"termhost/ahp"
)

const (
	// maxQueue is how many of the agent's requests may wait for the host. Then the
	// agent is not read until some are answered.
	maxQueue = 1024
	// maxUnderway is how many the host is asked at once, waits excepted: it answers
	// one after the other, and each answer may be as large as MaxOutput.
	maxUnderway = 64
	// maxWaits is how many may wait for commands' ends, or to start some while the
	// host is away. More are refused: to read no more would keep the agent from
	// ending the commands.
	maxWaits = 1024
)

// request is one of the agent's, for the host.
type request struct {
	id     []byte // nil: no answer is wanted
	method string
	params json.RawMessage
	ctx    context.Context // ends when the agent cancels it, or it is answered
	cancel context.CancelCauseFunc
}

// enqueue takes a terminal request of the agent's over, which may lack an id. m is
// not kept. It waits while too many are under way: that is until the host answers,
// and the agent takes the answers.
func (p *Proxy) enqueue(m *message) {
	ctx, cancel := context.WithCancelCause(p.ctx)
	r := &request{id: slices.Clone(m.id), method: m.method, params: slices.Clone(m.params.of(m.line)), ctx: ctx, cancel: cancel}
	if m.nullID { // JSON-RPC 2.0, section 4: unusual, and answered all the same
		r.id = []byte("null")
	}
	if r.id != nil {
		p.mu.Lock()
		p.answering[string(r.id)] = cancel
		p.mu.Unlock()
	}
	select {
	case p.queue <- r:
	case <-p.ctx.Done():
	}
}

var errCancelled = errors.New("acp: cancelled by the agent")

// cancelled cancels a terminal request of the agent's; false: it is none.
func (p *Proxy) cancelled(m *message) bool {
	params, ok := object(m.line, m.params.start)
	if m.params.end == 0 || !ok {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	cancel := p.answering[string(params["requestId"].of(m.line))]
	if cancel != nil {
		cancel(errCancelled)
	}
	return cancel != nil
}

// dispatch begins the agent's requests in their order.
func (p *Proxy) dispatch() {
	for {
		select {
		case r := <-p.queue:
			finish, aside := p.begin(r)
			if aside && p.waits.Add(1) > maxWaits {
				p.waits.Add(-1)
				finish, aside = refusing(errTooMany()), false
			}
			answer := func() {
				result, e := finish()
				p.respond(r, result, e)
			}
			if aside {
				p.tasks.Go(func() {
					defer p.waits.Add(-1)
					answer()
				})
				continue
			}
			select {
			case p.underway <- answer:
			case <-p.ctx.Done():
				return
			}
		case <-p.ctx.Done():
			return
		}
	}
}

func errTooMany() *ahp.Error {
	return ahp.NewError(ahp.CodeLimit, "1024 requests wait for commands to end; let some finish", "limit", "waiting requests")
}

// finish answers the agent's requests in their order, but for those that wait
// aside.
func (p *Proxy) finish() {
	for {
		select {
		case answer := <-p.underway:
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
	// An agent that takes no answer has ended, which its other stream says.
	if e != nil {
		_ = p.agent.refuse(r.id, e)
		return
	}
	_ = p.agent.answer(r.id, result)
}

// finisher waits for the answer to a request.
type finisher func() (json.RawMessage, *ahp.Error)

func refusing(e *ahp.Error) finisher {
	return func() (json.RawMessage, *ahp.Error) { return nil, e }
}

// begin sends a request to the host. aside: others need not wait for its answer.
func (p *Proxy) begin(r *request) (finish finisher, aside bool) {
	if r.method == methodCreate {
		return p.beginCreate(r)
	}
	var q terminalParams
	if e := decode(r.params, &q); e != nil {
		return refusing(e), false
	}
	t, e := p.find(&q)
	if e != nil {
		return refusing(e), false
	}
	switch r.method {
	case methodWait:
		return func() (json.RawMessage, *ahp.Error) { return p.exit(r.ctx, t) }, true
	case methodRelease:
		return p.beginRelease(t), false
	}
	var result json.RawMessage
	ctx, cancel := context.WithTimeoutCause(t.link, p.answerWait, errNoAnswer)
	wait, err := p.host.Start(ctx, r.method, q, &result)
	return func() (json.RawMessage, *ahp.Error) {
		defer cancel()
		if err == nil {
			err = wait(ctx)
		}
		return result, p.hostError(err)
	}, false
}

// beginRelease asks for the output as it was, where that is shown, before the
// terminal can be forgotten.
func (p *Proxy) beginRelease(t *remote) finisher {
	p.forget(t)
	q := terminalParams{t.session, t.id}
	ctx, cancel := context.WithTimeoutCause(t.link, p.answerWait, errNoAnswer)
	var out outputResult
	getOutput, noOutput := func(context.Context) error { return nil }, error(nil)
	wanted := p.unsettled(t)
	if wanted {
		getOutput, noOutput = p.host.Start(ctx, methodOutput, q, &out)
	}
	var result json.RawMessage
	wait, err := p.host.Start(ctx, methodRelease, q, &result)
	return func() (json.RawMessage, *ahp.Error) {
		defer cancel()
		if wanted && noOutput == nil && getOutput(ctx) == nil {
			t.last = &out
		}
		close(t.parted)
		p.tasks.Go(func() { p.settle(t) })
		if err == nil {
			err = wait(ctx)
		}
		p.let(t)
		return result, p.hostError(err)
	}
}
