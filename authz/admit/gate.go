package admit

import (
	"container/list"
	"sync"
	"time"
)

// Startups bounds the connections that have not authenticated yet and stand still, as sshd's
// MaxStartups does: up to Start there is room for a new one; from there on Rate percent of the new
// ones are one too many, rising to all of them at Full. Unlike sshd, the host then drops not the
// new one but one of the source that has most: strangers who come in masses drop one another.
type Startups struct{ Start, Rate, Full int }

// percent returns how many of a hundred new startups are one too many beside n, of Start to Full.
func (s Startups) percent(n int) int {
	return s.Rate + (100-s.Rate)*(n-s.Start)/(s.Full-s.Start)
}

// Stage is how far a startup has come. The first is 0, and a later one is harder to reach.
type Stage int

// GateOptions are what a [Gate] is made from.
type GateOptions struct {
	Startups Startups
	// PerSource bounds the startups of one source that stand still, unless that is shared: then it
	// is no crowd until it has more. For less than Grace there may be sourceBurst times as many, if
	// Burst allows that many.
	PerSource int
	// Grace is how long a peer may do nothing before it stands still: clients that are started
	// together, a busy machine and a slow network are no attack.
	Grace time.Duration
	// Burst is how many times Startups.Full there may be for less than Grace; at least 1.
	Burst int
	// Stages is how many stages there are; at least 1. A peer at the last is never to blame for
	// being in the way.
	Stages int
	// Penalties are earned by those in the way, and earlier ones make a source weigh more.
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
	// later calls a function after a while.
	later func(time.Duration, func())

	mu       sync.Mutex // nothing is locked under it but the Penalties
	startups Startups
	pending  int
	rooms    []room // where the startups are, by their stages
	sources  counts[Source]
	known    known // sources that have logged in
	sweeping bool  // sweep is going to be called
}

// NewGate returns a Gate without startups.
func NewGate(o GateOptions) *Gate {
	g := &Gate{
		opts:     o,
		later:    func(d time.Duration, f func()) { time.AfterFunc(d, f) },
		startups: o.Startups,
		rooms:    make([]room, o.Stages),
		sources:  counts[Source]{},
		known:    known{},
	}
	for i := range g.rooms {
		g.rooms[i].sources = counts[Source]{}
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

// Admission is that of one connection. Its methods may be called concurrently.
type Admission struct {
	gate   *Gate
	source Source // zero: that of a peer that was proven elsewhere

	// Guarded by gate.mu.
	stage   Stage
	place   *list.Element // in the room of the stage; nil: it is no startup, or no longer
	since   time.Time     // when it reached the stage, or did something else that brings it on
	waiting bool          // for its turn: it is not its fault that nothing happens
	held    bool          // it must not be dropped
	drop    func()        // closes the connection; it does not wait. nil: not known yet
}

// Proven returns the admission of a peer that another door has identified, such as a user of this
// machine by its uid. It has nothing to guess: it counts neither as a startup nor for a source.
func (g *Gate) Proven() *Admission { return &Admission{gate: g} }

// Admit lets a connection in, which must [Admission.Leave], or says why not. If there are too many
// startups, another one is dropped.
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

// makeRoomLocked takes out a startup if another one from source is one too many, and returns what
// closes its connection. ok is false if there is no room, and none that may be dropped.
func (g *Gate) makeRoomLocked(source Source) (drop func(), ok bool) {
	full := g.pending >= g.startups.Full*g.opts.Burst
	victim := g.ownVictimLocked(source)
	switch {
	case victim != nil: // it is in the way of its own source only
	case full:
		victim = g.blameLocked(0)
	case g.crowdedLocked():
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

// ownVictimLocked returns the startup of source that is one too many for it beside another one.
// nil: there is none.
func (g *Gate) ownVictimLocked(source Source) *Admission {
	n := int(g.sources[source])
	switch {
	case source.shared() || n < g.opts.PerSource:
		return nil
	case n >= g.opts.PerSource*min(sourceBurst, g.opts.Burst):
		return g.victimLocked(search{only: source})
	}
	return g.victimLocked(search{only: source, long: g.opts.Grace})
}

// crowdedLocked reports whether a new startup is one too many, by those that stand still and a roll
// of the dice.
func (g *Gate) crowdedLocked() bool {
	s, n := g.startups, g.stillLocked()
	return n >= s.Full || n >= s.Start && g.opts.Rand(100) < s.percent(n)
}

// sweep drops those that stand still while there are more than may be, until there are no more.
func (g *Gate) sweep() {
	var drops []func()
	g.mu.Lock()
	for n := g.stillLocked(); n > g.startups.Full; n-- {
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

// blameLocked returns the startup that is most in others' way of those that have done nothing for
// so long, and has its source pay for it: whoever comes from many addresses has them refused before
// long. nil: there is none.
func (g *Gate) blameLocked(long time.Duration) *Admission {
	a := g.victimLocked(g.anyLocked(long))
	if a != nil && int(a.stage) < g.opts.Stages-1 {
		g.opts.Penalties.Add(a.source, DroppedPenalty)
	}
	return a
}

// Source returns where the connection comes from; the zero Source if its peer was proven elsewhere.
func (a *Admission) Source() Source { return a.source }

// OnDrop says how the connection is closed if there is no room for it any more.
func (a *Admission) OnDrop(drop func()) {
	a.gate.mu.Lock()
	defer a.gate.mu.Unlock()
	a.drop = drop
}

// Advance says that the peer has got to a stage, or on within one.
func (a *Admission) Advance(to Stage) {
	a.gate.mu.Lock()
	defer a.gate.mu.Unlock()
	a.moveLocked(max(a.stage, to), false)
}

// Wait says that the peer waits for its turn from now on, or no longer.
func (a *Admission) Wait(waiting bool) {
	a.gate.mu.Lock()
	defer a.gate.mu.Unlock()
	a.moveLocked(a.stage, waiting)
}

// Hold says that the peer is being answered from now on, and is not to be dropped, or no longer.
func (a *Admission) Hold(held bool) {
	a.gate.mu.Lock()
	defer a.gate.mu.Unlock()
	a.held = held
	a.moveLocked(a.stage, false)
}

// moveLocked has the peer be at a stage from now on.
func (a *Admission) moveLocked(to Stage, waiting bool) {
	if a.place == nil {
		return
	}
	a.gate.exitLocked(a)
	a.stage, a.waiting = to, waiting
	a.gate.enterLocked(a)
}

// Authenticated says that the peer has proven who it is: it is no startup any more. Its source owes
// nothing, and is known from now on.
func (a *Admission) Authenticated() {
	g := a.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	a.settleLocked()
	g.opts.Penalties.Forgive(a.source)
	g.known.add(a.source, g.opts.Now())
}

// Penalize has the source wait for d, in addition to what it has earned before.
func (a *Admission) Penalize(d time.Duration) { a.gate.opts.Penalties.Add(a.source, d) }

// Leave gives the place up. It may be called again.
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
