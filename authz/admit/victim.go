package admit

import (
	"container/list"
	"iter"
	"time"
)

// When there are too many startups, one is dropped: of the stage with the most startups, and there
// of the source with the most. So peers that all stop at the same point, or come from the same
// place, drop one another, and somebody who gets on is safe. Of equals the one goes whose peer has
// been waited for longest; those that wait for the host itself come last.

// stageList is the startups at one stage.
type stageList struct {
	members list.List // of *Admission, the longest idle first
	sources counts[Source]
}

// enterLocked adds a startup to the list of its stage.
func (g *Gate) enterLocked(a *Admission) {
	r := &g.stages[a.stage]
	a.since = g.opts.Now()
	a.place = r.members.PushBack(a)
	r.sources.add(a.source, 1)
}

// exitLocked removes a startup from the list of its stage.
func (g *Gate) exitLocked(a *Admission) {
	r := &g.stages[a.stage]
	r.members.Remove(a.place)
	r.sources.add(a.source, -1)
}

// idleLocked returns how many startups have been idle for longer than Grace.
func (g *Gate) idleLocked() (n int) {
	for i := range g.stages {
		n += int(g.stages[i].count(g.opts.Now(), g.opts.Grace).sum())
	}
	return n
}

// search says which startups may be dropped.
type search struct {
	idle  time.Duration // those that have been idle for at least so long
	only  Source        // those of this source; zero: of any
	spare bool          // not those of known sources
}

// victimLocked returns the startup to drop; nil: there is none.
func (g *Gate) victimLocked(s search) *Admission {
	var largest *stageList
	var sources counts[Source]
	most, now := 0, g.opts.Now()
	for i := range g.stages {
		r := &g.stages[i]
		c := r.count(now, s.idle)
		n := r.members.Len()
		switch {
		case s.only != Source{}:
			n = int(c[s.only])
		case s.idle > 0:
			n = int(c.sum())
		}
		if n > most {
			largest, sources, most = r, c, n
		}
	}
	if largest == nil {
		return nil
	}
	weight := func(source Source) int { return g.weightLocked(source, int(sources[source]), s) }
	heaviest := 1
	for source, n := range sources {
		heaviest = max(heaviest, g.weightLocked(source, int(n), s))
	}
	return largest.pick(now, s.idle, weight, heaviest)
}

// pick returns the startup to drop, of those that have been idle for at least so long and whose
// sources weigh most: the first whose peer is waited for; or else the last that waits for its turn,
// because the others have waited for longer; or else the first that the host works for. heaviest is
// the most that any source weighs, whose startups may all be held. nil: there is none.
func (r *stageList) pick(now time.Time, idle time.Duration, weight func(Source) int,
	heaviest int) (found *Admission) {
	most, least, turns := 1, works, 0
	for a := range r.idle(now, idle) {
		n := weight(a.source)
		if a.drop == nil || a.held || n < most {
			continue
		}
		if a.waiting {
			turns++
		}
		claim := a.claim(turns <= goneLooks)
		if found == nil || n > most || claim < least || claim == least && claim == turn {
			found, most, least = a, n, claim
		}
		if n == heaviest && least == none {
			return a
		}
	}
	return found
}

// claim is how good a startup's reason to stay is.
type claim int

const (
	none  claim = iota // its peer has gone, or is waited for
	turn               // it waits for its turn
	works              // the host works for it
)

// goneLooks is how many of those that wait for their turn are looked at whether their peers have
// gone: a look is a system call, and those who give up first have mostly come first.
const goneLooks = 4

// claim returns the startup's. look says whether to find out if the peer of one that waits for its
// turn has gone.
func (a *Admission) claim(look bool) claim {
	if a.waiting && !look {
		return turn
	}
	awaits := AwaitsPeer
	if a.awaits != nil {
		awaits = a.awaits()
	}
	switch {
	case awaits == AwaitsNobody:
		return none
	case a.waiting:
		return turn
	case awaits == AwaitsHost:
		return works
	}
	return none
}

// idle returns those that have been idle for at least so long, the longest first.
func (r *stageList) idle(now time.Time, atLeast time.Duration) iter.Seq[*Admission] {
	return func(yield func(*Admission) bool) {
		for e := r.members.Front(); e != nil; e = e.Next() {
			a := e.Value.(*Admission)
			if now.Sub(a.since) < atLeast || !yield(a) {
				return
			}
		}
	}
}

// count returns how many of a source have been idle for at least so long.
func (r *stageList) count(now time.Time, idle time.Duration) counts[Source] {
	if idle == 0 {
		return r.sources
	}
	c := counts[Source]{}
	for a := range r.idle(now, idle) {
		c[a.source]++
	}
	return c
}

// weightLocked returns the weight of n startups of a source; 0: they must not be dropped. Each
// counts 1, and so does each second of the source's penalty. A shared source stands for many
// people: only what it has beyond PerSource counts, and at least 1.
func (g *Gate) weightLocked(source Source, n int, s search) int {
	switch {
	case n == 0, s.only != Source{} && source != s.only, s.spare && g.known.has(source):
		return 0
	case source.shared():
		return max(1, n-g.opts.PerSource)
	}
	return n + int(g.opts.Penalties.Owes(source)/time.Second)
}

// knownShare is the part of all startups that is reserved for known sources.
const knownShare = 4

// anyLocked returns the search for startups of any source that have been idle for at least so long.
// It spares known sources unless they have more than their share.
func (g *Gate) anyLocked(idle time.Duration) search {
	n := 0
	for source, count := range g.sources {
		if g.known.has(source) {
			n += int(count)
		}
	}
	return search{idle: idle, spare: n <= g.startups.Full/knownShare}
}

// known are the sources of recent logins, with the time of the last.
type known map[Source]time.Time

// maxKnown bounds known, 100 bytes each: more sources than an office has.
const maxKnown = 1000

// add records a login. One from a shared source says nothing about others there.
func (k known) add(source Source, now time.Time) {
	if !source.addr.IsValid() || source.shared() {
		return
	}
	k[source] = now
	if len(k) <= maxKnown {
		return
	}
	oldest := source
	for s, t := range k {
		if t.Before(k[oldest]) {
			oldest = s
		}
	}
	delete(k, oldest)
}

func (k known) has(source Source) bool {
	_, ok := k[source]
	return ok
}
