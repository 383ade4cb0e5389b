package host

import (
	"cmp"
	"context"
	"io"
	"time"

	"termhost/authz"
	"termhost/authz/admit"
)

const (
	// workPiece is for how long somebody works in one turn. As long, at most, does a request take
	// to notice that its peer is gone.
	workPiece = 5 * time.Millisecond
	// turnsShare is the part of the cores that work at the same time: keys, output and logins
	// always find a core.
	turnsShare = 2
)

// Work is what a request costs that takes long: to look for lines, to read a log, to draw it. It is
// done in pieces, between which others get a turn, and it ends with its context. Below admin an
// account has a budget of CPU time besides. A Work is used by one goroutine, which must not wait
// for anybody between Step and Rest, and must call Rest in the end: the verbs that take a Work do.
type Work struct {
	ctx       context.Context
	turns     *admit.Turns
	principal authz.Principal
	view      audience
	pace      *Pace     // of the account; nil: it has no budget
	began     time.Time // when this turn did; zero: there is none
}

// Work returns the work of a request by the connection's principal. It ends with ctx, which must
// end with the connection.
func (c *Conn) Work(ctx context.Context) *Work {
	return &Work{ctx: ctx, turns: c.host.turns, principal: c.principal, view: c.audience(),
		pace: c.pace}
}

// Step is called before each piece of work, which may take some milliseconds. It waits for a turn,
// and for the account's budget. An error is the cause of the context's end.
func (w *Work) Step() error {
	if w.ctx.Err() != nil {
		w.Rest()
		return context.Cause(w.ctx)
	}
	if !w.began.IsZero() && time.Since(w.began) < workPiece {
		return nil
	}
	w.Rest()
	if w.pace != nil {
		if err := admit.Pause(w.ctx, w.pace.oweWork(0, time.Now())); err != nil {
			return err
		}
	}
	if err := w.turns.Take(w.ctx, w.principal.Account()); err != nil {
		return err
	}
	w.began = time.Now()
	return nil
}

// Ended returns an [*EndedError] if the work's context has ended; nil: it has not.
func (w *Work) Ended() error {
	if w.ctx.Err() == nil {
		return nil
	}
	return &EndedError{context.Cause(w.ctx)}
}

// Rest gives the turn back. It is called before whatever may wait for others, and in the end.
func (w *Work) Rest() {
	if w.began.IsZero() {
		return
	}
	now := time.Now()
	worked := now.Sub(w.began)
	w.began = time.Time{}
	if w.pace != nil {
		w.pace.oweWork(worked, now)
	}
	w.turns.Give(w.principal.Account(), worked)
}

// Writer returns a writer to one that may wait for a peer: others work meanwhile. It fails when the
// work has ended.
func (w *Work) Writer(to io.Writer) io.Writer { return restingWriter{w, to} }

type restingWriter struct {
	work *Work
	to   io.Writer
}

func (r restingWriter) Write(p []byte) (int, error) {
	r.work.Rest()
	n, err := r.to.Write(p)
	return n, cmp.Or(err, r.work.Step())
}

// Until has the work end with another context, which must end with the connection.
func (w *Work) Until(ctx context.Context) { w.ctx = ctx }
