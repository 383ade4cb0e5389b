package notify

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"termhost/ahp/host"
)

const (
	// perHour is how many messages a target gets in an hour, besides tests.
	perHour = 20
	// pause is the least time between two looks at all terminals.
	pause = time.Second
)

// Options are the parts of a Notifier.
type Options struct {
	Unseen   func() []host.Unseen
	Changes  <-chan struct{} // receives when Unseen may return more
	Hostname string
	// Link returns the URL of the page at an address, with a link for the person that wants it;
	// see the host's method of that name.
	Link func(base string, list []host.Unseen) (string, error)
	File string // keeps what targets have been told; "": nothing does
	Log  *slog.Logger
	Now  func() time.Time // time.Now outside tests
}

// Notifier sends messages to targets. Its methods may be called concurrently.
type Notifier struct {
	o    Options
	send func(context.Context, *Target, message) error // another one in tests

	record record
	tests  tests

	mu      sync.Mutex
	targets []*line
	running sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc
}

// line is a target that is served.
type line struct {
	Target
	n    *Notifier
	stop context.CancelFunc
	wake chan struct{} // of capacity 1

	// Used by its goroutine only.
	sent     sent
	hour     []time.Time // of the messages of the last hour
	failed   bool        // the last message did not arrive
	tries    int         // how often what is to be told now did not arrive
	retry    time.Time   // before that nothing is sent; zero: at any time
	linkless bool        // the last link could not be made
}

// New returns a Notifier without targets. Close must be called.
func New(o Options) *Notifier {
	n := &Notifier{o: o}
	n.send = func(ctx context.Context, t *Target, m message) error {
		return t.send(ctx, m, o.Hostname, o.Now())
	}
	if err := n.record.load(o.File); err != nil {
		o.Log.Warn("who was notified of what is not known any more", "err", err)
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.running.Go(n.pass)
	return n
}

// pass wakes the targets when something changes.
func (n *Notifier) pass() {
	for {
		select {
		case <-n.o.Changes:
		case <-n.ctx.Done():
			return
		}
		n.mu.Lock()
		for _, l := range n.targets {
			select {
			case l.wake <- struct{}{}:
			default:
			}
		}
		n.mu.Unlock()
	}
}

// SetTargets replaces the targets. Those that stay the same remember what they were told.
func (n *Notifier) SetTargets(targets []Target) {
	n.mu.Lock()
	defer n.mu.Unlock()
	old := n.targets
	n.targets = nil
	n.record.only(targets)
	for _, t := range targets {
		l := &line{Target: t, n: n, wake: make(chan struct{}, 1)}
		l.sent, l.hour = n.record.of(&t)
		for i, was := range old {
			if was != nil && reflect.DeepEqual(was.Target, t) {
				l, old[i] = was, nil
				break
			}
		}
		if l.stop == nil {
			ctx, stop := context.WithCancel(n.ctx)
			l.stop = stop
			l.wake <- struct{}{}
			n.running.Go(func() { l.serve(ctx) })
		}
		n.targets = append(n.targets, l)
	}
	for _, was := range old {
		if was != nil {
			was.stop()
		}
	}
}

// Close ends all targets, and waits for them.
func (n *Notifier) Close() {
	n.cancel()
	n.running.Wait()
}

// serve is a target's goroutine.
func (l *line) serve(ctx context.Context) {
	defer func() {
		if v := recover(); v != nil {
			l.n.o.Log.Error("panic while people were notified", "stack", string(debug.Stack()))
		}
	}()
	due := time.NewTimer(0)
	defer due.Stop()
	for {
		select {
		case <-l.wake:
			due.Reset(pause)
			select {
			case <-due.C:
			case <-ctx.Done():
				return
			}
		case <-due.C:
		case <-ctx.Done():
			return
		}
		due.Reset(l.look(ctx))
	}
}

// idle is how long to wait if nothing is known that will be due.
const idle = time.Hour

// look sends what is due, and returns when to look again.
func (l *line) look(ctx context.Context) (again time.Duration) {
	now := l.n.o.Now()
	again = idle
	var news []host.Unseen
	there, due := map[string]bool{}, map[string]bool{}
	for _, u := range l.n.o.Unseen() {
		key := keyOf(&u)
		there[key] = true
		if !l.wants(&u) || !u.At.After(l.sent[key]) {
			continue
		}
		news = append(news, u)
		since := u.First
		if !since.After(l.sent[key]) { // that was told
			since = u.At
		}
		if left := l.After - now.Sub(since); left > 0 {
			again = min(again, left)
		} else {
			due[key] = true
		}
	}
	l.sent.forget(there, now)
	// What else is new of a terminal that is due is told with it.
	ready := slices.DeleteFunc(news, func(u host.Unseen) bool { return !due[keyOf(&u)] })
	switch {
	case len(ready) == 0:
		l.tries, l.retry = 0, time.Time{} // somebody has looked
	case now.Before(l.retry):
		again = min(again, l.retry.Sub(now))
	case l.Quiet.has(now):
		again = min(again, time.Minute)
	case !l.allowed(now):
		again = min(again, l.hour[0].Add(time.Hour).Sub(now)+time.Second)
	default:
		l.tell(ctx, ready, now)
		if !l.retry.IsZero() {
			again = min(again, l.retry.Sub(now))
		}
	}
	return max(again, pause)
}

// keyOf names whom something concerns, and where it is.
func keyOf(u *host.Unseen) string { return u.ID + "\x00" + u.Person }

// allowed reports whether another message may go out in this hour.
func (l *line) allowed(now time.Time) bool {
	for len(l.hour) > 0 && now.Sub(l.hour[0]) >= time.Hour {
		l.hour = l.hour[1:]
	}
	return len(l.hour) < perHour
}

// retries are how long a message waits that did not arrive, before it is sent again. After the last
// of these it is given up.
var retries = [...]time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute}

// tell sends one message about all that is ready. One that does not arrive is sent again later, as
// it is then: what somebody has looked at meanwhile is left out.
func (l *line) tell(ctx context.Context, ready []host.Unseen, now time.Time) {
	was := maps.Clone(l.sent)
	for _, u := range ready {
		if key := keyOf(&u); u.At.After(l.sent[key]) {
			l.sent[key] = u.At
		}
	}
	l.hour = append(l.hour, now)
	l.keep() // before it is sent: once is enough
	m := newMessage(ready, l.n.o.Hostname, l.Text, now)
	m.URL = l.link(ready)
	err := l.n.send(ctx, &l.Target, m)
	if ctx.Err() != nil {
		return
	}
	l.retry = time.Time{}
	l.logged(err)
	refused := new(refusedError)
	if err == nil || l.tries == len(retries) || errors.As(err, &refused) {
		l.tries = 0
		return
	}
	l.retry = now.Add(retries[l.tries])
	l.tries++
	l.sent, l.hour = was, l.hour[:len(l.hour)-1]
	l.keep()
}

// logged has the log say how a message went, if the last one went differently.
func (l *line) logged(err error) {
	switch {
	case err != nil && !l.failed:
		l.n.o.Log.Warn("a notification did not arrive", "target", l.String(), "err", err)
	case err == nil && l.failed:
		l.n.o.Log.Info("notifications arrive again", "target", l.String())
	}
	l.failed = err != nil
}

// keep writes down what the target was told.
func (l *line) keep() {
	if err := l.n.record.keep(&l.Target, l.sent, l.hour); err != nil {
		l.n.o.Log.Warn("what is notified now will be again after a restart", "err", err)
	}
}

// link returns the link of a message about what is ready; "": it has none.
func (l *line) link(ready []host.Unseen) string {
	if l.URL == "" {
		return ""
	}
	link, err := l.n.o.Link(l.URL, ready)
	if err != nil && !l.linkless {
		l.n.o.Log.Warn("a notification has no link", "target", l.String(), "err", err)
	}
	l.linkless = err != nil
	return link
}
