package verbs

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// maxEventsPause bounds the pause before a host is asked again for its events that does not tell
// them. It begins anew when the host was silent.
const maxEventsPause = 30 * time.Second

// listening prints the events of several hosts. A host that was lost is followed again as soon as
// it is back.
type listening struct {
	v     *invocation
	later bool // hosts that are back, or join, later too: no NAME is given
	ends  chan sourceEnd
	hosts map[string]*source

	status int // the verb's, if no host tells any more

	mu sync.Mutex // held while something is printed
}

// source is a host whose events are printed.
type source struct {
	place
	running, over bool // over: it is not asked again
	heard         bool // it has told its events before
	late          bool // it was not there at first
	began, seen   time.Time
	lost          time.Time // since when events may be missing; zero: it has not been lost
	next          time.Time // when it may be asked again
	pause         time.Duration
	said          string // the last complaint since it was heard
}

// sourceEnd is how a host has ended to tell its events.
type sourceEnd struct {
	ended
	begun bool // it has begun to
}

// eventsOnSeveral prints the events of several hosts until the peer goes, or no host tells any.
func (v *invocation) eventsOnSeveral(places []place) int {
	ctx, stop := v.untilInterrupted()
	defer stop()
	l := &listening{v: v, later: len(v.named()) == 0, ends: make(chan sourceEnd),
		hosts: map[string]*source{}}
	for _, p := range places {
		l.hosts[p.host] = &source{place: p}
	}
	defer l.wait()
	ticker := time.NewTicker(followPause)
	defer ticker.Stop()
	for l.follow(ctx) {
		select {
		case e := <-l.ends:
			l.status = max(l.status, l.ended(ctx, e))
		case <-ticker.C:
		case <-ctx.Done():
			if v.ctx.Err() != nil {
				return v.cutShort()
			}
			return StatusOK
		}
	}
	return l.status
}

// wait waits for the hosts that are still asked; their context has ended.
func (l *listening) wait() {
	running := 0
	for _, s := range l.hosts {
		if s.running {
			running++
		}
	}
	for range running {
		<-l.ends
	}
}

// follow asks the hosts that are there and are not asked, and reports whether any tells its events
// or is awaited.
func (l *listening) follow(ctx context.Context) (goes bool) {
	there := map[string]FleetHost{}
	for _, h := range l.v.fleet().Hosts() {
		there[h.Name] = h
		if l.hosts[h.Name] == nil && l.later {
			l.hosts[h.Name] = &source{place: place{host: h.Name}, late: true}
		}
	}
	now := time.Now()
	for name, s := range l.hosts {
		h, member := there[name]
		first := !l.later && !s.heard // it fails if the host is silent
		switch {
		case s.running:
			s.seen = h.Heard
			goes = true
		case !member && l.later:
			delete(l.hosts, name)
		case s.over:
		case !member && s.heard:
			l.complain(fmt.Errorf("%s is no longer in this fleet", name))
			s.over, l.status = true, StatusFailed
		case !h.Reachable && !first:
			s.pause, s.next = 0, time.Time{}
			goes = goes || s.heard
		case now.Before(s.next):
			goes = goes || s.heard
		default:
			s.running, s.began, s.seen = true, now, now
			l.ask(ctx, *s)
			goes = true
		}
	}
	return goes
}

// ask has a host tell its events.
func (l *listening) ask(ctx context.Context, s source) {
	one, begun := l.v.partOf(s.place, &l.mu), new(atomic.Bool)
	begins := sync.OnceFunc(func() {
		begun.Store(true)
		l.say(s.again(time.Now()))
	})
	l.v.runPart(ctx, s.place, &listener{one, begins}, one, func(e ended) {
		l.ends <- sourceEnd{e, begun.Load()}
	})
}

// listener is the peer of `events` on one of several hosts.
type listener struct {
	*part
	begins func() // is called when the verb runs there
}

// Stdin implements IO. What a peer types is asked for once the other host has begun the verb.
func (p *listener) Stdin() io.Reader {
	p.begins()
	return p.part.Stdin()
}

// say tells the peer something beside the events.
func (l *listening) say(text string) {
	if text == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.v.stderr, text)
}

// complain tells the peer why a host does not tell its events; nil: the host has said it.
func (l *listening) complain(err error) {
	if err == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.v.failed(err)
}

// again says what the peer has to know of a host that is followed from now on; "": nothing.
func (s *source) again(now time.Time) string {
	switch at := now.Format(time.RFC3339); {
	case !s.lost.IsZero():
		return fmt.Sprintf("%s is followed again; events from %s to %s may be missing",
			s.host, s.lost.Format(time.RFC3339), at)
	case s.late:
		return fmt.Sprintf("%s is followed from %s on", s.host, at)
	}
	return ""
}

// ended takes note of a host's end, and returns the verb's status for it.
func (l *listening) ended(ctx context.Context, e sourceEnd) int {
	s := l.hosts[e.place.host]
	s.running = false
	lost := e.err != nil || e.status == StatusLost && s.host != l.v.self()
	switch {
	case ctx.Err() != nil:
		return StatusOK
	case !lost:
		s.over = true
		return e.status
	case !l.later && !s.heard && !e.begun:
		l.complain(e.err)
		s.over = true
		return StatusUsage
	}
	now := time.Now()
	if e.begun {
		s.heard, s.lost, s.said = true, s.seen, ""
	}
	if s.pause = min(max(2*s.pause, followPause), maxEventsPause); e.begun &&
		now.Sub(s.began) > followPause {
		s.pause = 0
	}
	s.next = now.Add(s.pause)
	if e.err != nil && e.err.Error() != s.said {
		s.said = e.err.Error()
		l.complain(e.err)
	}
	return StatusOK
}
