package host

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"time"

	"termhost/ahp/history"
	"termhost/ahp/store"
	"termhost/authz/admit"
	"termhost/ptypool"
)

// New returns a Host with the terminals that an earlier one has left in the state folder. It must
// be shut down. It fails with *keeper.StoppedError.
func New(cfg Config) (*Host, error) {
	h := &Host{
		log: cfg.Log, auditLog: cfg.Audit, now: cfg.Now,
		terminals: map[string]*Terminal{}, names: map[string]*Terminal{},
		former:  map[string]*Terminal{},
		clients: map[string]*client{}, conns: map[*Conn]struct{}{},
		attaches: map[*Attach]struct{}{}, streams: map[*Streams]struct{}{},
		lastUsed: map[string]lastUse{}, paces: map[string]*Pace{},
		creators: creators{byMarker: map[string]creator{}}, approvalTime: approvalTime,
		taken: takenNumbers{}, turns: admit.NewTurns(runtime.GOMAXPROCS(0) / turnsShare),
		trustTime: trustTime, guarded: guardedNames{},
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.auditLog == nil {
		h.auditLog = slog.New(slog.DiscardHandler)
	}
	if h.now == nil {
		h.now = time.Now
	}
	h.highWater.Dir = cfg.StateDir
	first, err := h.highWater.Begin(h.now())
	if err != nil { // a host starts on a full disk, too
		h.log.Warn("serverSeq follows the clock alone: do not set it back", "err", err)
	}
	h.first = first
	h.lookUpAccount()
	h.live.Store(h.settle(cfg))
	h.store = store.New(store.Options{
		FirstSeq: first, LogBytes: cfg.LogBytes, ContentBytes: cfg.ScrollbackBytes,
	})
	pool := ptypool.Config{
		MaxTerminals: cfg.MaxTerminals, Realm: realm(cfg.StateDir), Log: cfg.Log,
	}
	if cfg.Keeper != nil {
		pool.Starter = cfg.Keeper
	}
	h.pool = ptypool.New(pool)
	kept, err := h.takeKept()
	if err != nil {
		return nil, err
	}
	h.list.publish = h.store.PublishTerminals
	if err := h.recordings.Open(cfg.StateDir); err != nil {
		h.log.Warn("some recordings cannot be read, and are left aside", "err", err)
	}
	h.memory.begin(h.boundMemory) // before terminals print
	used := h.readNotes()
	h.restore(kept)
	keyframes := &spills{folders: h.folders, log: h.log, size: spillFileSize}
	h.indexes = history.NewCache(func(p []byte) (io.ReaderAt, int64, error) {
		if !h.maySpill() {
			return nil, 0, errNoSpill
		}
		return keyframes.save(p)
	})
	h.restoreUses(used)
	h.noteAllLocked()
	h.restoreRecordings()
	h.openDrops()
	h.openRestored()
	h.janitor.begin(h.tidy)
	return h, nil
}

// Configure puts another configuration in force, in which StateDir, Version, Authority, Log and Now
// must be the same; Keeper does not count, and stays what it was. What the programs of running
// terminals were started with stays as it is.
func (h *Host) Configure(cfg Config) {
	cfg.Keeper = h.cfg().Keeper
	h.live.Store(h.settle(cfg))
	h.store.SetBounds(cfg.LogBytes, cfg.ScrollbackBytes)
	h.pool.SetMaxTerminals(cfg.MaxTerminals)
	h.janitor.exited() // fewer may stay now
}

// Shutdown refuses new terminals and connections and hangs up every terminal. It waits until all
// have ended, and until the readers have the last output. When ctx ends, what is left is killed and
// no reader is waited for. Then it ends the connections. Called again, it does nothing.
func (h *Host) Shutdown(ctx context.Context) error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	for _, t := range h.order {
		t.ending("because " + ErrClosed.Error())
		t.exec.forget()
	}
	h.mu.Unlock()
	err := errors.Join(h.pool.Shutdown(ctx), h.stop(ctx, ErrClosed))
	for _, t := range h.all() {
		t.log.endTrail()
	}
	h.notes.Close()
	return err
}

// ErrLeaving ends connections when the host ends and its terminals go on.
var ErrLeaving = errors.New("the host restarts; its terminals go on")

// Leave is Shutdown for a host whose terminals go on: the keeper has them until the next host
// comes. Those that it does not have are hung up. It returns how many go on. The process must end
// then.
func (h *Host) Leave(ctx context.Context) (left int, err error) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return 0, nil
	}
	h.closed, h.leaving = true, true
	var ending []*Terminal
	for _, t := range h.order {
		switch {
		case t.exitedNow():
		case t.Client(): // its program runs elsewhere
		case t.term.Outlives():
			left++
		default:
			t.ending("because the host has ended, and no keeper has it")
			t.exec.forget()
			ending = append(ending, t)
		}
	}
	h.mu.Unlock()
	for _, t := range ending {
		t.exec.end(hangupGrace, "")
	}
	for _, t := range ending {
		select {
		case <-t.life.done:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	err = errors.Join(err, h.stop(ctx, ErrLeaving))
	for _, t := range h.all() {
		t.log.journal.Flush() // the keeper would log the rest, with the time at which it does
	}
	return left, err
}

// stop waits until the readers have the last output or ctx ends, and then ends what is not a
// terminal's: the connections, for the given reason, and the host's own work.
func (h *Host) stop(ctx context.Context, why error) error {
	h.waking.Wait()
	h.janitor.end()
	h.memory.end()
	h.spares.Remove()
	h.list.stop()
	h.drain(ctx)
	for _, c := range h.connections() {
		c.End(why)
	}
	h.lookers.Wait()
	return h.highWater.End(h.store.Seq())
}

// drainPoll is how often drain looks.
const drainPoll = 10 * time.Millisecond

// drain waits until connections and attaches have written all there is, or ctx ends.
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

func (h *Host) pendingReaders() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if c.sub.Pending() {
			return true
		}
	}
	for a := range h.attaches {
		if a.sub.Pending() || a.opts.blind && a.t.exitedNow() { // a wait is about to end
			return true
		}
	}
	for s := range h.streams {
		if s.pending() {
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
	Clients           int // clientIds that belong to a principal
}

// Meter returns what counts the output of all terminals.
func (h *Host) Meter() *ptypool.Meter { return h.pool.Meter() }

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
		st.Connections[c.door.Name]++
	}
	return st
}

// Names returns the NAMEs of all terminals, in no order.
func (h *Host) Names() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.names))
}

// FollowNames has changed called whenever a terminal has begun, has another NAME or is gone, with
// the host's lock held: it must return at once and call nothing of the host. nil ends that.
func (h *Host) FollowNames(changed func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.onNames = changed
}

// namesChangedLocked says that names has changed. Host.mu is held.
func (h *Host) namesChangedLocked() {
	if h.onNames != nil {
		h.onNames()
	}
}
