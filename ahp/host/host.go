// Package host is where the store, the ptys and the policy meet. Every verb a
// door can ask for is a method here; doors authenticate and translate, and
// decide nothing.
//
// A [Host] owns the terminals. A [Conn] is one transport of one principal and
// carries the verbs of AHP; an [Attach] shows one terminal to an SSH session.
//
// A change of a terminal is one step under that terminal's lock (its Term's):
// authz.Check, the side effect on the pty, the action appended to the store. So
// of two racing claims one wins, and nobody types after losing the claim. Lock
// order: Host.mu before a Term's lock, a Term's lock before the store's. Nothing
// is taken in the other direction.
package host

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/ptypool"
)

// Config is what a Host is made from. The zero value of a field takes the
// default that config.example.toml documents, where one is named there.
type Config struct {
	StateDir string // for the serverSeq's high-water mark; "": not persisted
	Version  string // of termhost, for clients and XTVERSION

	Shell            string // "": the user's login shell
	Login            bool   // shells start as login shells
	Term             string // TERM where the creator's is not known to this host
	Env              map[string]string
	ShellIntegration bool

	MaxTerminals    int
	MaxExited       int
	ExitedTTL       time.Duration
	ScrollbackBytes int
	LogBytes        int
	InputShared     bool

	Log *slog.Logger     // nil: discarded
	Now func() time.Time // nil: time.Now
}

// Host keeps the terminals. All methods may be called concurrently.
type Host struct {
	cfg   Config
	log   *slog.Logger
	now   func() time.Time
	store *store.Store
	pool  *ptypool.Pool

	// mu guards the registries below. It is taken before any Term's lock.
	mu        sync.Mutex
	terminals map[string]*Terminal // by URI
	names     map[string]*Terminal // by NAME
	order     []*Terminal          // by age
	clients   map[string]*client   // by clientId
	conns     map[*Conn]struct{}
	lastUsed  map[string]*Terminal // by principal ID
	closed    bool

	list  listPublisher
	sweep *time.Timer // disposes exited terminals that are due

	background sync.WaitGroup // goroutines of the Host itself
}

// New returns a Host without terminals.
func New(cfg Config) (*Host, error) {
	h := &Host{cfg: cfg, log: cfg.Log, now: cfg.Now,
		terminals: map[string]*Terminal{}, names: map[string]*Terminal{}, clients: map[string]*client{},
		conns: map[*Conn]struct{}{}, lastUsed: map[string]*Terminal{}}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.now == nil {
		h.now = time.Now
	}
	first, err := firstSeq(cfg.StateDir, h.now())
	if err != nil {
		return nil, err
	}
	h.store = store.New(store.Options{FirstSeq: first, LogBytes: cfg.LogBytes, ContentBytes: cfg.ScrollbackBytes})
	h.pool = ptypool.New(ptypool.Config{MaxTerminals: cfg.MaxTerminals, Log: cfg.Log})
	h.list.publish = h.store.PublishTerminals
	return h, nil
}

// errShutdown ends connections when the host goes down.
var errShutdown = errors.New("the host is shutting down")

// Shutdown refuses new terminals and connections, hangs up every terminal,
// waits until all are gone or ctx ends (then kills what is left), gives readers
// the last output, and closes the connections.
func (h *Host) Shutdown(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	if h.sweep != nil {
		h.sweep.Stop()
	}
	for _, t := range h.order {
		t.brake.release()
	}
	h.mu.Unlock()
	err := h.pool.Shutdown(ctx)
	h.list.stop()
	h.drain(ctx)
	h.mu.Lock()
	conns := make([]*Conn, 0, len(h.conns))
	for c := range h.conns {
		conns = append(conns, c)
	}
	h.mu.Unlock()
	for _, c := range conns {
		c.end(errShutdown)
	}
	h.background.Wait()
	return errors.Join(err, saveSeq(h.cfg.StateDir, h.store.Seq()))
}

// drain waits until the connections have written what there is, or ctx ends.
func (h *Host) drain(ctx context.Context) {
	tick := time.NewTicker(drainPoll)
	defer tick.Stop()
	for h.pendingReaders() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// drainPoll is how often a shutdown looks whether everything is written.
const drainPoll = 10 * time.Millisecond

func (h *Host) pendingReaders() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if c.sub.Pending() {
			return true
		}
	}
	return false
}

// Stats are the figures of /metrics.
type Stats struct {
	Terminals, Exited int
	Connections       map[string]int // by door
	ServerSeq         uint64
	Clients           int
}

// Stats returns the host's present figures.
func (h *Host) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	st := Stats{Connections: map[string]int{}, ServerSeq: h.store.Seq(), Clients: len(h.clients)}
	for _, t := range h.order {
		if t.exitedNow() {
			st.Exited++
		} else {
			st.Terminals++
		}
	}
	for c := range h.conns {
		st.Connections[c.door]++
	}
	return st
}

// refused turns a policy's refusal into the protocol's error.
func refused(err error) *ahp.Error {
	var d *authz.Denied
	if errors.As(err, &d) {
		return ahp.NewError(ahp.CodeNotPermitted, d.Error(), "rule", d.Rule)
	}
	return ahp.NewError(ahp.CodeNotPermitted, err.Error())
}
