package acp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"termhost/ahp"
	"termhost/ahp/client"
)

const (
	// answerWait is how long the host may take to answer anything but a wait: it
	// takes milliseconds, the way to it perhaps a second.
	answerWait = 30 * time.Second
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

	parted chan struct{} // closed when last is set: with its release
	last   *outputResult // its output then; nil: nobody needed that, or it is unknown

	// Guarded by Proxy.viewMu.
	text    textView
	asks    bool          // it is for the editor to show, if that can
	decided chan struct{} // closed when it is known how it is shown; nil: it is not shown yet
	live    liveView
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

// ended returns what is closed at a command's end. The host is asked once, however
// many ask here and give up.
func (p *Proxy) ended(t *remote) <-chan struct{} {
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
	return t.exited
}

// exit waits for a command's end.
func (p *Proxy) exit(ctx context.Context, t *remote) (json.RawMessage, *ahp.Error) {
	select {
	case <-p.ended(t):
		p.painted(t) // the editor sees the last output before the agent goes on
		return t.result, p.hostError(t.err)
	case <-ctx.Done():
		return nil, p.hostError(context.Cause(ctx))
	}
}

// reason returns an error for people, to whom a package is nothing.
func reason(err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "client: "), "acp: ")
}

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
