package host

import (
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/ptypool"
	"termhost/ptypool/vt"
)

// Terminal is one terminal of the host. Its methods may be called concurrently.
type Terminal struct {
	// Never changed once others know the terminal.
	host      *Host
	uri       string
	id        string // the last segment of the URI
	ch        *store.Channel
	created   time.Time
	creator   authz.Principal
	proof     json.RawMessage // what the creator came in with: see Host.recordOf; nil: unknown
	createdBy string          // the creator's name, or that of its agent
	// transient: if it exits while its creator watches, it is forgotten when the last of the
	// creator's attaches ends.
	transient bool
	forced    bool // it runs a key's forced command
	// integrated: its shell will tell of its commands, once it has started.
	integrated bool
	replaced   atomic.Bool // another shell is in its place, which tells nothing
	exec       executor
	term       *ptypool.Term
	recorded   bool      // from the beginning, because its creator has asked for it
	damage     string    // what an earlier host has left of its log is damaged so; "": it is not
	starting   *Starting // nil: its program needs no yes of a person to start

	started chan struct{} // closed when the output may be read
	done    chan struct{} // closed when it has exited
	gone    chan struct{} // closed when it has been forgotten

	// Guarded by the Term's lock.
	holder     holder
	prior      *loan       // from whom the holder took the claim, to hand it back; nil: from nobody
	lent       *loan       // to whom it goes back by itself; nil: it is the holder's own
	typist     typist      // who typed the next command
	typed      time.Time   // when the holder of a claim on loan typed last
	inputs     inputMarks  // what was taken of clients last
	idle       *time.Timer // returns a claim on loan; nil: none, or it is never returned
	asks       []ask       // who wants the keyboard, the first one first; see setAsks
	asksEnd    *time.Timer // drops those that are too old; nil: there are none
	waits      waits       // what a person has to do
	guard      guard       // holds back what agents type
	lookout    lookout     // finds out what the program waits for
	waitlist   *waitlist   // of those who wait for output; nil: nobody does
	ahead      ahead       // what agents typed before the program reads
	windows    []*Attach   // those that may type and have a window, the last active one at the end
	audience   []*Attach   // all that have a window
	sights     sights
	quiet      quiet     // that the program prints nothing
	bells      uint64    // how often the program rang
	rang       time.Time // when the feed was told of the bell last
	notified   time.Time // when the program's last notification was passed on
	pulledBack uint64    // lines of scrollback that resizes brought back to the screen
	last       claimed
	renamed    bool // a person has given it a title, which stays
	exited     bool
	watching   int      // attaches and streams of the creator
	streams    *Streams // of a program on pipes, while its creator's connection has them
	fleeting   bool     // transient, and has exited while its creator watched
	commands   int      // how many were executed
	running    string
	runningAt  time.Time
	runningBy  string // who typed it
	lastTitle  string // the last one that a program set
	lastCwd    string
	content    checkpoints
	tap        func(p []byte)  // see CreateOptions; nil: none
	tag        string          // see CreateOptions; "": none
	outline    journal.Outline // what listings need, for the journal
	outputAt   time.Time       // when the output that is being handled came; zero: none is
	replay     *replay         // its log is being read; nil: it is not
	end        *journal.Ending // nil: it runs
	cut        bool            // what it printed first is gone from the log that it was read from
	spills     *spills         // nil: nothing was spilled yet
	usage      usage           // of memory, by what it has printed

	// What the piece of output that is being handled has brought so far: see events.
	small            []byte
	newTitle, newCwd string

	tape    *tape                  // nil: it is not recorded
	journal journal.Journal        // has a lock of its own
	marker  string                 // of its processes; "": it has none here
	screen  vt.Options             // of its Term
	past    atomic.Pointer[past]   // its log, if that is still to be read: see load
	wanted  atomic.Bool            // there are asks; read without the Term's lock, too
	naming  atomic.Pointer[naming] // changed with Host.mu held

	exit     atomic.Pointer[ptypool.ExitStatus] // nil: running
	exitedAt time.Time                          // set before exit is
	away     atomic.Pointer[time.Time]          // see AwaySince; changed with Host.mu held
	ended    atomic.Pointer[string]             // see EndedBy
}

// holder is a claim and the principal that it is bound to.
type holder struct {
	claim     ahp.Claim
	principal string // its ID
	name      string // for people: see names.go
	agent     string // what the agent of a session's claim calls itself; "": it has not said
}

// named returns a holder as people tell holders apart: whatever the session or the turn is that an
// agent claims for, it is the same one.
func (h holder) named() holder { return holder{principal: h.principal, name: h.name} }

// URI returns the terminal's channel.
func (t *Terminal) URI() string { return t.uri }

// Creator returns who made the terminal.
func (t *Terminal) Creator() authz.Principal { return t.creator }

// Client reports whether the terminal is client-executed. Such a terminal takes no input.
func (t *Terminal) Client() bool { return t.exec.kind() == authz.Client }

// Piped reports whether the program runs on pipes of this host. Such a terminal takes no keys.
func (t *Terminal) Piped() bool {
	switch e := t.exec.(type) {
	case *pipesExecutor:
		return true
	case *pastExecutor:
		return e.piped
	}
	return false
}

// Done is closed when the terminal has exited and its last output is in the log.
func (t *Terminal) Done() <-chan struct{} { return t.done }

// Gone is closed when the host has forgotten the terminal.
func (t *Terminal) Gone() <-chan struct{} { return t.gone }

// Exit returns the exit status once Done is closed.
func (t *Terminal) Exit() (ptypool.ExitStatus, bool) {
	if st := t.exit.Load(); st != nil {
		return *st, true
	}
	return ptypool.ExitStatus{}, false
}

// ExitedAt returns when the terminal exited, once Done is closed.
func (t *Terminal) ExitedAt() time.Time { return t.exitedAt }

// EndedBy returns, for people, who or what ended a terminal whose program did not exit by itself:
// "by ann", "because the host is shutting down". Otherwise it is "".
func (t *Terminal) EndedBy() string {
	if why := t.ended.Load(); why != nil {
		return *why
	}
	return ""
}

// ending notes why the terminal is about to be ended. The first reason counts.
func (t *Terminal) ending(why string) {
	if !t.exitedNow() {
		t.ended.CompareAndSwap(nil, &why)
	}
}

func (t *Terminal) exitedNow() bool { return t.exit.Load() != nil }

// target returns the facts about t that the policy decides by, if s asks. The Term's lock is held.
func (t *Terminal) target(s step) authz.Target {
	person := authz.Person(s.principal.ID)
	return authz.Target{
		Name:         t.id,
		Created:      t.created,
		Called:       t.Name(),
		Executor:     t.exec.kind(),
		Holds:        t.holder.principal == s.principal.ID,
		Yours:        authz.Person(t.holder.principal) == person,
		HoldsByToken: strings.HasPrefix(t.holder.principal, person+"/"),
		Owner:        t.exec.owner(s),
		Piped:        t.Piped(),
		Unstarted:    t.unstarted(),
		InputShared:  t.host.cfg().InputShared,
		Forced:       t.forced && t.creator.ID == s.principal.ID,
	}
}

// check asks the policy. A refusal for want of the claim says who has it: see [HeldError]. The
// Term's lock is held.
func (t *Terminal) check(s step, v authz.Verb) error {
	target := t.target(s)
	err := authz.Check(s.principal, v, target)
	var denied *authz.Denied
	if !errors.As(err, &denied) || target.Holds {
		return err
	}
	target.Holds = true
	if authz.Check(s.principal, v, target) != nil {
		return err // not even a holder may
	}
	return &HeldError{Terminal: t.Name(), Holder: t.holder.text(),
		Agent: t.holder.claim.Kind == ahp.ClaimSession, Denied: denied}
}

// denied returns a refusal as one that is about t.
func (t *Terminal) denied(d *authz.Denied) error {
	about := *d
	about.Terminal = t.Name()
	return &about
}

// String names the terminal in logs.
func (t *Terminal) String() string { return "terminal " + t.Name() }
