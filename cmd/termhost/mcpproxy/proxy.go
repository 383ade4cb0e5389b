package mcpproxy

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"termhost/ahp"
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

// RefusedError says that the host does not let the user in until the user does something about it.
type RefusedError struct {
	Line  string        // what ssh has said
	Pause time.Duration // the next attempt is made after it
}

func (e *RefusedError) Error() string { return e.Line }

// limits are the times of a proxy.
type limits struct {
	// firstConnect bounds the first connection, at which ssh may ask its user, and connect those
	// that follow.
	firstConnect, connect time.Duration
	// silence is how long the host may be silent before it is asked for a sign of life, and answer
	// how long it may take for one.
	silence, answer time.Duration
	// A host that was silent for stale is asked before a request is sent to it, and has to answer
	// within staleAnswer: the machine may have slept, and the connection be gone.
	stale, staleAnswer time.Duration
	// wait is how long a request waits for a connection.
	wait time.Duration
	// A pause between attempts to connect is a random time below minPause * 2^n, but at most
	// maxPause, and hurry if requests wait.
	minPause, maxPause, hurry time.Duration
	// leave is how long the last answers may take when the client sends nothing more, and
	// leaveUnconnected how long the first connection may take then.
	leave, leaveUnconnected time.Duration
	// lastWord is how long a client is waited for that is to be told that there is no host.
	lastWord time.Duration
	// hangUp is how long the end of a connection may take.
	hangUp time.Duration
	// A connection that lasts for less than lasting does not count as one that was well.
	lasting time.Duration
}

func usualLimits() limits {
	return limits{
		firstConnect: 5 * time.Minute, connect: 30 * time.Second,
		silence: 15 * time.Second, answer: 30 * time.Second,
		stale: 20 * time.Second, staleAnswer: 5 * time.Second,
		wait:     20 * time.Second,
		minPause: 100 * time.Millisecond, maxPause: 10 * time.Second, hurry: time.Second,
		leave: time.Second, leaveUnconnected: 5 * time.Second,
		lastWord: 500 * time.Millisecond, hangUp: 5 * time.Second, lasting: 5 * time.Second,
	}
}

// pending is a request of the client's.
type pending struct {
	*message
	number int       // in the order of the client's
	since  time.Time // it waits for a connection
	sent   bool      // it may have reached the host
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
	prefix   string              // begins the ids of the proxy's own requests
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

var errNoHost = errors.New("what answers is not termhost's MCP")

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

// expire answers the requests that have waited too long for a connection.
func (p *proxy) expire(now time.Time) {
	p.waiting = slices.DeleteFunc(p.waiting, func(w *pending) bool {
		late := now.Sub(w.since) >= p.limits.wait || p.refused.After(now)
		if late {
			p.out.put(w.failure(p.unreached(w)))
		}
		return late
	})
}

// unreached says why a request is not answered.
func (p *proxy) unreached(w *pending) string {
	why := p.cfg.Host + " cannot be reached"
	if p.away != "" {
		why += " (" + p.away + ")"
	}
	switch {
	case p.err != nil:
	case p.refused.After(time.Now()):
		why += ". The next attempt is made in " +
			time.Until(p.refused).Round(time.Second).String()
	case !w.sent:
		why += ". This was not sent, so nothing was done: try again later"
	}
	return why
}

// lostText is the result of a call whose answer was lost.
func (p *proxy) lostText() string {
	return "the connection to " + p.cfg.Host + " was lost before the answer came. " +
		"It is not known whether the call has begun; what runs there goes on. " +
		"Before you call again, see what there is: terminal_list {}"
}

// dial begins to connect.
func (p *proxy) dial() {
	p.dialing++
	p.dialAt, p.begun = time.Time{}, time.Now()
	number := p.dialing
	if !p.was {
		p.cfg.Notice("connecting to " + p.cfg.Host)
	}
	p.tasks.Go(func() {
		conn, err := p.cfg.Dial(p.ctx)
		select {
		case p.dialed <- dialled{number, conn, err}:
		case <-p.ctx.Done():
			if err == nil {
				_ = conn.Close()
			}
		}
	})
}

// connected takes a new connection. The first thing on it is a ping: only its answer tells that
// there is a host, and where what was printed before MCP ends.
func (p *proxy) connected(d dialled) {
	switch {
	case d.number != p.dialing: // it was given up
		if d.err == nil {
			p.tasks.Go(func() { _ = d.conn.Close() })
		}
		return
	case d.err != nil:
		p.fail(d.err)
		return
	}
	l := newLink(d.conn, p.emitter(p.host))
	p.link = l
	p.ask(methodPing, nil, func(*message) { p.greet() })
}

// greet sets up on a new connection what the client has set up.
func (p *proxy) greet() {
	if p.hello == nil {
		p.open()
		return
	}
	p.ask(methodInitialize, p.hello.params, func(answer *message) {
		if answer.failed {
			p.fail(fmt.Errorf("the host refuses: %s",
				text(member(answer.line, "error", "message"))))
			return
		}
		if p.initialized != nil {
			p.link.out.put(p.initialized.line)
		}
		for _, params := range p.subscribed {
			p.ask(methodSubscribe, params, func(*message) {})
		}
		p.open()
	})
}

// open sends what waits for the connection.
func (p *proxy) open() {
	p.link.ready = true
	switch {
	case !p.was:
		p.cfg.Notice("connected to " + p.cfg.Host)
	default:
		p.cfg.Notice("connected to " + p.cfg.Host + " again")
	}
	p.was, p.away, p.opened, p.refused = true, "", time.Now(), time.Time{}
	if p.ended {
		p.leave = time.Now().Add(p.limits.leave)
	}
	p.flush()
}

// flush sends the waiting requests, in the client's order.
func (p *proxy) flush() {
	list := p.waiting
	p.waiting = nil
	for _, w := range list {
		p.send(w)
		if w.method == methodInitialize && p.initialized != nil {
			p.link.out.put(p.initialized.line)
		}
	}
}

// send sends a request on the connection.
func (p *proxy) send(w *pending) {
	w.sent = true
	p.flying[w.key] = w
	p.link.out.put(w.line)
}

// ask sends a request of the proxy's own.
func (p *proxy) ask(method string, params []byte, answered func(*message)) {
	p.ownCount++
	id := p.prefix + strconv.Itoa(p.ownCount)
	p.link.own["s"+id] = answered
	p.link.out.put(request(id, method, params))
}

// ping asks the host for a sign of life, which has to come within a time.
func (p *proxy) ping(within time.Duration) {
	due := time.Now().Add(within)
	if p.link.due.IsZero() {
		p.ask(methodPing, nil, func(*message) {})
	}
	if p.link.due.IsZero() || due.Before(p.link.due) {
		p.link.due = due
	}
}

// fail gives up the connection, or the attempt to make one.
func (p *proxy) fail(why error) {
	if l := p.link; l != nil {
		p.link = nil
		p.tasks.Go(l.close)
	}
	p.dialing++
	reason := why.Error()
	if !p.was {
		p.away = reason
		p.err = fmt.Errorf("cannot reach the host: %w", why)
		p.leave = time.Now().Add(p.limits.lastWord)
		p.giveUp()
		return
	}
	p.recall()
	var refused *RefusedError
	switch {
	case errors.As(why, &refused):
		p.refused = time.Now().Add(refused.Pause)
		p.dialAt = p.refused
		reason = "the login is refused: " + reason
	case p.away == "" && time.Since(p.opened) > p.limits.lasting:
		p.dialAt, p.tried = time.Now(), 0
	default:
		p.dialAt = time.Now().Add(p.pause())
		p.tried++
	}
	if p.away == "" {
		p.cfg.Notice("the connection to " + p.cfg.Host + " is lost, and is made again: " + reason)
	} else if p.away != reason {
		p.cfg.Notice(p.cfg.Host + " cannot be reached yet: " + reason)
	}
	p.away = reason
}

// giveUp tells the client why there is no host, and ends. If the client has asked nothing yet it may
// be about to: what it is answered is shown to more people than standard error is.
func (p *proxy) giveUp() {
	for _, w := range p.waiting {
		p.out.put(w.failure(p.unreached(w)))
	}
	p.finish = len(p.waiting) > 0
}

// pause returns a random time before the next attempt.
func (p *proxy) pause() time.Duration {
	longest := p.limits.maxPause
	if len(p.waiting) > 0 {
		longest = p.limits.hurry
	}
	const maxShift = 16
	return mathrand.N(min(p.limits.minPause<<min(p.tried, maxShift), longest)) + time.Millisecond
}

// recall takes back the requests that were not answered: those that may be repeated wait for the
// next connection, the others are answered.
func (p *proxy) recall() {
	for _, w := range p.flying {
		if !w.repeatable() {
			p.out.put(w.failure(p.lostText()))
			continue
		}
		w.since = time.Now()
		p.waiting = append(p.waiting, w)
	}
	clear(p.flying)
	slices.SortFunc(p.waiting, func(a, b *pending) int { return cmp.Compare(a.number, b.number) })
}

// fromClient takes a line of the client's.
func (p *proxy) fromClient(in input) {
	switch {
	case in.err != nil:
		p.ended = true
		p.leave = time.Now().Add(p.limits.leaveUnconnected)
		if p.was {
			p.leave = time.Now().Add(p.limits.leave)
		}
		return
	case in.long:
		const why = "the message is longer than 4 MiB"
		p.out.put(refusal(idWithin(in.line, in.tail), ahp.NewError(ahp.CodeInvalidRequest, why)))
		return
	}
	m, fault := parse(in.line)
	switch {
	case fault != nil:
		p.out.put(refusal(nil, fault))
	case m.isRequest():
		p.asked(m)
	case m.isResponse():
		if p.isReady() {
			p.link.out.put(m.line)
		}
	default:
		p.notified(m)
	}
}

// asked takes a request of the client's.
func (p *proxy) asked(m *message) {
	if p.knows(m.key) {
		const why = "a request with this id is not answered yet"
		p.out.put(refusal(m.id, ahp.NewError(ahp.CodeInvalidRequest, why)))
		return
	}
	if m.method == methodUnsubscribe {
		delete(p.subscribed, text(member(m.params, "uri")))
	}
	p.pass(m)
}

// knows reports whether a request of the client's is not answered yet.
func (p *proxy) knows(key string) bool {
	return p.flying[key] != nil || slices.ContainsFunc(p.waiting,
		func(w *pending) bool { return w.key == key })
}

// pass sends a request to the host, if it is there. Otherwise the request waits for it.
func (p *proxy) pass(m *message) {
	p.count++
	w := &pending{message: m, number: p.count, since: time.Now()}
	if p.isReady() && wall().Sub(p.link.heard) < p.limits.stale {
		p.send(w)
		return
	}
	p.waiting = append(p.waiting, w)
	if p.err != nil {
		p.giveUp()
		return
	}
	if p.isReady() {
		p.ping(p.limits.staleAnswer)
	}
	if soon := time.Now().Add(p.limits.hurry); p.dialAt.After(soon) && p.refused.IsZero() {
		p.dialAt = soon
	}
}

// notified takes a notification of the client's.
func (p *proxy) notified(m *message) {
	switch m.method {
	case methodInitialized:
		p.initialized = m
		if p.isReady() { // otherwise it goes with initialize
			p.link.out.put(m.line)
		}
	case methodCancelled:
		key, _ := keyOf(orNull(member(m.params, "requestId")))
		before := len(p.waiting)
		p.waiting = slices.DeleteFunc(p.waiting, func(w *pending) bool { return w.key == key })
		if len(p.waiting) == before && p.flying[key] != nil {
			delete(p.flying, key) // an answer that comes nevertheless is of no use
			p.link.out.put(m.line)
		}
	default:
		if p.isReady() {
			p.link.out.put(m.line)
		}
	}
}

func orNull(value []byte) []byte {
	if value == nil {
		return []byte("null")
	}
	return value
}

// fromHost takes a line of the host's.
func (p *proxy) fromHost(in input) {
	l := p.link
	if in.link != l {
		return // it comes from a connection that was given up
	}
	if in.err != nil {
		p.lost(in.err)
		return
	}
	m, fault := parse(in.line)
	if in.long || fault != nil { // it is no message
		if !l.ready && bytes.Contains(in.line, []byte(p.prefix)) {
			// The answer to the ping stands behind something that has no line end.
			p.ask(methodPing, nil, func(*message) { p.greet() })
		}
		return
	}
	l.heard, l.due = wall(), time.Time{}
	answered := l.own[m.key]
	switch {
	case m.isResponse() && answered != nil:
		delete(l.own, m.key)
		answered(m)
	case !l.ready:
	case m.isResponse():
		p.answered(m)
	default:
		p.out.put(m.line)
	}
	if p.isReady() {
		p.flush() // what waited for a sign of life
	}
}

// lost takes the end of the connection.
func (p *proxy) lost(err error) {
	if errors.Is(err, io.EOF) {
		err = errors.New("the host has closed it")
		if !p.was {
			err = errNoHost
		}
	}
	p.fail(err)
}

// answered passes a response on, if the client waits for it. One without an id is about a line that
// the host has not understood.
func (p *proxy) answered(m *message) {
	if m.key == "" {
		p.out.put(m.line)
		return
	}
	w := p.flying[m.key]
	if w == nil || w.repeatable() && w.method == methodCall &&
		string(member(m.line, "result", "_meta", metaEnded)) == "true" {
		return // nobody waits for it, or the host ends, and the next one will answer
	}
	delete(p.flying, m.key)
	switch {
	case m.failed:
	case w.method == methodInitialize:
		p.hello = w.message
	case w.method == methodSubscribe:
		p.subscribed[text(member(w.params, "uri"))] = w.params
	}
	p.out.put(m.line)
}
