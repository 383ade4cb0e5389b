package host

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// emit tells the readers of the feed what has happened to t. Only the fields of the kind need be
// set. Some are kept in the audit log; the others cost next to nothing while nobody reads. Any lock
// may be held but the feed's.
func (t *Terminal) emit(e Event) {
	t.audit(e)
	e.from = nil
	f := &t.host.feed
	if f.readers.Load() == 0 {
		return
	}
	e.labels = t.Labels()
	e.Terminal, e.id, e.created, e.Time = t.Name(), t.id, t.origin.created, t.host.now().UTC()
	if e.By == ahp.Nobody {
		e.By = ""
	}
	e.By, e.To, e.Reason = Printable(e.By), Printable(e.To), Printable(e.Reason)
	f.add(e)
}

// emitLive is emit for what output has brought: when it is read from the log it is no news. The
// Term's lock is held.
func (t *Terminal) emitLive(e Event) {
	if t.kept.replay == nil {
		t.emit(e)
	}
}

// feedEvents is how many events the feed keeps: so far a reader may fall behind and miss nothing.
// Full it takes about 2 MiB, besides the names in it.
const feedEvents = 10_000

// feed has the latest events of all terminals, once, for all that read them. A reader is a cursor.
type feed struct {
	readers atomic.Int32 // how many there are, to be asked without the lock

	mu   sync.Mutex // no other lock is taken while it is held
	open map[*EventReader]struct{}
	// ring has the events numbered next-len(ring) to next-1. The event n is at n-base modulo
	// feedEvents.
	ring       []Event
	base, next uint64
}

// EventReader reads the events of some terminals, from the moment on at which it was made. One
// goroutine may use it at a time.
type EventReader struct {
	feed   *feed
	by     authz.Principal
	view   audience
	only   []*Terminal // nil: all that by sees
	signal chan struct{}
	now    func() time.Time

	// Guarded by feed.mu.
	pos      uint64       // the number of the next event
	selector ahp.Selector // see Select
	lost     uint64       // how many events for this reader were dropped before it had read them
}

// Events returns a reader of what happens from now on to the terminals that are given, or if there
// are none, to all that the connection's principal sees, later ones included. It returns
// *authz.Denied if the principal may not list, or why the connection has ended. The reader must be
// closed.
func (c *Conn) Events(only ...*Terminal) (*EventReader, error) {
	if c.ctx.Err() != nil {
		return nil, context.Cause(c.ctx)
	}
	if err := authz.Check(c.principal, authz.List, authz.Target{}); err != nil {
		return nil, err
	}
	f := &c.host.feed
	r := &EventReader{feed: f, by: c.principal, view: c.audience(), only: only,
		now: c.host.now, signal: make(chan struct{}, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		f.open = map[*EventReader]struct{}{}
	}
	r.pos = f.next
	f.open[r] = struct{}{}
	f.readers.Add(1)
	return r, nil
}

// Close ends the reader. The feed keeps nothing while there is none.
func (r *EventReader) Close() {
	f := r.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, open := f.open[r]; !open {
		return
	}
	delete(f.open, r)
	f.readers.Add(-1)
	if len(f.open) == 0 {
		f.ring, f.base = nil, f.next
	}
}

// Signal returns the channel that is sent to when there is something to pull.
func (r *EventReader) Signal() <-chan struct{} { return r.signal }

// Pull appends the next events to dst, the oldest first and at most limit of them. If the reader
// has missed some, they are preceded by an EventLost. It returns dst if there are none yet.
func (r *EventReader) Pull(dst []Event, limit int) []Event {
	f := r.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.lost > 0 {
		dst = append(dst, Event{Time: r.now().UTC(), Kind: EventLost, Count: r.lost})
		r.lost = 0
	}
	for n := 0; r.pos < f.next && n < limit; r.pos++ {
		if e := f.at(r.pos); r.wants(e) {
			dst = append(dst, r.view.event(*e))
			n++
		}
	}
	return dst
}

// wants reports whether an event is for the reader.
func (r *EventReader) wants(e *Event) bool {
	if !r.selector.Selects(e.labels) {
		return false
	}
	if r.only == nil {
		return r.by.Sees(e.id, e.created)
	}
	return slices.ContainsFunc(r.only, func(t *Terminal) bool {
		return t.id == e.id && t.origin.created.Equal(e.created)
	})
}

// at returns the event of a number that the ring still has.
func (f *feed) at(n uint64) *Event { return &f.ring[(n-f.base)%feedEvents] }

// add appends an event and wakes the readers that it is for.
func (f *feed) add(e Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case len(f.open) == 0: // the last reader has just left
		return
	case len(f.ring) < feedEvents:
		f.ring = append(f.ring, e)
	default:
		f.dropLocked(f.next - feedEvents)
		*f.at(f.next) = e
	}
	f.next++
	for r := range f.open {
		if r.wants(&e) {
			r.wake()
		}
	}
}

// dropLocked counts the oldest event as lost for the readers that have not read it.
func (f *feed) dropLocked(oldest uint64) {
	for r := range f.open {
		if r.pos != oldest {
			continue
		}
		r.pos++
		if r.wants(f.at(oldest)) {
			r.lost++
		}
	}
}

func (r *EventReader) wake() {
	select {
	case r.signal <- struct{}{}:
	default:
	}
}
