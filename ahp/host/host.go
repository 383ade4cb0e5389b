// Package host is where the store, the ptys and the policy meet. Every verb a
// door can ask for is a method here; doors authenticate and translate, and
// decide nothing.
//
// A [Host] owns the terminals. A [Conn] is one transport of one principal and
// carries the verbs of AHP; an [Attach] shows one terminal to an SSH session.
//
// A change of a terminal is one step under that terminal's lock (its Term's):
// authz.Check, the side effect on the pty, the action appended to the store. So
// of two racing claims one wins, and nobody types after losing the claim.
//
// Lock order: Host.mu, then a Term's lock, then the leaves: the store's, the
// brake's, the list's (which takes the store's). Nothing is taken in the other
// direction, so what is called under a Term's lock never asks the Host.
package host

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/ptypool"
)

// Config is what a Host is made from. The fields that have a key in the
// configuration mean what config.example.toml says.
type Config struct {
	// StateDir holds the serverSeq's high-water mark and the scripts of shell
	// integration. "": neither is kept, so there is no shell integration.
	StateDir string
	Version  string // of termhost, for clients and XTVERSION

	Shell            string // "": that of the host's user
	Login            bool
	Term             string // "": xterm-256color
	Env              map[string]string
	ShellIntegration bool

	MaxTerminals    int // 0: 500
	MaxExited       int // 0: none stays
	ExitedTTL       time.Duration
	ScrollbackBytes int // 0: 1 MiB
	LogBytes        int // 0: 4 MiB
	InputShared     bool

	// ClientGrace is the most that a client-executed terminal waits for an owner
	// that is away; 0: none waits. ClientOutputRate is how much output the owner
	// of such terminals may send, in bytes a second on average; 0: no limit.
	ClientGrace      time.Duration
	ClientOutputRate int

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

	account     ptypool.Account     // who the terminals run as
	integration ptypool.Integration // Dir "": there is none
	mark        seqMark

	// mu guards the registries below. It is taken before any Term's lock.
	mu        sync.Mutex
	terminals map[string]*Terminal // by URI
	names     map[string]*Terminal // by NAME
	order     []*Terminal          // by age
	clients   map[string]*client   // by clientId
	conns     map[*Conn]struct{}
	attaches  map[*Attach]struct{}
	lastUsed  map[string]*Terminal // by principal ID
	spent     spent
	closed    bool

	list    listPublisher
	keep    keeper
	origins origins
}

// New returns a Host without terminals. It must be shut down.
func New(cfg Config) (*Host, error) {
	h := &Host{cfg: cfg, log: cfg.Log, now: cfg.Now,
		terminals: map[string]*Terminal{}, names: map[string]*Terminal{}, clients: map[string]*client{},
		conns: map[*Conn]struct{}{}, attaches: map[*Attach]struct{}{}, lastUsed: map[string]*Terminal{}, origins: origins{byMark: map[string]origin{}}}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.now == nil {
		h.now = time.Now
	}
	h.mark.dir = cfg.StateDir
	first, err := h.mark.begin(h.now())
	if err != nil {
		return nil, err
	}
	h.settleIn()
	h.store = store.New(store.Options{FirstSeq: first, LogBytes: cfg.LogBytes, ContentBytes: cfg.ScrollbackBytes})
	h.pool = ptypool.New(ptypool.Config{MaxTerminals: cfg.MaxTerminals, Realm: realm(cfg.StateDir), Log: cfg.Log})
	h.list.publish = h.store.PublishTerminals
	h.keep.begin(h)
	return h, nil
}

// Shutdown refuses new terminals and connections, hangs up every terminal,
// waits until all are gone or ctx ends (then kills what is left), gives readers
// the last output as long as ctx lasts, and ends the connections. Called again,
// it does nothing.
func (h *Host) Shutdown(ctx context.Context) error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	for _, t := range h.order {
		t.ending("because " + ErrClosed.Error())
		t.brake.release()
		t.presentLocked()
	}
	h.mu.Unlock()
	err := h.pool.Shutdown(ctx)
	h.keep.end()
	h.list.stop()
	h.drain(ctx)
	for _, c := range h.connections() {
		c.End(ErrClosed)
	}
	return errors.Join(err, h.mark.end(h.store.Seq()))
}

func (h *Host) connections() []*Conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.conns))
}

// drain waits until connections and attaches have written what there is, or ctx
// ends.
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
	for a := range h.attaches {
		if a.sub.Pending() {
			return true
		}
	}
	return false
}

// Stats are the figures of /metrics.
type Stats struct {
	Terminals, Exited int            // running; exited and still listed
	Connections       map[string]int // by door
	ServerSeq         uint64
	Clients           int // clientIds that belong to somebody
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
