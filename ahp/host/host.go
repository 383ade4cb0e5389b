package host

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"termhost/ahp/history"
	"termhost/ahp/journal"
	"termhost/ahp/recordings"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/authz/admit"
	"termhost/ptypool"
)

// Config is what a Host is made from. Fields that are also keys of the configuration file mean what
// config.example.toml says.
type Config struct {
	// StateDir holds the serverSeq's high-water mark, the scripts of shell integration, and the
	// journals of the terminals. "": there is nothing of that.
	StateDir string
	Version  string // of termhost, for clients and XTVERSION

	Shell            string // "": that of the host's user
	Login            bool
	Term             string // "": xterm-256color
	Env              map[string]string
	ShellIntegration bool

	MaxTerminals int // 0: 500
	// MaxConnections and MaxWebSockets are how many SSH connections and other peers the doors let
	// in, of which no account gets all; 0: 1000.
	MaxConnections, MaxWebSockets int

	MaxExited       int // 0: none stays
	ExitedTTL       time.Duration
	ScrollbackBytes int // 0: 1 MiB
	LogBytes        int // 0: 4 MiB
	// Persist keeps what terminals print in StateDir, so that the next host has it. Without it only
	// descriptions of the terminals are kept there.
	Persist     bool
	InputShared bool
	// Record is which new terminals are recorded: RecordAgents, RecordAll, or else none.
	Record           string
	RecordBytes      int64         // of a file; 0: 64 MiB
	RecordTotalBytes int64         // of all of them; 0: no bound
	KeyboardIdle     time.Duration // 0: none goes back because its holder types nothing
	// AttentionAfter is how long a command that fails takes for people to be told, beyond that.
	AttentionAfter time.Duration
	// QuietAfter is for how long a program prints nothing that is marked quiet; 0: none is.
	QuietAfter  time.Duration
	GuardAgents bool // what agents type into a new terminal waits for approval
	// AgentsTypeSecrets lets agents type where a program asks for a secret.
	AgentsTypeSecrets bool

	// ClientGrace is the longest that a client-executed terminal waits for an owner that is away;
	// 0: none waits. ClientOutputRate is how much the owner of such terminals may send to be shown,
	// in bytes a second on average; 0: no limit.
	ClientGrace      time.Duration
	ClientOutputRate int

	Keeper Keeper // of terminals' programs; nil: this process is their parent
	// PageURL is where a browser on this machine finds the web page; "": nowhere.
	PageURL string

	// NoLookout: nobody finds out whether programs wait for somebody to type. It is for tests in
	// which that must not happen at just any moment.
	NoLookout bool

	Authority *authz.Authority // keeps the tokens; needed by the token verbs only

	Log   *slog.Logger     // nil: discarded
	Audit *slog.Logger     // gets [authz.AuditCreate] and others; nil: discarded
	Now   func() time.Time // nil: time.Now
}

// Host keeps the terminals. All methods may be called concurrently.
type Host struct {
	live     atomic.Pointer[settings]
	log      *slog.Logger
	auditLog *slog.Logger
	now      func() time.Time
	store    *store.Store
	first    uint64 // the serverSeq that it has begun after
	pool     *ptypool.Pool
	relays   relays

	approvalTime time.Duration // see approvalTime; tests do not wait for so long
	trustTime    time.Duration // see trustTime; likewise

	account   ptypool.Account // the user that the terminals run as
	highWater journal.HighWater
	asks      atomic.Int64 // how many have been named: see nextAsk
	notes     journal.Notes
	folders   journal.Folders // of the terminals
	boot      string          // see [keeper.BootID]

	// mu guards the registries below, and fields of other types that name it. No Term's lock is
	// held with it: see "Locks" in the package's documentation.
	mu        sync.Mutex
	terminals map[string]*Terminal // by URI
	names     map[string]*Terminal // by NAME
	former    map[string]*Terminal // by NAMEs that they had before; those of names come first
	order     []*Terminal          // by age
	clients   map[string]*client   // by clientId
	conns     map[*Conn]struct{}
	attaches  map[*Attach]struct{}
	streams   map[*Streams]struct{}
	lastUsed  map[string]lastUse // by the principal's ID
	paces     map[string]*Pace   // by account
	spent     spent              // numbers of NAMEs that are not given again
	guarded   guardedNames       // of terminals that are gone
	closed    bool
	leaving   bool // closed, and the terminals go on

	recordings recordings.Store
	indexes    *history.Cache // of logs and recordings
	spares     journal.Spares

	pieces sync.Pool // of the Streams, *[]byte

	restored []*Terminal    // go on from an earlier host, and have not been read yet
	waking   sync.WaitGroup // reads them

	turns   *turns
	lookers lookers

	watchers watchers
	list     listPublisher
	feed     feed
	janitor  janitor
	memory   memory
	creators creators

	// What accounts have.
	logins, peers       admit.Places // connections by SSH, and others
	commands, transfers admit.Places // programs on pipes
}

// New returns a Host with the terminals that an earlier one has left in the state folder. It must
// be shut down.
func New(cfg Config) (*Host, error) {
	h := &Host{
		log: cfg.Log, auditLog: cfg.Audit, now: cfg.Now,
		terminals: map[string]*Terminal{}, names: map[string]*Terminal{},
		former:  map[string]*Terminal{},
		clients: map[string]*client{}, conns: map[*Conn]struct{}{},
		attaches: map[*Attach]struct{}{}, streams: map[*Streams]struct{}{},
		lastUsed: map[string]lastUse{}, paces: map[string]*Pace{},
		creators: creators{byMarker: map[string]creator{}}, approvalTime: approvalTime,
		turns:     newTurns(),
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
	if err != nil { // a full disk keeps nobody out
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
	h.list.publish = h.store.PublishTerminals
	if err := h.recordings.Open(cfg.StateDir); err != nil {
		h.log.Warn("some recordings cannot be read, and are left aside", "err", err)
	}
	used := h.readNotes()
	h.restore()
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
	h.openRestored()
	h.janitor.begin(h)
	h.memory.begin(h)
	return h, nil
}

// settings are a configuration that is in force, with what is made from it.
type settings struct {
	Config
	integration ptypool.Integration // of shells; Dir "": there is none
}

// cfg returns the configuration that is in force.
func (h *Host) cfg() *settings { return h.live.Load() }

// Configure puts another configuration in force, in which StateDir, Version, Authority, Log and Now
// must be the same; Keeper does not count. What the programs of running terminals were started
// with stays as it is.
func (h *Host) Configure(cfg Config) {
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
	err := h.pool.Shutdown(ctx)
	h.waking.Wait()
	h.janitor.end()
	h.memory.end()
	h.spares.Remove()
	h.list.stop()
	h.drain(ctx)
	for _, c := range h.connections() {
		c.End(ErrClosed)
	}
	h.lookers.running.Wait()
	h.notes.Close()
	return errors.Join(err, h.highWater.End(h.store.Seq()))
}

// all returns the terminals, oldest first.
func (h *Host) all() []*Terminal {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.order)
}

func (h *Host) connections() []*Conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.conns))
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
