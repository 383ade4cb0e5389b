package relay

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"termhost/ahp"
	"termhost/ahp/host"
)

// Doorway is where connections find the door to the other hosts, which is there while the host is
// in a fleet. The zero Doorway is that of a host alone. Its methods may be called concurrently.
type Doorway struct {
	door atomic.Pointer[Door]

	mu    sync.Mutex // held before a Door's
	conns map[*host.Conn]func()
}

// Door returns the door; nil: there is none. A nil Doorway has none.
func (w *Doorway) Door() *Door {
	if w == nil {
		return nil
	}
	return w.door.Load()
}

// Attach has the root of a connection list the terminals of all hosts whenever there is a door. The
// connection must be detached before it is closed.
func (w *Doorway) Attach(c *host.Conn) (detach func()) {
	if w == nil || c.Principal().Bounded() {
		return func() {}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conns == nil {
		w.conns = map[*host.Conn]func(){}
	}
	w.conns[c] = w.door.Load().attach(c)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.conns[c]()
		delete(w.conns, c)
	}
}

// Set replaces the door; nil: there is none any more. The former one is closed.
func (w *Doorway) Set(d *Door) {
	w.mu.Lock()
	defer w.mu.Unlock()
	former := w.door.Swap(d)
	for c, detach := range w.conns {
		detach()
		w.conns[c] = d.attach(c)
	}
	if former != nil {
		former.close()
	}
}

// Door is this host's door to the others of its fleet. Its methods may be called concurrently.
type Door struct {
	fleet Fleet
	host  *host.Host
	log   *slog.Logger
	ctx   context.Context // ends with the door
	stop  context.CancelFunc
	run   sync.WaitGroup

	mu    sync.Mutex       // a leaf
	lists map[string]*list // by the principal's ID
}

// NewDoor returns a door of a host, to be given to [Doorway.Set].
func NewDoor(f Fleet, h *host.Host, log *slog.Logger) *Door {
	d := &Door{fleet: f, host: h, log: log, lists: map[string]*list{}}
	d.ctx, d.stop = context.WithCancel(context.Background())
	h.SetFleet(f.Name())
	return d
}

func (d *Door) close() {
	d.stop()
	d.run.Wait()
	for _, l := range d.lists {
		l.shown.Close()
	}
	d.host.SetFleet("")
}

// Context ends with the door.
func (d *Door) Context() context.Context { return d.ctx }

// Choose returns the other host on which a terminal is to be made, by its name or labels; "": it is
// this one.
func (d *Door) Choose(on string) (string, error) {
	name, err := d.fleet.Choose(on)
	if name == d.fleet.Name() {
		name = ""
	}
	return name, err
}

// Elsewhere returns the other host of a terminal that a client names, and the terminal's URI there;
// ok is false if it is none of another host's.
func (d *Door) Elsewhere(channel string) (on, uri string, ok bool) {
	on, uri, ok = ahp.SplitFleetURI(channel)
	return on, uri, ok && d.fleet.Has(on)
}

// Missing refuses a terminal that a client names as one of a host that the fleet does not have;
// nil: it names none such.
func (d *Door) Missing(channel string) *ahp.Error {
	on, _, ok := ahp.SplitFleetURI(channel)
	if !ok || on == d.fleet.Name() || d.fleet.Has(on) {
		return nil
	}
	if err := d.fleet.Reachable(on); err != nil { // nil: it has joined just now
		return ahp.NewError(ahp.CodeNotFound, err.Error(), "host", on)
	}
	return nil
}

// attach has a connection's root list the terminals of all hosts.
func (d *Door) attach(c *host.Conn) (detach func()) {
	if d == nil {
		return func() {}
	}
	l := d.listOf(c)
	c.FollowFleet(l.shown)
	return func() {
		c.FollowFleet(nil)
		d.mu.Lock()
		defer d.mu.Unlock()
		l.readers--
		l.tell()
	}
}

// Listed returns when the hosts that are there have listed their terminals for a connection that is
// attached, at the latest when ctx ends.
func (d *Door) Listed(ctx context.Context, c *host.Conn) {
	d.mu.Lock()
	l := d.lists[c.Principal().ID]
	d.mu.Unlock()
	if l != nil {
		l.settled(ctx)
	}
}
