package verbs

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"termhost/sshd/viewer"
)

const (
	// followPause is the least time between two lists of all hosts.
	followPause = time.Second
	// listLife is the age at which the hosts' lists are renewed for a person at a list, and
	// countLife for the number of terminals that want a person: nearly all of that is an event.
	listLife  = 5 * time.Second
	countLife = 30 * time.Second
	// followShare is how much of the time hosts may be busy with lists, as a fraction.
	followShare = 10
)

// followings are those of all principals. Their methods may be called concurrently.
type followings struct {
	mu sync.Mutex // held before a following's
	by map[followed]*following
}

// followed says of whom a following is: of a fleet's hosts, as a principal.
type followed struct {
	fleet Fleet
	who   string
}

// following is what the other hosts have listed for a principal, for as long as somebody follows
// it. One of these asks the hosts, for all: a person with many viewers asks no more than with one.
// What happens on a host is told by its `events`; what is no event is found by listing it now and
// then.
type following struct {
	lead  chan struct{} // 1 deep: has a value while somebody asks
	woken chan struct{} // 1 deep: the hosts are to be listed

	mu      sync.Mutex // a leaf
	members map[*follower]struct{}
	lists   map[string][]*viewer.Row
	notes   map[string]string
	order   []string // the hosts, by name; nil: none has been asked
}

// follower is somebody who follows.
type follower struct {
	life time.Duration // how old lists may become
	news func()        // is called when there are others; it does not block
}

// followed returns what the invocation's peer follows.
func (v *invocation) followed() followed {
	who, _ := json.Marshal(v.principal()) // what the hosts are told
	return followed{v.fleet(), string(who)}
}

// of returns a following; nil: nobody follows that.
func (all *followings) of(what followed) *following {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.by[what]
}

// join adds a follower until leave is called.
func (all *followings) join(what followed, who *follower) (f *following, leave func()) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if f = all.by[what]; f == nil {
		f = &following{lead: make(chan struct{}, 1), woken: make(chan struct{}, 1),
			members: map[*follower]struct{}{}}
		if all.by == nil {
			all.by = map[followed]*following{}
		}
		all.by[what] = f
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.members[who] = struct{}{}
	return f, func() { all.leave(what, f, who) }
}

func (all *followings) leave(what followed, f *following, who *follower) {
	all.mu.Lock()
	defer all.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if delete(f.members, who); len(f.members) == 0 {
		delete(all.by, what)
	}
}

// follow keeps up what the other hosts list for the peer until ctx is done.
func (v *invocation) follow(ctx context.Context, who *follower) {
	f, leave := v.following.join(v.followed(), who)
	defer leave()
	if f.asked() {
		who.news()
	}
	_, _ = waker(f.woken).Write(nil) // what there is may be old for this one
	select {
	case f.lead <- struct{}{}:
		defer func() { <-f.lead }()
		f.ask(ctx, v)
	case <-ctx.Done():
	}
}

// asked reports whether there are lists.
func (f *following) asked() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.order != nil
}

// ask lists the hosts again and again, for all followers, until ctx is done.
func (f *following) ask(ctx context.Context, v *invocation) {
	heard := &heard{v: v, woken: f.woken, from: map[string]bool{}}
	for {
		began, hosts := time.Now(), v.others()
		lists, notes := v.listAll(ctx, hosts)
		if ctx.Err() != nil {
			return
		}
		f.take(hosts, lists, notes)
		f.tell()
		for _, h := range hosts {
			heard.follow(ctx, h)
		}
		pause := min(max(followPause, followShare*time.Since(began)), listLife)
		if _, ok := waits(ctx, nil, pause); !ok || !f.rest(ctx, v, hosts, began) {
			return
		}
	}
}

// rest waits until there may be something new, or what was listed is old. It returns false if ctx
// ends first.
func (f *following) rest(ctx context.Context, v *invocation, hosts []FleetHost,
	since time.Time) bool {
	same := func(a, b FleetHost) bool { return a.Name == b.Name && a.Reachable == b.Reachable }
	for slices.EqualFunc(hosts, v.others(), same) {
		left := min(f.life()-time.Since(since), listLife)
		if left <= 0 {
			return true
		}
		if woke, ok := waits(ctx, f.woken, left); woke || !ok {
			return ok
		}
	}
	return true
}

// waits waits for a time, or until woken gets a value; ok is false if ctx ends first.
func waits(ctx context.Context, woken <-chan struct{}, d time.Duration) (woke, ok bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return false, true
	case <-woken:
		return true, true
	case <-ctx.Done():
		return false, false
	}
}

// life returns how old lists may become for all followers.
func (f *following) life() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	least := countLife
	for who := range f.members {
		least = min(least, who.life)
	}
	return least
}

// tell tells all followers that there are other lists.
func (f *following) tell() {
	f.mu.Lock()
	members := slices.Collect(maps.Keys(f.members))
	f.mu.Unlock()
	for _, who := range members {
		who.news()
	}
}

// take keeps what the hosts have listed. The terminals of one that does not answer stay, as they
// were seen last.
func (f *following) take(hosts []FleetHost, lists [][]listed, notes []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.lists
	f.lists, f.notes, f.order = map[string][]*viewer.Row{}, map[string]string{}, []string{}
	for i, h := range hosts {
		var rows []*viewer.Row
		for _, t := range lists[i] {
			r := &viewer.Row{Info: t.Info, Host: h.Name, Elsewhere: true, Away: t.away,
				Refused: t.refused}
			rows = append(rows, r)
		}
		if rows == nil && notes[i] != "" {
			for _, r := range before[h.Name] {
				silent := *r
				if silent.Away.IsZero() {
					silent.Away = time.Now()
				}
				rows = append(rows, &silent)
			}
		}
		f.order = append(f.order, h.Name)
		f.lists[h.Name], f.notes[h.Name] = rows, notes[i]
	}
}

// rows returns the terminals, and what there is to say of hosts. A nil following has none.
func (f *following) rows() (rows []*viewer.Row, notes []string) {
	if f == nil {
		return nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range f.order {
		rows = append(rows, f.lists[name]...)
		if note := f.notes[name]; note != "" {
			notes = append(notes, note)
		}
	}
	return rows, notes
}

// heard are the events of hosts. Each wakes who asks.
type heard struct {
	v     *invocation
	woken chan<- struct{}

	mu   sync.Mutex // a leaf
	from map[string]bool
}

// follow reads a host's events while ctx lasts, if nothing reads them yet.
func (e *heard) follow(ctx context.Context, h FleetHost) {
	e.mu.Lock()
	follows := e.from[h.Name] || !h.Reachable
	e.from[h.Name] = e.from[h.Name] || h.Reachable
	e.mu.Unlock()
	if follows {
		return
	}
	e.v.Go("following another host's events", func() {
		peer, mu := e.v.Caller, new(sync.Mutex)
		peer.IO, peer.Local = &part{IO: e.v.IO, out: &joined{mu: mu, w: waker(e.woken)},
			err: &joined{mu: mu, w: io.Discard}}, false
		_, _ = e.v.fleet().Run(ctx, peer, h.Name, "events --json") // it is listed again
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.from, h.Name)
	})
}

// waker sends a value for whatever is written.
type waker chan<- struct{}

// Write implements io.Writer.
func (w waker) Write(p []byte) (int, error) {
	select {
	case w <- struct{}{}:
	default:
	}
	return len(p), nil
}
