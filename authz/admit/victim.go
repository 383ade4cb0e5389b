package admit

import (
	"container/list"
	"time"
)

// When there are too many startups, the one to be dropped is looked for where most of them wait: at
// the stage that has most, and there among those of the source that has most. So strangers who all
// stop at the same point, or come from the same place, drop one another, and somebody who passes by
// is safe. Of equals the one that has done nothing for longest goes.

// room is the startups at one stage.
type room struct {
	members list.List // of *Admission, the one that has done nothing for longest first
	sources counts[Source]
}

// enterLocked puts a startup into the room of its stage.
func (g *Gate) enterLocked(a *Admission) {
	r := &g.rooms[a.stage]
	a.since = g.opts.Now()
	a.place = r.members.PushBack(a)
	r.sources.add(a.source, 1)
}

// exitLocked takes it out of there.
func (g *Gate) exitLocked(a *Admission) {
	r := &g.rooms[a.stage]
	r.members.Remove(a.place)
	r.sources.add(a.source, -1)
}

// stillLocked returns how many startups stand still.
func (g *Gate) stillLocked() (n int) {
	for i := range g.rooms {
		n += int(g.rooms[i].count(g.opts.Now(), g.opts.Grace).sum())
	}
	return n
}

// search says which startups may be dropped.
type search struct {
	long time.Duration // those that have done nothing for so long
	only Source        // those of this source; zero: of any
	// spare: not those of known sources.
	spare bool
}

// victimLocked returns the startup to be dropped; nil: there is none.
func (g *Gate) victimLocked(s search) *Admission {
	var crowded *room
	var sources counts[Source]
	most := 0
	for i := range g.rooms {
		r := &g.rooms[i]
		c := r.count(g.opts.Now(), s.long)
		n := r.members.Len()
		switch {
		case s.only != Source{}:
			n = int(c[s.only])
		case s.long > 0:
			n = int(c.sum())
		}
		if n > most {
			crowded, sources, most = r, c, n
		}
	}
	if crowded == nil {
		return nil
	}
	weight := func(source Source) int { return g.weightLocked(source, int(sources[source]), s) }
	heaviest := 1
	for source, n := range sources {
		heaviest = max(heaviest, g.weightLocked(source, int(n), s))
	}
	return crowded.first(weight, heaviest)
}

// first returns whom to drop among those whose sources weigh most: the first that does not wait for
// its turn, or else the last that does, because the others have waited for longer. heaviest is the
// most that any source weighs, of which all may be held. nil: there is nobody.
func (r *room) first(weight func(Source) int, heaviest int) (found *Admission) {
	most := 1
	for e := r.members.Front(); e != nil; e = e.Next() {
		a := e.Value.(*Admission)
		if a.drop == nil || a.held {
			continue
		}
		n := weight(a.source)
		if n > most || n == most && (found == nil || found.waiting) {
			found, most = a, n
		}
		if n == heaviest && !a.waiting {
			return a
		}
	}
	return found
}

// count returns how many in the room have done nothing for so long, by source.
func (r *room) count(now time.Time, long time.Duration) counts[Source] {
	if long == 0 {
		return r.sources
	}
	c := counts[Source]{}
	for e := r.members.Front(); e != nil; e = e.Next() {
		a := e.Value.(*Admission)
		if now.Sub(a.since) < long {
			break
		}
		c[a.source]++
	}
	return c
}

// weightLocked returns how much of a crowd n startups of a source are; 0: they are not to be
// dropped. Each counts, and so does what the source owes for earlier ones, in seconds. A shared
// source stands for many people: it is no crowd until it has more than any other source may have.
func (g *Gate) weightLocked(source Source, n int, s search) int {
	switch {
	case n == 0, s.only != Source{} && source != s.only, s.spare && g.known.has(source):
		return 0
	case source.shared():
		return max(1, n-g.opts.PerSource)
	}
	return n + int(g.opts.Penalties.Owes(source)/time.Second)
}

// knownShare is the part of all startups that known sources have for themselves.
const knownShare = 4

// anyLocked returns the search for one among all that have done nothing for so long. Known sources
// are spared unless they have more than their share.
func (g *Gate) anyLocked(long time.Duration) search {
	n := 0
	for source, count := range g.sources {
		if g.known.has(source) {
			n += int(count)
		}
	}
	return search{long: long, spare: n <= g.startups.Full/knownShare}
}

// known is the sources from which somebody has logged in lately, with the last login.
type known map[Source]time.Time

// maxKnown bounds them, 100 bytes each: more than an office has.
const maxKnown = 1000

// add notes a login. One from a shared source says nothing about others there.
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
