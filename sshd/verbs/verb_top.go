package verbs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/sshd/viewer"
)

// defineTop shows the terminals on one screen that is live, and acts on them.
func defineTop(fs *flag.FlagSet) func(*invocation) int {
	var labels ahp.Selector
	selectorFlag(fs, &labels)
	return func(v *invocation) int { return v.top(labels) }
}

func (v *invocation) top(labels ahp.Selector) int {
	if !v.onTerminal() {
		fmt.Fprintln(v.stderr, v.told("termhost: error: top needs a terminal at your end:"+
			" `ssh -t HOST top`, or `ssh HOST ls` for a list"))
		return StatusUsage
	}
	if v.plainTerminal() {
		return v.needsScreen("`ssh HOST ls` lists them")
	}
	if _, err := v.Conn.Terminals(); err != nil {
		return v.failed(err)
	}
	s, o := v.session(), viewer.TopOptions{Selector: labels}
	if s.Others != nil {
		o.Attach, o.Carry = v.attachFromTop, v.carryFromTop
	}
	err := viewer.Top(v.ctx, s, o)
	switch {
	case errors.Is(err, viewer.ErrLost):
		return v.cutShort()
	case err != nil:
		return StatusFailed
	}
	return StatusOK
}

// fromTop returns the verb for a peer that top lends its streams to while ctx lasts.
func (v *invocation) fromTop(ctx context.Context, s *viewer.Session) *invocation {
	w := *v
	w.ctx, w.IO, w.Taken = ctx, &lent{v.IO, s.Stdin()}, s.Taken
	return &w
}

// attachFromTop shows a terminal of this host, from which keys lead to those of all hosts.
func (v *invocation) attachFromTop(ctx context.Context, s *viewer.Session, a *host.Attach,
	first []byte, o viewer.Options) (viewer.Ending, error) {
	t := v.fromTop(ctx, s).tourFromTop()
	return t.run(&ready{to: stop{own: a.Terminal()}, a: a, first: first, o: o}).forTop()
}

// carryFromTop connects to a terminal of another host.
func (v *invocation) carryFromTop(ctx context.Context, s *viewer.Session, r *viewer.Row) (
	viewer.Carried, error) {
	t := v.fromTop(ctx, s).tourFromTop()
	first, err := t.prepare(t.v.ctx, stop{host: r.Host, name: r.Name}, "")
	if err != nil {
		return viewer.Carried{}, err
	}
	show := func() (viewer.Ending, error) { return t.run(first).forTop() }
	return viewer.Carried{Show: show, GiveUp: first.close}, nil
}

// forTop returns the end of a tour as top takes it: what is lost is the other host. Who has left it
// knows.
func (e toured) forTop() (viewer.Ending, error) {
	var left *LeftError
	switch {
	case errors.As(e.err, &left):
		return viewer.Detached, nil
	case e.here:
		return e.end, nil
	case e.err == nil && e.over:
		return viewer.Exited, nil
	case e.err == nil && e.exit.Status == StatusFailed: // see endedStatus
		return viewer.Kicked, nil
	}
	return viewer.Detached, e.err
}

// lent is a peer that goes on afterwards with something else, and whose input is only lent.
type lent struct {
	IO
	in io.Reader
}

func (p *lent) Stdin() io.Reader { return p.in }
func (p *lent) EndOutput()       {}
func (p *lent) DiscardInput()    {}
func (p *lent) RefuseInput()     {}
