package acpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/client"
)

const (
	// answerWait is how long the host may take to answer anything but a wait: it takes
	// milliseconds, the way to it perhaps a second.
	answerWait = 30 * time.Second
	// keepForgotten is how many released terminals are remembered, for tool calls that show them
	// afterwards.
	keepForgotten = 256
)

// remote is a terminal of the agent's at the host.
type remote struct {
	id, session string
	key         string             // finds the terminal at the host
	name, uri   string             // "": the command could not be started, there is no terminal
	failed      *wire.OutputResult // the output then; nil: it was started, or that is not known

	ctx  context.Context         // ends when the terminal is lost, see away.go
	lose context.CancelCauseFunc // ends ctx

	once   sync.Once
	exited chan struct{} // closed when result and err are set
	result json.RawMessage
	err    error

	released bool // guarded by Proxy.mu

	lastKnown  chan struct{}      // closed when lastOutput is set, with the release
	lastOutput *wire.OutputResult // the output then; nil: not asked for, or not known

	// Guarded by Proxy.viewMu.
	text      textView
	live      liveView
	wantsLive bool          // it gets a live view, if the editor makes one
	decided   chan struct{} // closed when it is known which view it has; nil: it has not been shown
	shownIn   callKey       // the tool call that has shown it last
}

// params names t in a request to the host.
func (t *remote) params() wire.TerminalParams {
	return wire.TerminalParams{SessionID: t.session, TerminalID: t.id}
}

// find returns the terminal that a request of the agent's is about.
func (p *Proxy) find(q *wire.TerminalParams) (*remote, *ahp.Error) {
	if e := q.Check(); e != nil {
		return nil, e
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch t := p.terminals[q.TerminalID]; {
	case t == nil || t.session != q.SessionID || t.released:
		return nil, wire.NoTerminal()
	case t.ctx.Err() != nil && p.lost != nil:
		const why = "the terminal has ended with the connection to the host, which is still away: "
		return nil, ahp.NewError(ahp.CodeInternal, why+reason(p.lost))
	case t.ctx.Err() != nil:
		return nil, errLostTerminal()
	default:
		return t, nil
	}
}

func errLostTerminal() *ahp.Error {
	const why = "the terminal has ended with the connection to the host; start the command again"
	return ahp.NewError(ahp.CodeInternal, why)
}

// forget makes t's id unknown to the agent. Tool calls may go on to show t.
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

// ended returns what is closed when a command has ended. The host is asked once, no matter how many
// callers wait here or give up.
func (p *Proxy) ended(t *remote) <-chan struct{} {
	t.once.Do(func() {
		p.tasks.Go(func() {
			defer close(t.exited)
			t.err = p.send(t.ctx, t, wire.MethodWait, &t.result)()
		})
	})
	return t.exited
}

// exit waits for a command's end and returns its exit status.
func (p *Proxy) exit(ctx context.Context, t *remote) (json.RawMessage, *ahp.Error) {
	select {
	case <-p.ended(t):
		p.awaitFinalText(t) // the editor sees the last output before the agent goes on
		return t.result, p.hostError(t.err)
	case <-ctx.Done():
		return nil, p.hostError(context.Cause(ctx))
	}
}

// reason returns an error's text without names of packages.
func reason(err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "client: "), "acp: ")
}

var errNoAnswer = errors.New("the host does not answer")

// hostError returns what the agent is told when a request to the host has failed with err.
func (p *Proxy) hostError(err error) *ahp.Error {
	const away = "the host cannot be reached: "
	var refused *ahp.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, errCancelled):
		return ahp.NewError(wire.CodeCancelled, "cancelled")
	case errors.Is(err, client.ErrLost), errors.Is(err, errConnLost):
		return errLostTerminal()
	case errors.Is(err, errNoAnswer):
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.lost == nil {
			return ahp.NewError(ahp.CodeInternal, errNoAnswer.Error())
		}
		err = p.lost
	}
	return ahp.NewError(ahp.CodeInternal, away+reason(err))
}
