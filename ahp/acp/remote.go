package acp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"termhost/ahp"
	"termhost/ahp/client"
)

const (
	// hostWait is how long a command waits for the host to come back.
	hostWait = 10 * time.Second
	// answerWait is how long the host may take to answer anything but a wait: it
	// takes milliseconds, the way to it perhaps a second.
	answerWait = 30 * time.Second
	// maxHostMessage bounds a request to the host, in bytes: with its head it stays
	// below the host's default for one message, 1 MiB.
	maxHostMessage = 1<<20 - 1<<10
	// keepForgotten is how many released terminals are remembered, for tool calls
	// that go on to show them.
	keepForgotten = 256
)

// remote is a terminal of the agent's at the host.
type remote struct {
	id, session string
	name, uri   string          // "": the command could not be started
	link        context.Context // ends with the connection on which it was made, and with it the terminal

	once   sync.Once
	exited chan struct{} // closed when result and err are set
	result json.RawMessage
	err    error

	released bool // guarded by Proxy.mu

	live chan struct{} // closed when editorID is set

	// Guarded by Proxy.viewMu.
	text          textView
	asks          bool            // it is for the editor to show, if that can
	decided       chan struct{}   // closed when it is known how it is shown; nil: it is not shown yet
	editorID      string          // the editor's terminal that shows it; "": it is text
	editorSession json.RawMessage // in which the editor has made that
}

// request is one of the agent's, for the host.
type request struct {
	id     []byte
	method string
	params json.RawMessage
	ctx    context.Context // ends when the agent cancels it, or it is answered
	cancel context.CancelCauseFunc
}

// enqueue takes a terminal request of the agent's over, which may lack an id. m is
// not kept.
func (p *Proxy) enqueue(m *message) {
	ctx, cancel := context.WithCancelCause(p.ctx)
	r := &request{id: slices.Clone(m.id), method: m.method, params: slices.Clone(m.params.of(m.line)), ctx: ctx, cancel: cancel}
	if r.id != nil {
		p.mu.Lock()
		p.answering[string(r.id)] = cancel
		p.mu.Unlock()
	}
	select {
	case p.queue <- r:
	default:
		p.tasks.Go(func() {
			p.respond(r, nil, ahp.NewError(ahp.CodeLimit, "1024 terminal requests are waiting; let some finish"))
		})
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

// dispatch begins the agent's requests in their order, and lets each finish by
// itself.
func (p *Proxy) dispatch() {
	for {
		select {
		case r := <-p.queue:
			finish := p.begin(r)
			p.tasks.Go(func() {
				result, e := finish()
				p.respond(r, result, e)
			})
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

// begin sends a request to the host.
func (p *Proxy) begin(r *request) finisher {
	if r.method == methodCreate {
		return p.beginCreate(r)
	}
	var q terminalParams
	if e := decode(r.params, &q); e != nil {
		return refusing(e)
	}
	t, e := p.find(&q)
	if e != nil {
		return refusing(e)
	}
	if r.method == methodWait {
		return func() (json.RawMessage, *ahp.Error) { return p.exit(r.ctx, t) }
	}
	if r.method == methodRelease {
		p.forget(t)
	}
	var result json.RawMessage
	ctx, cancel := context.WithTimeoutCause(t.link, answerWait, errNoAnswer)
	wait, err := p.host.Start(ctx, r.method, q, &result)
	return func() (json.RawMessage, *ahp.Error) {
		defer cancel()
		if err == nil {
			err = wait(ctx)
		}
		if r.method == methodRelease {
			p.let(t)
		}
		return result, p.hostError(err)
	}
}

// beginCreate starts a command. While the host is away it is waited for, which
// must not hold other requests up.
func (p *Proxy) beginCreate(r *request) finisher {
	var q createParams
	if e := decode(r.params, &q); e != nil {
		return refusing(e)
	}
	params := p.createParams(&q)
	if len(encode(params)) > maxHostMessage {
		return refusing(ahp.NewError(ahp.CodeInvalidParams, "arguments and environment are larger than 1 MiB, which the host does not take"))
	}
	p.mu.Lock()
	link, away := p.link, p.lost != nil // while it is away, the next connection's
	p.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(p.ctx, hostWait, errNoAnswer)
	var result json.RawMessage
	var wait func(context.Context) error
	var err error
	start := func() { wait, err = p.host.Start(ctx, methodCreate, params, &result) }
	if !away {
		start()
	}
	return func() (json.RawMessage, *ahp.Error) {
		defer cancel()
		if away {
			start()
		}
		if err == nil {
			answering, stop := context.WithTimeoutCause(p.ctx, answerWait, errNoAnswer)
			defer stop()
			err = wait(answering)
		}
		if err != nil {
			return nil, p.hostError(err)
		}
		return result, p.created(&q, link, result)
	}
}

// hostCreate is what the host is asked for: the agent's own words, and what only
// the proxy knows.
type hostCreate struct {
	SessionID       string        `json:"sessionId"`
	Command         string        `json:"command"`
	Args            []string      `json:"args,omitempty"`
	Env             []envVariable `json:"env,omitempty"`
	Cwd             string        `json:"cwd,omitempty"`
	OutputByteLimit *byteLimit    `json:"outputByteLimit,omitempty"`
	Meta            createMeta    `json:"_meta"`
}

func (p *Proxy) createParams(q *createParams) *hostCreate {
	h := &hostCreate{SessionID: q.SessionID, Command: q.Command, Args: q.Args, Cwd: q.Cwd, OutputByteLimit: q.OutputByteLimit}
	if h.Cwd == "" {
		h.Cwd = p.directory(q.SessionID)
	}
	for _, v := range p.cfg.Env {
		name, value, _ := strings.Cut(v, "=")
		h.Env = append(h.Env, envVariable{name, &value})
	}
	h.Env = append(h.Env, q.Env...) // the last one counts
	h.Meta.Termhost.Agent = p.name()
	return h
}

// created takes note of a new terminal.
func (p *Proxy) created(q *createParams, link context.Context, result json.RawMessage) *ahp.Error {
	var c createResult
	if json.Unmarshal(result, &c) != nil || c.TerminalID == "" {
		return ahp.NewError(ahp.CodeInternal, "the host's answer cannot be understood; is it termhost?")
	}
	t := &remote{id: c.TerminalID, session: q.SessionID, name: c.Meta.Termhost.Name, uri: c.Meta.Termhost.URI, link: link,
		exited: make(chan struct{}), live: make(chan struct{}), text: textView{done: make(chan struct{})}}
	if t.uri == "" {
		p.readFailure(t)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.terminals[t.id] = t
	return nil
}

// find returns the terminal that a request is about.
func (p *Proxy) find(q *terminalParams) (*remote, *ahp.Error) {
	if e := q.check(); e != nil {
		return nil, e
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch t := p.terminals[q.TerminalID]; {
	case t == nil || t.session != q.SessionID || t.released:
		return nil, errNoTerminal()
	case t.link.Err() != nil && p.lost != nil:
		return nil, ahp.NewError(ahp.CodeInternal, "the terminal has ended with the connection to the host, which is still away: "+reason(p.lost))
	case t.link.Err() != nil:
		return nil, errLostTerminal()
	default:
		return t, nil
	}
}

func errLostTerminal() *ahp.Error {
	return ahp.NewError(ahp.CodeInternal, "the terminal has ended with the connection to the host; start the command again")
}

// forget makes t's id unknown to the agent. What shows it goes on.
func (p *Proxy) forget(t *remote) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t.released = true
	p.forgotten = append(p.forgotten, t)
	if len(p.forgotten) > keepForgotten {
		delete(p.terminals, p.forgotten[0].id)
		p.forgotten = p.forgotten[1:]
	}
}

// exit waits for a command's end. The host is asked once, however many ask here
// and give up.
func (p *Proxy) exit(ctx context.Context, t *remote) (json.RawMessage, *ahp.Error) {
	t.once.Do(func() {
		p.tasks.Go(func() {
			defer close(t.exited)
			wait, err := p.host.Start(t.link, methodWait, terminalParams{t.session, t.id}, &t.result)
			if err == nil {
				err = wait(t.link)
			}
			t.err = err
		})
	})
	select {
	case <-t.exited:
		p.painted(t) // the editor sees the last output before the agent goes on
		return t.result, p.hostError(t.err)
	case <-ctx.Done():
		return nil, p.hostError(context.Cause(ctx))
	}
}

// reason returns an error of the client's for people, to whom that package is
// nothing.
func reason(err error) string { return strings.TrimPrefix(err.Error(), "client: ") }

var errNoAnswer = errors.New("the host does not answer")

// hostError returns what the agent is told when the host could not be asked.
func (p *Proxy) hostError(err error) *ahp.Error {
	var refused *ahp.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, errCancelled):
		return ahp.NewError(codeCancelled, "cancelled")
	case errors.Is(err, client.ErrLost), errors.Is(err, errLinkLost):
		return errLostTerminal()
	case errors.Is(err, errNoAnswer):
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.lost != nil {
			return ahp.NewError(ahp.CodeInternal, "the host cannot be reached: "+reason(p.lost))
		}
		return ahp.NewError(ahp.CodeInternal, errNoAnswer.Error())
	}
	return ahp.NewError(ahp.CodeInternal, "the host cannot be reached: "+reason(err))
}
