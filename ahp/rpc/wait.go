package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/authz/admit"
)

// maxTerminalWaits bounds the termhost/wait of one peer; more are refused. Each keeps a goroutine.
const maxTerminalWaits = 256

// waitParams are those of termhost/wait.
type waitParams struct {
	Channel string `json:"channel"`
	For     *struct {
		Exit    bool     `json:"exit"` // redundant: the end of the terminal ends every wait
		Command bool     `json:"command"`
		Match   *string  `json:"match"`
		IdleMs  *float64 `json:"idleMs"`
		Blocked bool     `json:"blocked"`
	} `json:"for"`
	TimeoutMs *float64 `json:"timeoutMs"`
}

// waitResult is the result of termhost/wait.
type waitResult struct {
	Reason   host.WaitReason `json:"reason"`
	ExitCode *int            `json:"exitCode,omitempty"`
	Match    string          `json:"match,omitempty"`
	Line     string          `json:"line,omitempty"`
	Waiting  host.Waiting    `json:"waiting,omitempty"`
}

// wait answers termhost/wait when one of its conditions holds. The wait has begun before the peer's
// next request, such as to type something, is handled.
func (p *peer) wait(r *request) *ahp.Error {
	var params waitParams
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	w, e := params.waitFor()
	if e != nil {
		return e
	}
	release := func() {}
	if match := params.For.Match; match != nil {
		if w.Match, release, e = p.pattern("for.match", *match, false); e != nil {
			return e
		}
	}
	if p.terminalWaits.Add(1) > maxTerminalWaits {
		p.terminalWaits.Add(-1)
		release()
		return ahp.NewError(ahp.CodeLimit, fmt.Sprintf("%d waits of this connection are going on; "+
			"let some finish", maxTerminalWaits), "limit", "waits")
	}
	pending, e := StartWait(p.conn, params.Channel, w)
	if e != nil {
		p.terminalWaits.Add(-1)
		release()
		return e
	}
	do := func() (json.RawMessage, *ahp.Error) { return p.waited(p.ctx, pending) }
	p.answerLater(r.id, do, func() {
		p.terminalWaits.Add(-1)
		release()
	})
	return nil
}

// pattern returns the pattern in a field, and what releases it: see [host.Conn.Pattern].
func (p *peer) pattern(field, expr string, ignoreCase bool) (
	pattern *history.Pattern, release func(), e *ahp.Error,
) {
	var room *host.PatternRoomError
	pattern, release, err := p.conn.Pattern(expr, ignoreCase)
	switch {
	case errors.As(err, &room):
		return nil, nil, Error(p.conn, err)
	case err != nil:
		return nil, nil, ahp.FieldProblem(field, "is refused: "+err.Error())
	}
	return pattern, release, nil
}

// StartWait is [host.Conn.StartWait] for termhost/wait, with the channel of the terminal.
func StartWait(c *host.Conn, channel string, w host.WaitFor) (*host.PendingWait, *ahp.Error) {
	t, e := valid(c, channel)
	if e != nil {
		return nil, e
	}
	p, err := c.StartWait(t, w)
	var quota *admit.QuotaError
	switch {
	case errors.Is(err, host.ErrNoCommands):
		return nil, ahp.FieldProblem("for.command", "cannot hold: "+err.Error())
	case errors.As(err, &quota):
		return nil, ahp.NewError(ahp.CodeLimit, err.Error()+"; let some finish", "limit", "waits")
	}
	return p, Error(c, err)
}

// waited returns how a wait has ended. An error is that somebody has ended it: the connection's
// view of the terminal, or the connection.
func (p *peer) waited(ctx context.Context, pending *host.PendingWait) (
	json.RawMessage, *ahp.Error,
) {
	got, err := pending.End(ctx)
	var behind *host.BehindError
	switch {
	case errors.As(err, &behind):
		return nil, ahp.NewError(ahp.CodeLimit, err.Error(), "limit", "matching")
	case err != nil:
		return nil, ahp.NewError(ahp.CodeNotPermitted, err.Error(), "rule", err.Error())
	}
	return ahp.Encode(waitResult{Reason: got.Reason, ExitCode: got.ExitCode, Match: got.Match,
		Line: got.Line, Waiting: got.Waiting}), nil
}

// waitFor returns the conditions but Match, or which param is wrong.
func (w *waitParams) waitFor() (f host.WaitFor, e *ahp.Error) {
	if e := require(field{"channel", w.Channel != ""}, field{"for", w.For != nil}); e != nil {
		return f, e
	}
	f = host.WaitFor{Command: w.For.Command, Blocked: w.For.Blocked, Fresh: true}
	if f.Idle, e = positiveMs("for.idleMs", w.For.IdleMs); e != nil {
		return f, e
	}
	if f.Timeout, e = positiveMs("timeoutMs", w.TimeoutMs); e != nil {
		return f, e
	}
	return f, nil
}

// maxMs is the longest duration in a request, in milliseconds: about 290 years.
const maxMs = float64(1<<63-1) / float64(time.Millisecond)

// positiveMs reads a duration in milliseconds; nil: there is none.
func positiveMs(field string, ms *float64) (time.Duration, *ahp.Error) {
	switch {
	case ms == nil:
		return 0, nil
	case *ms <= 0 || *ms >= maxMs:
		return 0, ahp.FieldProblem(field, "must be a positive number of milliseconds")
	}
	return max(time.Duration(*ms*float64(time.Millisecond)), 1), nil
}
