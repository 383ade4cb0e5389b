package host

import (
	"encoding/json"
	"sync/atomic"
	"time"

	"termhost/ahp"
	"termhost/ahp/recordings"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/ptypool"
	"termhost/ptypool/vt"
)

// Terminal is one terminal of the host. Its methods may be called concurrently.
type Terminal struct {
	// Never changed once others know the terminal.
	host   *Host
	uri    string
	id     string // the last segment of the URI
	ch     *store.Channel
	term   *ptypool.Term
	exec   executor
	origin origin

	// Guarded by the Term's lock.
	life      life
	keyboard  keyboardClaim
	approvals approvals
	viewers   viewers
	attention attention
	waiting   waiting
	commands  commands
	status    status
	progress  progress
	output    output
	log       terminalLog
	kept      keptLog
	recorder  recordings.Recorder
	inputs    inputMarks     // what was taken of clients last
	renamed   bool           // a person has given it a title, which stays
	streams   *Streams       // of a program on pipes, while its creator's connection has them
	tap       func(p []byte) // see CreateOptions; nil: none
	tag       string         // see CreateOptions; "": none

	naming atomic.Pointer[naming]     // changed with Host.mu held
	labels atomic.Pointer[ahp.Labels] // nil: none; changed with the Term's lock held
	away   atomic.Pointer[time.Time]  // see AwaySince; changed with Host.mu held

	typedAt atomic.Int64 // see Attach.TypedAt; Unix time in ns
}

// origin is what a terminal was created with. It never changes once others know the terminal.
type origin struct {
	created   time.Time
	creator   authz.Principal
	proof     json.RawMessage // what the creator came in with: see Host.recordOf; nil: unknown
	createdBy string          // the creator's name, or that of its agent
	forced    bool            // it runs a key's forced command
	recorded  bool            // from the beginning, because its creator has asked for it
	program   string          // see [Info.Program]
	marker    string          // of its processes; "": it has none here
	screen    vt.Options      // of its Term
}

// life is whether a terminal runs, and how it ended. What is not said to be of another lock is
// guarded by the Term's.
type life struct {
	started chan struct{} // closed when the output may be read
	listed  chan struct{} // closed when others find the terminal, or when it could not be started
	done    chan struct{} // closed when it has exited
	gone    chan struct{} // closed when it has been forgotten

	// transient: if it exits while its creator watches, it is forgotten when the last of the
	// creator's attaches ends. It never changes.
	transient bool
	watching  int  // attaches and streams of the creator
	fleeting  bool // transient, and has exited while its creator watched
	exited    bool

	exit     atomic.Pointer[ptypool.ExitStatus] // nil: running
	exitedAt time.Time                          // set before exit is
	ended    atomic.Pointer[string]             // see EndedBy
}

// naming has a terminal's NAMEs. It never changes: a terminal that is renamed gets a new naming.
type naming struct {
	name   string
	former []string // its earlier NAMEs, the latest first
}

// begin makes the channels, and has the components know their terminal.
func (t *Terminal) begin() *Terminal {
	t.life.started, t.life.listed = make(chan struct{}), make(chan struct{})
	t.life.done, t.life.gone = make(chan struct{}), make(chan struct{})
	t.keyboard.t, t.approvals.t, t.viewers.t, t.attention.t = t, t, t, t
	t.waiting.t, t.commands.t, t.status.t, t.output.t = t, t, t, t
	t.log.t, t.kept.t = t, t
	t.recorder = recordings.Recorder{Env: recorded{t}, Store: &t.host.recordings, Log: t.host.log,
		Clock: t.host.now}
	t.log.journal.Failed = t.warn
	return t
}

// URI returns the terminal's channel.
func (t *Terminal) URI() string { return t.uri }

// Name returns the terminal's NAME.
func (t *Terminal) Name() string { return t.naming.Load().name }

// ID returns the last segment of the terminal's URI, which is its NAME until it is renamed.
func (t *Terminal) ID() string { return t.id }

// otherName returns the NAME if the URI does not end with it; otherwise "".
func (t *Terminal) otherName() string {
	if name := t.Name(); name != t.id {
		return name
	}
	return ""
}

// Creator returns who made the terminal.
func (t *Terminal) Creator() authz.Principal { return t.origin.creator }

// Client reports whether the terminal is client-executed. Such a terminal takes no input.
func (t *Terminal) Client() bool { return t.exec.kind() == authz.Client }

// Piped reports whether the program runs on pipes of this host. Such a terminal takes no keys.
func (t *Terminal) Piped() bool { return t.exec.piped() }

// Done is closed when the terminal has exited and its last output is in the log.
func (t *Terminal) Done() <-chan struct{} { return t.life.done }

// Gone is closed when the host has forgotten the terminal.
func (t *Terminal) Gone() <-chan struct{} { return t.life.gone }

// Exit returns the exit status once Done is closed.
func (t *Terminal) Exit() (ptypool.ExitStatus, bool) {
	if st := t.life.exit.Load(); st != nil {
		return *st, true
	}
	return ptypool.ExitStatus{}, false
}

// ExitedAt returns when the terminal exited, once Done is closed.
func (t *Terminal) ExitedAt() time.Time { return t.life.exitedAt }

// EndedBy returns, for people, the cause of the end of a terminal whose program did not exit by
// itself: "by ann", "because the host is shutting down". Otherwise it is "".
func (t *Terminal) EndedBy() string {
	if why := t.life.ended.Load(); why != nil {
		return *why
	}
	return ""
}

// ending notes why the terminal is about to be ended. The first reason counts.
func (t *Terminal) ending(why string) {
	if !t.exitedNow() {
		t.life.ended.CompareAndSwap(nil, &why)
	}
}

func (t *Terminal) exitedNow() bool { return t.life.exit.Load() != nil }

// sees reports whether t exists for p.
func (t *Terminal) sees(p authz.Principal) bool { return p.Sees(t.id, t.origin.created) }

// seen returns t for the policy, without the facts that only some verbs need.
func (t *Terminal) seen() authz.Target {
	return authz.Target{Name: t.id, Created: t.origin.created, Called: t.Name()}
}

// String names the terminal in logs.
func (t *Terminal) String() string { return "terminal " + t.Name() }
