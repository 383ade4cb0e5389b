package host

import (
	"sync/atomic"
	"time"

	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/ptypool"
)

// Terminal is one terminal of the host.
type Terminal struct {
	host    *Host
	uri     string
	name    string
	ch      *store.Channel
	created time.Time
	creator authz.Principal
	mark    string // of its processes; "": it has none of ours
	// transient: it goes once it has exited while its creator watches.
	transient bool
	// forced: made by a key's forced command.
	forced bool
	owned  *ownership // nil: the host runs the pty

	term    *ptypool.Term
	started chan struct{} // closed when output may be read
	done    chan struct{} // closed when it has exited
	gone    chan struct{} // closed when it has been disposed

	brake brake
	tap   func(p []byte) // see CreateOptions; nil: none

	// Guarded by the Term's lock.
	holder     holder    // who holds the claim
	prior      *holder   // whose claim the holder took, to hand back
	windows    []*Attach // that may type, the one that was active last at the end
	bells      uint64    // how often the program rang
	pulledBack uint64    // lines of scrollback that resizes took back to the screen
	last       claimed
	renamed    bool // a person's title sticks
	exited     bool
	watching   int  // attaches of the creator
	fleeting   bool // it goes when its creator's last attach does
	commands   int  // how many were executed
	running    string
	runningAt  time.Time
	lastTitle  string // that a program set
	lastCwd    string
	content    checkpoints

	// What one piece of output has brought so far: see events.
	small            []byte
	newTitle, newCwd string

	exit  atomic.Pointer[ptypool.ExitStatus] // nil: running
	ended atomic.Pointer[string]             // see EndedBy
	// exitedAt is set before exit is.
	exitedAt time.Time
}

// holder is a claim and the principal it is bound to.
type holder struct {
	claim     ahp.Claim
	principal string // its ID
	name      string // its Name, for people; of an agent that has told its own, that and the Name
	agent     string // what an agent says that it is called; "": nothing
}

// Name returns the terminal's NAME.
func (t *Terminal) Name() string { return t.name }

// URI returns the terminal's channel.
func (t *Terminal) URI() string { return t.uri }

// Creator returns who made the terminal.
func (t *Terminal) Creator() authz.Principal { return t.creator }

// Client reports whether a client runs the terminal, which then takes no input.
func (t *Terminal) Client() bool { return t.owned != nil }

// Done is closed when the terminal has exited and its last output is in the store.
func (t *Terminal) Done() <-chan struct{} { return t.done }

// Gone is closed when the terminal has been disposed.
func (t *Terminal) Gone() <-chan struct{} { return t.gone }

// Exit returns the exit status once Done is closed.
func (t *Terminal) Exit() (ptypool.ExitStatus, bool) {
	if st := t.exit.Load(); st != nil {
		return *st, true
	}
	return ptypool.ExitStatus{}, false
}

// EndedBy returns who or what ended a terminal whose program did not exit by
// itself, for people: "by ann", "because the host is shutting down"; else "".
func (t *Terminal) EndedBy() string {
	if why := t.ended.Load(); why != nil {
		return *why
	}
	return ""
}

// ending notes why the terminal is about to be ended; the first reason counts.
func (t *Terminal) ending(why string) {
	if !t.exitedNow() {
		t.ended.CompareAndSwap(nil, &why)
	}
}

func (t *Terminal) exitedNow() bool { return t.exit.Load() != nil }

// target returns the facts about t that the policy asks for, for somebody who
// does not own it: see [Terminal.targetOf]. The Term's lock is held.
func (t *Terminal) target(p authz.Principal) authz.Target {
	target := authz.Target{
		Executor:    authz.Server,
		Holds:       t.holder.principal == p.ID,
		InputShared: t.host.cfg.InputShared,
		Forced:      t.forced && t.creator.ID == p.ID,
	}
	if t.owned != nil {
		target.Executor = authz.Client
	}
	return target
}

// String names the terminal in logs.
func (t *Terminal) String() string { return "terminal " + t.name }
