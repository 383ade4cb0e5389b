package carry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"termhost/ahp/age"
	"termhost/ahp/commandline"
	"termhost/sshd/verbs"
)

const (
	// look is how often a host is looked at whose picture somebody sees, or waits for, and glance
	// how often while keys are refused: somebody sees at once that it is back.
	look   = time.Second
	glance = 100 * time.Millisecond
	// patience is the default of Carrier.Patience.
	patience = 10 * time.Minute
	// insists is how long a host that is back refuses a person until that is believed: it may have
	// no room while all come back at once.
	insists = 5 * time.Second
)

// Why a run ends before its session does.
var (
	errLeft   = errors.New("left")    // its peer does not wait for the host
	errWentOn = errors.New("gone on") // its peer goes to a terminal of another host
)

// run is one verb on another host, with the sessions that it takes: when the host restarts, a
// viewer goes on in another one.
type run struct {
	*Carrier
	peer verbs.Caller
	host string
	out  *outlet
	keys *keys
	told notices
}

// Run implements verbs.Fleet.
func (c *Carrier) Run(ctx context.Context, peer verbs.Caller, host, line string) (
	verbs.Exit, error) {
	defer c.mayName(host, line)
	r := &run{Carrier: c, peer: peer, host: host}
	s, err := r.begin(ctx, line, nil)
	if err != nil {
		return verbs.Exit{}, err
	}
	end, err := r.join(ctx, s, nil)
	return end.Exit, err
}

// Show implements verbs.Fleet.
func (c *Carrier) Show(ctx context.Context, peer verbs.Caller, host, line string,
	from *verbs.Arrival) (verbs.Showing, error) {
	r := &run{Carrier: c, peer: peer, host: host}
	s, err := r.begin(ctx, line, from)
	if err == nil && from != nil {
		err = s.awaitShown(ctx)
	}
	if err != nil {
		return nil, err
	}
	return &showing{r, ctx, s}, nil
}

// showing is a verbs.Showing.
type showing struct {
	r   *run
	ctx context.Context
	s   *session
}

// Join implements verbs.Showing.
func (w *showing) Join(peer verbs.Caller, g verbs.Guide) (verbs.Shown, error) {
	w.r.peer = peer
	w.s.isFor(peer)
	return w.r.join(w.ctx, w.s, &g)
}

// Close implements verbs.Showing.
func (w *showing) Close() { w.s.link.close() }

// join joins sessions with the peer, s first, until one ends by itself, or the peer leaves.
func (r *run) join(ctx context.Context, s *session, g *verbs.Guide) (verbs.Shown, error) {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	r.out = &outlet{peer: r.peer}
	r.keys = &keys{peer: r.peer, guide: g, leave: leave, out: r.out, tell: r.tell,
		help: r.help, connecting: r.connecting, hush: make(chan struct{})}
	defer r.keys.finish()
	if g != nil {
		r.keys.filter.Prefix = g.Prefix
	}
	reading := sync.OnceFunc(func() { r.peer.Go("reading what is for another host", r.keys.pass) })
	for {
		r.keys.to(s)
		reading()
		exit, err := r.session(ctx, s)
		r.keys.to(nil)
		end := verbs.Shown{Exit: exit, Over: s.over()}
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, errWentOn):
			r.sane(s)
			return verbs.Shown{WentOn: true}, nil
		case errors.Is(cause, errLeft):
			return r.left(s, r.Fleet.Reachable(r.host))
		}
		line := s.showing()
		if err == nil || line == "" || !r.onTerminal() || ctx.Err() != nil {
			if err != nil {
				r.sane(s)
			}
			return end, err
		}
		back, why := r.await(ctx)
		if !back && errors.Is(context.Cause(ctx), errLeft) {
			return r.left(s, nil)
		}
		r.notice("")
		r.sane(s)
		if !back {
			return verbs.Shown{Exit: verbs.Exit{Status: verbs.StatusLost}}, cmp.Or(why, err)
		}
		again := s.from
		if again != nil {
			again = &verbs.Arrival{Away: again.Away, Listed: again.Listed}
		}
		if s, err = r.begin(ctx, line, again); err != nil {
			return verbs.Shown{}, err
		}
	}
}

// left ends a run whose peer does not wait for the host, which is unreachable because of why, or
// has ended the session.
func (r *run) left(s *session, why error) (verbs.Shown, error) {
	r.notice("")
	r.sane(s)
	if why == nil { // or it is just back
		why = fmt.Errorf("%s has gone", r.host)
	}
	return verbs.Shown{}, &verbs.LeftError{Why: why}
}

func (r *run) onTerminal() bool {
	_, ok := r.peer.Terminal()
	return ok
}

// session joins a session with the peer to its end.
func (r *run) session(ctx context.Context, s *session) (verbs.Exit, error) {
	defer s.link.close()
	defer context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), errWentOn) {
			s.detached(r.keys.hushed())
		}
		s.link.close()
	})()
	s.join(r)
	stop := make(chan struct{})
	var watching sync.WaitGroup
	var elsewhere *verbs.Count
	if g := r.keys.guide; g != nil {
		elsewhere = g.WantElsewhere
	}
	watching.Go(func() { s.pass(elsewhere, stop) })
	if r.onTerminal() {
		watching.Go(func() { r.watch(s, stop) })
	}
	s.outputs.Wait()
	<-s.ended
	close(stop)
	watching.Wait()
	exit, known := s.end()
	switch {
	case known && ctx.Err() != nil:
	case ctx.Err() != nil:
		return verbs.Exit{}, context.Cause(ctx)
	case !known:
		return verbs.Exit{}, &verbs.LostError{Host: r.host, Why: s.lost(r.Carrier)}
	case exit.Status == verbs.StatusLost && !s.isDismissed() && s.link.ends():
		return verbs.Exit{}, &verbs.LostError{Host: r.host, Why: errShutdown, Told: true}
	}
	return exit, nil
}

// detached waits for a moment until the session has ended whose viewer detaches, or its host is
// silent. The end of the connection would overtake what was typed last.
func (s *session) detached(silent <-chan struct{}) {
	late := time.NewTimer(goodbye)
	defer late.Stop()
	select {
	case <-s.ended:
	case <-silent:
	case <-late.C:
	}
}

// errShutdown is for a host that has ended a session because it ends itself.
var errShutdown = errors.New("the host is shutting down")

// await waits until the host is there again, and reports whether it is. If it is not, why may say
// more than the end of the session: the host refuses the person, or the run is over.
func (r *run) await(ctx context.Context) (back bool, why error) {
	since, allowed := time.Now(), time.Now()
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for time.Since(since) < cmp.Or(r.Patience, patience) {
		if _, err := r.Fleet.Member(r.host); err != nil || r.Fleet.Removed() {
			return false, nil
		}
		r.refusing(r.host + " has gone, since " + age.Text(time.Since(since)))
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-ticker.C:
		}
		err := r.answers(ctx)
		var no *verbs.RefusedError
		switch {
		case err == nil:
			return true, nil
		case !errors.As(err, &no):
			allowed = time.Now()
		case time.Since(allowed) > insists:
			return false, &verbs.LostError{Host: r.host, Why: errors.New("it refuses: " + no.Why)}
		}
	}
	return false, nil
}

// answers fails if the host does not run verbs.
func (r *run) answers(ctx context.Context) error {
	if err := r.Fleet.Reachable(r.host); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	_, err := r.Output(ctx, r.peer, r.host, "whoami")
	return err
}

// showing returns the command line that shows again what the session has shown; "": nothing.
func (s *session) showing() string {
	shown := s.showsNow()
	if shown.Name == "" {
		return ""
	}
	line := "attach "
	if shown.ReadOnly {
		line += "-r "
	}
	return line + "-- " + commandline.Quote(shown.Name)
}
