package host

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"termhost/ahp/await"
	"termhost/ahp/drops"
	"termhost/ahp/history"
	"termhost/ahp/journal"
	"termhost/ahp/recordings"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/authz/admit"
	"termhost/ptypool"
	"termhost/ptypool/keeper"
	"termhost/ptypool/shellinit"
)

// Config configures a Host. Fields that are also keys of the configuration file have the meaning
// that config.example.toml gives.
type Config struct {
	// StateDir holds the serverSeq's high-water mark, the scripts of shell integration, and the
	// journals of the terminals. "": there is nothing of that.
	StateDir string
	Version  string // of termhost, for clients and XTVERSION
	Socket   string // the path of the host's own unix socket; "": there is none
	Hostname string // of the machine, for people; "": nobody is told

	// Root is the folder in which the machine's /etc and /run are, by which it gives variables to
	// every login; "": /.
	Root string

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

// The values of Config.Record: which new terminals are recorded.
const (
	RecordOff    = "off"
	RecordAgents = "agents" // those that agents make: see [Conn.agent]
	RecordAll    = "all"
)

// Keeper keeps the programs of terminals from one host to the next. A [keeper.Link] is one.
type Keeper interface {
	ptypool.Starter
	// Seals reports whether it gives shells their nonces.
	Seals() bool
	// Check fails with *keeper.StoppedError if the keeper does not answer.
	Check() error
	// List returns what is kept.
	List() ([]keeper.Info, error)
	// Take hands over one of them, which nobody else reads from then on.
	Take(id string) (*keeper.Child, error)
}

// Host keeps the terminals. All methods may be called concurrently.
type Host struct {
	live     atomic.Pointer[settings]
	log      *slog.Logger
	auditLog *slog.Logger
	now      func() time.Time
	store    *store.Store
	first    uint64 // the serverSeq that it has begun after

	notesDamaged bool // see NotesDamaged; never changes once the host is known
	pool         *ptypool.Pool
	groups       groups
	relays       relays

	approvalTime time.Duration // see approvalTime; tests do not wait for so long
	trustTime    time.Duration // see trustTime; likewise

	account    ptypool.Account // the user that the terminals run as
	highWater  journal.HighWater
	lastHeldID atomic.Int64 // see nextHeldID
	notes      journal.Notes
	folders    journal.Folders // of the terminals
	boot       string          // see [keeper.BootID]

	// mu guards the registries below, and fields of other types that name it. No Term's lock is
	// held with it: see "Locks" in the package's documentation.
	mu        sync.Mutex
	terminals map[string]*Terminal // by URI
	names     map[string]*Terminal // by NAME
	onNames   func()               // see FollowNames; nil: nobody follows them
	former    map[string]*Terminal // by NAMEs that they had before; those of names come first
	order     []*Terminal          // by age
	clients   map[string]*client   // by clientId
	conns     map[*Conn]struct{}
	attaches  map[*Attach]struct{}
	streams   map[*Streams]struct{}
	lastUsed  map[string]lastUse // by the principal's ID
	paces     map[string]*Pace   // by account
	taken     takenNumbers       // of NAMEs
	spent     spent              // numbers of NAMEs that are not given again
	guarded   guardedNames       // of terminals that are gone
	closed    bool
	leaving   bool // closed, and the terminals go on

	recordings recordings.Store
	drops      drops.Store
	indexes    *history.Cache // of logs and recordings
	spares     journal.Spares

	pieces sync.Pool // of the Streams, *[]byte

	restored []*Terminal    // go on from an earlier host, and have not been read yet
	waking   sync.WaitGroup // reads them

	typists  typists
	turns    *admit.Turns
	lookers  await.Lookers
	patterns patterns

	watchers watchers
	list     listPublisher
	feed     feed
	janitor  janitor
	memory   memory
	creators creators

	keyAgents atomic.Pointer[KeyAgents] // nil: there are none

	// What accounts have.
	logins, peers       admit.Places // connections by SSH, and others
	commands, transfers admit.Places // programs on pipes
}

// settings are a configuration that is in force, with what is made from it.
type settings struct {
	Config
	integration shellinit.Scripts // of shells; Dir "": there is none
}

// lastUse says which terminal a principal used last.
type lastUse struct {
	terminal *Terminal
	at       time.Time // when the principal attached to it, or was seen last since
}

// cfg returns the configuration that is in force.
func (h *Host) cfg() *settings { return h.live.Load() }

// logPlace returns where logs are written. A log in memory is of use only with a keeper, which
// shares that memory and outlives the host.
func (h *Host) logPlace() journal.Place {
	switch cfg := h.cfg(); {
	case cfg.Persist:
		return journal.Place{Size: int64(h.logBytes())}
	case cfg.Keeper != nil:
		return journal.Place{Size: int64(h.logBytes()), Memory: true}
	}
	return journal.Place{}
}

// defaultLogBytes is the size of a log unless the configuration says otherwise.
const defaultLogBytes = 4 << 20

func (h *Host) logBytes() int { return cmp.Or(h.cfg().LogBytes, defaultLogBytes) }

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
