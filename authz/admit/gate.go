package admit

import (
	"container/list"
	"sync"
	"time"
)

// Startups bounds the idle connections that have not authenticated yet, as sshd's MaxStartups does:
// below Start there is room for a new one; from there on Rate percent of the new ones are one too
// many, rising to all of them at Full. Unlike sshd, the host then drops not the new one but one of
// the source that has most: strangers who come in masses drop one another.
type Startups struct{ Start, Rate, Full int }

// percent returns how many percent of new startups are one too many while n, from Start to Full,
// are idle.
func (s Startups) percent(n int) int {
	return s.Rate + (100-s.Rate)*(n-s.Start)/(s.Full-s.Start)
}

// Stage is how far a startup has come. The first is 0, and a later one is harder to reach.
type Stage int

// GateOptions are what a [Gate] is made from.
type GateOptions struct {
	Startups Startups
	// PerSource bounds the idle startups of one source. A shared source may have more, but weighs
	// more then. Of startups that have been idle for less than Grace a source may have sourceBurst
	// times as many, if Burst allows that many.
	PerSource int
	// Grace is how long a peer may do nothing before it counts as idle: clients that are started
	// together, a busy machine and a slow network are no attack.
	Grace time.Duration
	// Burst times Startups.Full is how many startups there may be for less than Grace; at least 1.
	Burst int
	// Stages is how many stages there are; at least 1. A peer that is dropped at the last earns no
	// penalty.
	Stages int
	// Penalties get one for each source that a startup was dropped of, and make it weigh more.
	Penalties *Penalties
	// Now is time.Now, and Rand, a number in [0, n), is math/rand/v2.IntN outside tests.
	Now  func() time.Time
	Rand func(n int) int
}

// sourceBurst is how many times GateOptions.PerSource a source may have for less than Grace: a
// script or `make -j` starts a few dozen clients at once, and none of them is to be lost.
const sourceBurst = 4

// Gate decides which connections may stay while their peers have not proven who they are: the
// startups. Its methods may be called concurrently.
type Gate struct {
	opts GateOptions // does not change
	// later is time.AfterFunc outside tests.
	later func(time.Duration, func())

	mu       sync.Mutex // nothing is locked under it but the Penalties
	startups Startups
	pending  int
	stages   []stageList // the startups
	sources  counts[Source]
	known    known // sources that have logged in
	sweeping bool  // a call of sweep is due
}

// NewGate returns a Gate without startups.
func NewGate(o GateOptions) *Gate {
	g := &Gate{
		opts:     o,
		later:    func(d time.Duration, f func()) { time.AfterFunc(d, f) },
		startups: o.Startups,
		stages:   make([]stageList, o.Stages),
		sources:  counts[Source]{},
		known:    known{},
	}
	for i := range g.stages {
		g.stages[i].sources = counts[Source]{}
	}
	return g
}

// SetStartups puts other limits in force.
func (g *Gate) SetStartups(s Startups) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.startups = s
}

// Pending returns how many startups there are.
func (g *Gate) Pending() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pending
}

// Reached returns how many startups are at a stage.
func (g *Gate) Reached(s Stage) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stages[s].members.Len()
}

// Admission is the admission of one connection. Its methods may be called concurrently.
type Admission struct {
	gate   *Gate
	source Source // zero: that of a peer that was proven elsewhere

	// Guarded by gate.mu.
	stage   Stage
	place   *list.Element // in the list of its stage; nil: it is no startup, or no longer
	since   time.Time     // idle since: when it reached the stage, or made other progress
	waiting bool          // for its turn: it is not its fault that nothing happens
	held    bool          // it must not be dropped
	drop    func()        // closes the connection without waiting; nil: not known yet
	awaits  func() Awaits // see OnDrop; nil: always the peer
}

// Proven returns the admission of a peer that another door has identified, such as a user of this
// machine by its uid. It has nothing to guess: it counts as no startup, and for no source.
func (g *Gate) Proven() *Admission { return &Admission{gate: g} }

// Admit admits a connection, which must [Admission.Leave], or returns why not. If there are too
// many startups, it drops another one.
func (g *Gate) Admit(source Source) (a *Admission, refusal string) {
	if g.opts.Penalties.Refused(source) {
		return nil, "too many failed logins from this address; wait a little"
	}
	g.mu.Lock()
	drop, ok := g.makeRoomLocked(source)
	if !ok {
		g.mu.Unlock()
		return nil, "too many connections at once; try again"
	}
	a = &Admission{gate: g, source: source}
	g.pending++
	g.sources.add(source, 1)
	g.enterLocked(a)
	if g.pending > g.startups.Full && !g.sweeping {
		g.sweeping = true
		g.later(g.opts.Grace, g.sweep)
	}
	g.mu.Unlock()
	drop()
	return a, ""
}

// makeRoomLocked removes a startup if a new one of source is one too many, and returns the function
// that closes its connection. ok is false if there is no room and none may be dropped.
func (g *Gate) makeRoomLocked(source Source) (drop func(), ok bool) {
	full := g.pending >= g.startups.Full*g.opts.Burst
	victim := g.ownVictimLocked(source)
	switch {
	case victim != nil: // it costs its own source only
	case full:
		victim = g.blameLocked(0)
	case g.overLocked():
		victim = g.blameLocked(g.opts.Grace)
	}
	switch {
	case victim != nil:
		victim.settleLocked()
		return victim.drop, true
	case full:
		return nil, false
	}
	return func() {}, true
}

// ownVictimLocked returns the startup that source has to give up for another one of its own; nil:
// none.
func (g *Gate) ownVictimLocked(source Source) *Admission {
	n := int(g.sources[source])
	switch {
	case source.shared() || n < g.opts.PerSource:
		return nil
	case n >= g.opts.PerSource*min(sourceBurst, g.opts.Burst):
		return g.victimLocked(search{only: source})
	}
	return g.victimLocked(search{only: source, idle: g.opts.Grace})
}

// overLocked reports whether a new startup is one too many, by the number of idle ones and a roll
// of the dice.
func (g *Gate) overLocked() bool {
	s, n := g.startups, g.idleLocked()
	return n >= s.Full || n >= s.Start && g.opts.Rand(100) < s.percent(n)
}

// sweep drops idle startups until no more than Full are left, and calls itself later while there
// are more than Full of any kind.
func (g *Gate) sweep() {
	var drops []func()
	g.mu.Lock()
	for n := g.idleLocked(); n > g.startups.Full; n-- {
		victim := g.blameLocked(g.opts.Grace)
		if victim == nil {
			break
		}
		victim.settleLocked()
		drops = append(drops, victim.drop)
	}
	if g.sweeping = g.pending > g.startups.Full; g.sweeping {
		g.later(g.opts.Grace/4, g.sweep)
	}
	g.mu.Unlock()
	for _, drop := range drops {
		drop()
	}
}

// blameLocked returns the startup to drop, of those that have been idle for at least so long, and
// gives its source a penalty: an attacker with many addresses has them refused before long. nil:
// there is none.
func (g *Gate) blameLocked(idle time.Duration) *Admission {
	a := g.victimLocked(g.anyLocked(idle))
	if a != nil && int(a.stage) < g.opts.Stages-1 {
		g.opts.Penalties.Add(a.source, DroppedPenalty)
	}
	return a
}

// Source returns where the connection comes from; the zero Source if its peer was proven elsewhere.
func (a *Admission) Source() Source { return a.source }

// Awaits is what must happen before a startup gets on.
type Awaits int

const (
	AwaitsPeer   Awaits = iota // the peer must send more
	AwaitsHost                 // the host must work on what has come: its peer is not to blame
	AwaitsNobody               // the peer has gone
)

// OnDrop sets the function that closes the connection if it is dropped, and the one that says what
// the connection awaits; nil: always the peer. Neither must block or use the gate.
func (a *Admission) OnDrop(drop func(), awaits func() Awaits) {
	a.gate.mu.Lock()
	defer a.gate.mu.Unlock()
	a.drop, a.awaits = drop, awaits
}

// Advance records that the peer has reached a stage, or made progress within its own.
func (a *Admission) Advance(to Stage) {
	a.gate.mu.Lock()
	defer a.gate.mu.Unlock()
	a.moveLocked(max(a.stage, to), false)
}

// Wait records whether the peer waits for its turn.
func (a *Admission) Wait(waiting bool) {
	a.gate.mu.Lock()
	defer a.gate.mu.Unlock()
	a.moveLocked(a.stage, waiting)
}

// Hold records whether the peer is being answered, and so must not be dropped.
func (a *Admission) Hold(held bool) {
	a.gate.mu.Lock()
	defer a.gate.mu.Unlock()
	a.held = held
	a.moveLocked(a.stage, false)
}

// moveLocked moves the peer to the end of a stage's list.
func (a *Admission) moveLocked(to Stage, waiting bool) {
	if a.place == nil {
		return
	}
	a.gate.exitLocked(a)
	a.stage, a.waiting = to, waiting
	a.gate.enterLocked(a)
}

// Authenticated records that the peer has proven its identity: it is no startup any more, and its
// source is known and has no penalty.
func (a *Admission) Authenticated() {
	g := a.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	a.settleLocked()
	g.opts.Penalties.Forgive(a.source)
	g.known.add(a.source, g.opts.Now())
}

// Penalize adds d to the penalty of the source.
func (a *Admission) Penalize(d time.Duration) { a.gate.opts.Penalties.Add(a.source, d) }

// Leave ends the admission. It may be called again.
func (a *Admission) Leave() {
	a.gate.mu.Lock()
	defer a.gate.mu.Unlock()
	a.settleLocked()
}

// settleLocked ends the connection's time as a startup.
func (a *Admission) settleLocked() {
	if a.place == nil {
		return
	}
	g := a.gate
	g.exitLocked(a)
	a.place = nil
	g.pending--
	g.sources.add(a.source, -1)
}
