package mcpproxy

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"sync"
	"time"
)

// Config configures a proxy. All fields are required.
type Config struct {
	// In and Out are the client's streams.
	In  io.Reader
	Out io.Writer
	// Host is what people call the host.
	Host string
	// Dial makes a connection to the host's MCP. What the connection's Read returns at the end says
	// why it has ended. A [RefusedError] is tried again more slowly than others.
	Dial func(context.Context) (io.ReadWriteCloser, error)
	// Notice tells the user something, in one line.
	Notice func(string)
}

// proxy is a run of Run. One goroutine does everything but reading and writing.
type proxy struct {
	cfg    Config
	limits limits
	ctx    context.Context
	out    *outbox
	client chan input // what the client sends
	host   chan input // what the hosts of all links send
	dialed chan dialled
	tasks  sync.WaitGroup // what ends connections

	link    *link // nil: there is none
	dialing int   // counts the attempts; one that is given up has another number
	begun   time.Time
	dialAt  time.Time // the next attempt; zero: one is under way, or there is a connection
	opened  time.Time // when the last connection was there
	tried   int       // the attempts that have failed since a connection was well
	was     bool      // there has been a connection
	away    string    // why there is none, as it was told last
	refused time.Time // no attempt is made before that, because the login was refused

	count    int
	waiting  []*pending          // for a connection, in the client's order
	flying   map[string]*pending // sent and not answered, by key
	prefix   string              // begins the ids of the proxy's own requests; no other has it
	number   int                 // the client's, as the host has said; 0: it has not
	ownCount int

	// What the client has set up.
	hello       *message          // its initialize, which the host has answered; nil: none
	initialized *message          // nil: it has not been sent
	subscribed  map[string][]byte // params of resources/subscribe, by URI

	ended  bool      // the client sends nothing more
	leave  time.Time // when the last answers have to be there
	finish bool      // Run is over
	err    error     // what it returns
}

// dialled is a connection, or why there is none.
type dialled struct {
	number int
	conn   io.ReadWriteCloser
	err    error
}

// Run carries messages between the client and the host until the client sends nothing more, does
// not read any more, or ctx ends. The error says why the host cannot be reached, if it has never
// been.
func Run(ctx context.Context, c Config) error { return newProxy(c).run(ctx) }

func newProxy(c Config) *proxy {
	return &proxy{cfg: c, limits: usualLimits(), client: make(chan input), host: make(chan input),
		dialed: make(chan dialled), flying: map[string]*pending{},
		prefix: "termhost-" + rand.Text()[:8] + "-", subscribed: map[string][]byte{}}
}

func (p *proxy) run(ctx context.Context) error {
	var cancel context.CancelFunc
	p.ctx, cancel = context.WithCancel(ctx)
	p.out = newOutbox(p.cfg.Out)
	go readLines(p.cfg.In, maxLine, p.emitter(p.client))
	p.dial()
	for !p.finish {
		p.step()
	}
	cancel()
	if p.link != nil {
		p.link.close()
	}
	p.out.close()
	await(p.out.done, p.limits.leave)
	ended := make(chan struct{})
	go func() {
		p.tasks.Wait()
		close(ended)
	}()
	await(ended, p.limits.hangUp)
	return p.err
}

// await waits for something, but not for long.
func await(done <-chan struct{}, limit time.Duration) {
	select {
	case <-done:
	case <-time.After(limit):
	}
}

// emitter returns a function that hands input to the proxy, and reports whether that runs on.
func (p *proxy) emitter(to chan<- input) func(input) bool {
	return func(in input) bool {
		select {
		case to <- in:
			return true
		case <-p.ctx.Done():
			return false
		}
	}
}

// step waits for something to happen and does what is to be done then.
func (p *proxy) step() {
	client, host := p.client, p.host
	var room chan struct{}
	if p.link != nil {
		room = p.link.out.room
	}
	if p.choked() {
		client = nil
	}
	if p.out.full() {
		client, host = nil, nil
	}
	timer := time.NewTimer(p.idle())
	defer timer.Stop()
	select {
	case in := <-client:
		p.fromClient(in)
	case in := <-host:
		p.fromHost(in)
	case d := <-p.dialed:
		p.connected(d)
	case <-timer.C:
	case <-room:
	case <-p.out.room:
	case <-p.out.broken: // the client has gone
		p.finish = true
	case <-p.ctx.Done():
		p.finish = true
	}
	if !p.finish {
		p.punctual()
	}
}

// choked reports whether too much waits for the host.
func (p *proxy) choked() bool {
	size := 0
	for _, w := range p.waiting {
		size += len(w.line)
	}
	return size > maxQueue || p.link != nil && p.link.out.full()
}

// idle returns how long there is nothing to do.
func (p *proxy) idle() time.Duration {
	next := time.Now().Add(time.Hour)
	earlier := func(t time.Time) {
		if !t.IsZero() && t.Before(next) {
			next = t
		}
	}
	earlier(p.dialAt)
	earlier(p.leave)
	earlier(p.connectBy())
	if p.link != nil {
		earlier(p.link.due)
		if p.link.ready && p.link.due.IsZero() {
			earlier(p.link.heard.Add(p.limits.silence))
		}
	}
	for _, w := range p.waiting {
		if p.was {
			earlier(w.since.Add(p.limits.wait))
		}
	}
	return time.Until(next)
}

// connectBy returns when the connection that is being made has to be there; zero: none is.
func (p *proxy) connectBy() time.Time {
	switch {
	case !p.dialAt.IsZero(), p.isReady(), p.err != nil:
		return time.Time{}
	case p.was:
		return p.begun.Add(p.limits.connect)
	}
	return p.begun.Add(p.limits.firstConnect)
}

// isReady reports whether there is a connection that messages may be sent on.
func (p *proxy) isReady() bool { return p.link != nil && p.link.ready }

// punctual does what is due by the clock.
func (p *proxy) punctual() {
	now := time.Now()
	past := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	if p.ended && len(p.flying) == 0 && len(p.waiting) == 0 || past(p.leave) {
		p.finish = true
		return
	}
	switch {
	case past(p.connectBy()):
		p.fail(errors.New("the host does not answer"))
	case p.link != nil && past(p.link.due):
		p.fail(errors.New("the host does not answer any more"))
	case p.isReady() && p.link.due.IsZero() &&
		past(p.link.heard.Add(p.limits.silence)):
		p.ping(p.limits.answer)
	case past(p.dialAt):
		p.dial()
	}
	if p.was {
		p.expire(now)
	}
}
