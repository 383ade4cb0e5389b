package acp

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"termhost/ahp"
)

const (
	// hostWait is how long a command waits for the host to come back.
	hostWait = 10 * time.Second
	// maxHostMessage bounds a request to the host, in bytes: with its head it stays
	// below the host's default for one message, 1 MiB.
	maxHostMessage = 1<<20 - 1<<10
)

// creation is a terminal/create that the host is asked for.
type creation struct {
	p      *Proxy
	r      *request
	q      createParams
	params *hostCreate
	link   context.Context // of the connection on which it is made

	deadline time.Time // for the answer
	wait     func(context.Context) error
	err      error
	result   json.RawMessage // valid when wait has returned nil
}

// beginCreate starts a command. While the host is away it is waited for, which
// must not hold other requests up.
func (p *Proxy) beginCreate(r *request) (finish finisher, aside bool) {
	c := &creation{p: p, r: r}
	if e := decode(r.params, &c.q); e != nil {
		return refusing(e), false
	}
	c.params = p.createParams(&c.q)
	if len(encode(c.params)) > maxHostMessage {
		return refusing(ahp.NewError(ahp.CodeInvalidParams, "arguments and environment are larger than 1 MiB, which the host does not take")), false
	}
	p.mu.Lock()
	link, away := p.link, p.lost != nil // while it is away, the next connection's
	p.mu.Unlock()
	c.link = link
	if !away {
		c.start()
	}
	return func() (json.RawMessage, *ahp.Error) {
		if away {
			c.start()
		}
		return c.finish()
	}, away
}

func (c *creation) start() {
	ctx, cancel := context.WithTimeoutCause(c.r.ctx, hostWait, errNoAnswer)
	defer cancel()
	c.wait, c.err = c.p.host.Start(ctx, methodCreate, c.params, &c.result)
	c.deadline = time.Now().Add(c.p.answerWait)
}

// finish waits for the host's answer, as long as that may take. Of what comes
// later the agent does not know, so that it is ended.
func (c *creation) finish() (json.RawMessage, *ahp.Error) {
	p := c.p
	if c.err != nil {
		return nil, p.hostError(c.err)
	}
	answered := make(chan error, 1)
	p.tasks.Go(func() { answered <- c.wait(p.ctx) })
	limit := time.NewTimer(time.Until(c.deadline))
	defer limit.Stop()
	var err error
	select {
	case err := <-answered:
		if err != nil {
			return nil, p.hostError(err)
		}
		return c.result, p.created(&c.q, c.link, c.result)
	case <-c.r.ctx.Done():
		err = context.Cause(c.r.ctx)
	case <-limit.C:
		err = errNoAnswer
	}
	p.tasks.Go(func() {
		if <-answered == nil {
			c.disown()
		}
	})
	return nil, p.hostError(err)
}

// disown ends a command that the agent was told has not been started.
func (c *creation) disown() {
	var made createResult
	if json.Unmarshal(c.result, &made) != nil {
		return
	}
	// An error says that the connection was lost, and the terminal with it.
	ctx, cancel := context.WithTimeout(c.p.ctx, c.p.answerWait)
	defer cancel()
	_ = c.p.host.Call(ctx, methodRelease, terminalParams{c.q.SessionID, made.TerminalID}, nil)
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
		exited: make(chan struct{}), parted: make(chan struct{}), text: textView{cols: hostCols, rows: hostRows, done: make(chan struct{})}}
	if t.uri == "" {
		p.readFailure(t)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.terminals[t.id] = t
	return nil
}
