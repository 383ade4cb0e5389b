package verbs

import (
	"context"
	"sync"
	"time"

	"termhost/ahp/commandline"
	"termhost/ahp/host"
	"termhost/sshd/viewer"
)

// A person sees terminals of several hosts on one connection, one after the other: see tour. On
// this host a viewer shows them, on others theirs does, whose session is joined with the peer's
// streams. The next terminal is made ready before the one that is shown is left, which stays if
// that fails. What was typed before goes to the one, what is typed after to the other.

// stop is a terminal that a person sees on the way. The zero stop is none.
type stop struct {
	host string         // "": this one
	name string         // its NAME, on another host
	own  *host.Terminal // on this host
}

// ready is a terminal that is ready to be shown.
type ready struct {
	to stop
	// On this host:
	a     *host.Attach
	first []byte
	o     viewer.Options
	// On another one:
	there Showing
	// stop ends what was begun for it; nil: nothing is to be ended.
	stop func()
}

// close gives it up.
func (r *ready) close() {
	switch {
	case r == nil:
	case r.there != nil:
		r.there.Close()
	default:
		r.a.Close()
	}
	r.end()
}

// end says that it is not shown any more.
func (r *ready) end() {
	if r != nil && r.stop != nil {
		r.stop()
	}
}

// tour leads a person through the terminals of the fleet.
type tour struct {
	v     *invocation
	relay *relay
	// listed: it has come from top, and goes back there.
	listed bool
	// wants counts what wants the person on other hosts than the one that is shown: see counting.
	// follows says who lists that.
	wants   *Count
	follows followed

	recount sync.Mutex // held while wants is counted; comes before mu

	mu       sync.Mutex // a leaf
	at, last stop       // shown now, and before that on another host; zero: none was
	home     stop       // shown first
	came     bool       // the other host's viewer has shown the first of its terminals
	moved    bool       // and another one
	readOnly bool
	next     *ready // where the person goes
	// When the person went to what because it wanted them: on this host and, by HOST/NAME, on
	// others. The first is the viewer's while there is one.
	gone      map[*host.Terminal]time.Time
	elsewhere map[string]time.Time
}

// newTour returns a tour for a peer; nil: it sees this host's terminals only, or draws
// nothing.
func (v *invocation) newTour() *tour {
	if !v.Draws() || len(v.others()) == 0 {
		return nil
	}
	return v.tour()
}

func (v *invocation) tour() *tour {
	return &tour{v: v, relay: newRelay(v.IO), gone: map[*host.Terminal]time.Time{},
		elsewhere: map[string]time.Time{}, wants: viewer.NewCount(), follows: v.followed()}
}

// tourFromTop returns a tour that goes back to top at its end.
func (v *invocation) tourFromTop() *tour {
	t := v.tour()
	t.listed = true
	return t
}

// toured is how a tour has ended, at a terminal of this host or of another one.
type toured struct {
	here bool
	// Here:
	end  viewer.Ending
	code int // of the terminal
	// On another host:
	exit Exit
	over bool  // the terminal has ended
	err  error // why it is not known how the viewer has
	at   stop  // the terminal
}

// touredStatus is the status of a tour.
func (v *invocation) touredStatus(e toured) int {
	if e.here {
		return endedStatus(e.end, e.code)
	}
	return v.carriedStatus(e.exit, e.err, e.at)
}

// run shows terminals, r first, until the last of them ends or the person detaches, and returns how
// that was.
func (t *tour) run(r *ready) (end toured) {
	defer t.relay.close()
	defer t.counting()()
	t.home = r.to
	for r != nil {
		if r.there != nil {
			end, r = t.there(r)
		} else {
			end, r = t.here(r)
		}
	}
	return end
}

// here shows a terminal of this host. It returns how that ended, or where the person goes next.
func (t *tour) here(r *ready) (how toured, next *ready) {
	defer r.end()
	l := t.relay.leg()
	defer l.end()
	s := t.v.session()
	s.IO, s.Elsewhere, s.WantElsewhere = l, &viewed{t, l}, t.wants
	if tell := t.v.Taken; tell != nil {
		s.Taken = func(bytes uint64, shown bool) { tell(l.given(bytes), shown) }
	}
	var o host.AttachOptions
	if t.v.fit(&o); o.Cols > 0 { // it may have changed on the way
		r.a.KeepBelow(o.Below)
		r.a.ResizeTo(o.Cols, o.Rows, o.Pixels)
	}
	t.arrive(r.to, r.a.ReadOnly())
	end, code := viewer.Attach(t.v.ctx, s, r.a, r.first, r.o)
	if end == viewer.WentOn {
		return how, t.onward()
	}
	l.end()
	t.drop()
	how = toured{here: true, end: end, code: code}
	if end == viewer.Exited {
		return how, t.back(r.o.Away || t.now() != r.to)
	}
	return how, nil
}

// there shows a terminal of another host.
func (t *tour) there(r *ready) (how toured, next *ready) {
	defer r.end()
	l := t.relay.leg()
	defer l.end()
	c := t.v.Caller
	c.IO, c.Taken = l, nil
	away := r.to != t.home
	t.arrive(r.to, false)
	end, err := r.there.Join(c, t.guide(l, r.to.host))
	if err == nil && end.WentOn {
		return how, t.onward()
	}
	l.end()
	t.drop()
	how = toured{exit: end.Exit, over: end.Over, err: err, at: t.now()}
	if err == nil && end.Over {
		t.v.showsTerminal("", false)
		return how, t.back(away)
	}
	return how, nil
}

// maxGone bounds how many terminals of other hosts are remembered, whose names the hosts say.
const maxGone = 1000

// arrive notes that a viewer of a terminal begins.
func (t *tour) arrive(at stop, readOnly bool) {
	t.mu.Lock()
	t.at, t.came, t.moved = at, false, false
	t.readOnly = t.readOnly || readOnly
	t.mu.Unlock()
	if at.host == "" {
		t.v.uses.note(t.v.principal().ID, at)
	}
	t.count()
}

// shown notes which terminal a viewer shows. The first that one on another host shows may have been
// meant by the beginning of its NAME.
func (t *tour) shown(at stop, readOnly bool) {
	t.v.uses.note(t.v.principal().ID, at)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.came && t.at == t.home {
		t.home = at
	}
	t.moved = t.moved || t.came && t.at != at
	t.at, t.came = at, true
	t.readOnly = t.readOnly || readOnly
	if at.host != "" {
		if len(t.elsewhere) >= maxGone {
			clear(t.elsewhere)
		}
		t.elsewhere[at.host+"/"+at.name] = time.Now()
	}
}

// now returns what is shown.
func (t *tour) now() stop {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.at
}

// setNext notes where the person goes, which is never called twice before the viewer has ended.
func (t *tour) setNext(r *ready) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next = r
}

// onward returns where the person goes, who can come back.
func (t *tour) onward() *ready {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.next
	t.next = nil
	if r.to != t.at { // otherwise the person has changed their mind
		t.last = t.at
	}
	return r
}

// drop gives up what is ready: the viewer has ended otherwise.
func (t *tour) drop() {
	t.mu.Lock()
	r := t.next
	t.next = nil
	t.mu.Unlock()
	r.close()
}

// back returns the terminal to go back to from one that has ended; nil: none, or it is not away.
func (t *tour) back(away bool) *ready {
	if !away || t.v.ctx.Err() != nil {
		return nil
	}
	text := t.label(t.at) + " has ended; "
	for _, to := range []stop{t.last, t.home} {
		if to == (stop{}) || to == t.at || to.own != nil && hasEnded(to.own) {
			continue
		}
		if r, err := t.prepare(t.v.ctx, to, text+t.label(to)); err == nil {
			t.last = stop{}
			return r
		}
	}
	return nil
}

// label names a terminal with its host.
func (t *tour) label(s stop) string {
	on, name := s.host, s.name
	if s.own != nil {
		on, name = t.v.self(), s.own.Name()
	}
	return on + "/" + name
}

// prepare makes a terminal ready to be shown, while ctx lasts; text tells the person there.
func (t *tour) prepare(ctx context.Context, to stop, text string) (*ready, error) {
	v := t.v
	away := to != t.home
	if to.host != "" {
		line := "attach "
		if t.readOnly {
			line += "-r "
		}
		there, err := v.fleet().Show(ctx, v.Caller, to.host,
			line+"-- "+commandline.Quote(to.name), &Arrival{text, away, t.listed})
		return &ready{to: to, there: there}, err
	}
	_, over := to.own.Exit()
	o := v.attachOptions()
	o.ReadOnly, o.History = t.readOnly, viewer.SwitchHistory
	a, first, err := v.Conn.Attach(to.own, o)
	return &ready{to: to, a: a, first: first,
		o: viewer.Options{Away: away, Arriving: text, Over: over,
			Listed: t.listed}}, err
}

// before returns what was shown before the present host's terminals; zero: nothing was, or it has
// ended.
func (t *tour) before() stop {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range []stop{t.last, t.home} {
		if s != (stop{}) && s != t.at && (s.own == nil || !hasEnded(s.own)) {
			return s
		}
	}
	return stop{}
}

func hasEnded(t *host.Terminal) bool {
	_, over := t.Exit()
	return over
}
