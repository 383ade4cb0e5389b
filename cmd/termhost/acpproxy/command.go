package acpproxy

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/client"
)

const (
	// hostWait is how long a command waits for the host to come back.
	hostWait = 10 * time.Second
	// maxHostMessage bounds the params of a request to the host, in bytes: with the rest of the
	// message they stay below the host's default bound for one, 1 MiB.
	maxHostMessage = 1<<20 - 1<<10
)

// creation is a terminal/create that the host is asked for.
type creation struct {
	p      *Proxy
	r      *request
	q      wire.CreateParams // the agent's
	params *hostCreate

	deadline time.Time // for the host's answer
	wait     func(context.Context) error
	err      error           // why the host could not be asked
	result   json.RawMessage // valid when wait has returned nil
}

// beginCreate starts a command. While the host is away the command waits for it, out of order.
func (p *Proxy) beginCreate(r *request) (finish finisher, outOfOrder bool) {
	c := &creation{p: p, r: r}
	if e := ahp.DecodeParams(r.params, &c.q); e != nil {
		return refusing(e), false
	}
	c.params = p.createParams(&c.q)
	if len(ahp.Encode(c.params)) > maxHostMessage {
		const why = "arguments and environment are larger than 1 MiB, which the host does not take"
		return refusing(ahp.NewError(ahp.CodeInvalidParams, why)), false
	}
	p.mu.Lock()
	away := p.lost != nil
	p.mu.Unlock()
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

// start sends the request to the host.
func (c *creation) start() {
	ctx, cancel := context.WithTimeoutCause(c.r.ctx, hostWait, errNoAnswer)
	defer cancel()
	c.wait, c.err = c.p.host.Start(ctx, wire.MethodCreate, c.params, &c.result)
	c.deadline = time.Now().Add(c.p.answerWait)
}

// finish returns the host's answer. If that comes after the agent has cancelled the request, or too
// late, the agent does not know the command, which is therefore ended.
func (c *creation) finish() (json.RawMessage, *ahp.Error) {
	p := c.p
	answered := make(chan error, 1)
	p.tasks.Go(func() { answered <- c.await() })
	limit := time.NewTimer(time.Until(c.deadline))
	defer limit.Stop()
	var err error
	select {
	case err := <-answered:
		if err != nil {
			return nil, p.hostError(err)
		}
		return c.result, p.created(c)
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

// await waits for the host's answer. If the connection is lost before it comes, the next one is
// asked whether the command was started: it is not started twice.
func (c *creation) await() error {
	err := c.err
	sent := err == nil // the command may have been started
	if sent {
		err = c.wait(c.p.ctx)
	}
	method := wire.MethodCreate
	for c.p.mayRepeat(err) {
		if isEnding(err) && method == wire.MethodCreate {
			sent = false
		}
		params := any(c.params)
		if method = wire.MethodCreate; sent {
			method = ahp.MethodACPCreated
			params = wire.CreatedParams{SessionID: c.q.SessionID, Key: c.params.Meta.Termhost.Key}
		}
		var wait func(context.Context) error
		if wait, err = c.p.host.Start(c.p.ctx, method, params, &c.result); err == nil {
			sent = true
			err = wait(c.p.ctx)
		}
	}
	if method == ahp.MethodACPCreated && isMissing(err) {
		return client.ErrLost
	}
	return err
}

// disown ends a command that, as the agent was told, has not been started.
func (c *creation) disown() {
	var made wire.CreateResult
	if json.Unmarshal(c.result, &made) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(c.p.ctx, c.p.answerWait)
	defer cancel()
	t := &remote{id: made.TerminalID, session: c.q.SessionID, released: true}
	t.ctx, t.lose = context.WithCancelCause(ctx)
	// It fails if the host stays away, which then ends the terminal by itself.
	_ = c.p.send(ctx, t, wire.MethodRelease, nil)()
}

// hostCreate are the params of the host's terminal/create: the agent's request, and the proxy's
// additions.
type hostCreate struct {
	SessionID       string             `json:"sessionId"`
	Command         string             `json:"command"`
	Args            []string           `json:"args,omitempty"`
	Env             []wire.EnvVariable `json:"env,omitempty"`
	Cwd             string             `json:"cwd,omitempty"`
	OutputByteLimit *wire.ByteLimit    `json:"outputByteLimit,omitempty"`
	Meta            wire.CreateMeta    `json:"_meta"`
}

// createParams returns the host's params for the agent's.
func (p *Proxy) createParams(q *wire.CreateParams) *hostCreate {
	h := &hostCreate{
		SessionID:       q.SessionID,
		Command:         q.Command,
		Args:            q.Args,
		Cwd:             q.Cwd,
		OutputByteLimit: q.OutputByteLimit,
	}
	if h.Cwd == "" {
		h.Cwd = p.directory(q.SessionID)
	}
	for _, v := range p.cfg.Env {
		name, value, _ := strings.Cut(v, "=")
		h.Env = append(h.Env, wire.EnvVariable{Name: name, Value: &value})
	}
	h.Env = append(h.Env, q.Env...) // of variables with the same name the last one counts
	h.Meta.Termhost.Agent = p.name()
	h.Meta.Termhost.Key = strings.ToLower(rand.Text()[:keyLength])
	return h
}

// keyLength is the length of a terminal's key, in characters of base32.
const keyLength = 16

// created makes a new terminal known.
func (p *Proxy) created(c *creation) *ahp.Error {
	var made wire.CreateResult
	if json.Unmarshal(c.result, &made) != nil || made.TerminalID == "" {
		const why = "the host's answer cannot be understood; is it termhost?"
		return ahp.NewError(ahp.CodeInternal, why)
	}
	t := &remote{
		id:        made.TerminalID,
		session:   c.q.SessionID,
		key:       c.params.Meta.Termhost.Key,
		name:      made.Meta.Termhost.Name,
		uri:       made.Meta.Termhost.URI,
		exited:    make(chan struct{}),
		lastKnown: make(chan struct{}),
		text:      textView{cols: hostCols, rows: hostRows, done: make(chan struct{})},
	}
	p.mu.Lock()
	t.ctx, t.lose = context.WithCancelCause(p.known)
	p.mu.Unlock()
	if t.uri == "" {
		p.readFailure(t)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.terminals[t.id] = t
	return nil
}
