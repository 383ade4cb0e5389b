package fleet

import (
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"termhost/ahp/fleet/roster"
)

// All hosts hear at once that there is a newer roster, and each gets it from a host that has it,
// mostly the home. In a large fleet that is a lot at once, so they take turns by chance. Nobody is
// in a hurry who only misses a new host: if that is a door and comes before its turn, the roster is
// fetched then. Doors fetch it within a second, for those who look for a host, and so does a host
// with open streams if somebody was removed: these may have to end.

const (
	// maxRoster bounds a signed roster, in bytes: MaxHosts members, each with a long name, in
	// base64.
	maxRoster = 4 << 20
	// fetchTime bounds how long a host may take to send it.
	fetchTime = 10 * time.Second
	// fetchPace is about how much is fetched in all hosts together, in bytes a second: what a home
	// sends beside what people see.
	fetchPace = 8 << 20
	// memberBytes is about what a member takes in a signed roster, in bytes.
	memberBytes = 160
	// maxSpread bounds the time that a fleet of MaxHosts takes.
	maxSpread = 5 * time.Minute
	// hurry bounds the time within which those fetch it that must not wait: with watch, and the way
	// there and back, they have it within two seconds.
	hurry = time.Second
)

// spreadOf returns in which time the hosts of a fleet of n fetch a roster.
func spreadOf(n int) time.Duration {
	return min(time.Duration(n)*time.Duration(n)*memberBytes*time.Second/fetchPace, maxSpread)
}

// turn is when the roster is fetched from a host that has said to have a newer one.
type turn struct {
	version int // of that roster
	removes bool
	hurries bool
	timer   *time.Timer
	begun   bool
	done    chan struct{} // closed when it has ended
}

// awaitTurnLocked has a newer roster fetched from a host, soon or in its turn; f.mu is held. One
// host that says so and has none must not keep those from being asked that have it. streams is how
// many are open here.
func (f *Fleet) awaitTurnLocked(from string, s sign, streams int) {
	self, _ := f.roster.Named(f.self.Name)
	t := &turn{version: s.Roster, removes: f.roster.Version < s.Removal || s.Removal == 0,
		done: make(chan struct{})}
	t.hurries = self.Door || t.removes && streams > 0
	if before := f.turns[from]; before != nil {
		if before.begun || before.hurries || !t.hurries {
			before.version, before.removes = t.version, t.removes
			return
		}
		before.timer.Stop() // or it finds that it is another one's turn
	}
	late := spreadOf(len(f.roster.Members))
	if t.hurries {
		late = min(late, hurry)
	}
	f.turns[from] = t
	t.timer = time.AfterFunc(rand.N(late+1), func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.beginLocked(from, t)
	})
}

// beginLocked begins a turn, unless it has begun, or is over; f.mu is held.
func (f *Fleet) beginLocked(from string, t *turn) {
	switch {
	case f.turns[from] != t || t.begun || f.closed:
	case f.roster.Version >= t.version:
		f.endLocked(from, t)
	default:
		t.begun = true
		version := t.version
		f.running.Go(func() {
			f.fetch(from, version)
			f.mu.Lock()
			defer f.mu.Unlock()
			f.endLocked(from, t)
		})
	}
}

func (f *Fleet) endLocked(from string, t *turn) {
	delete(f.turns, from)
	close(t.done)
}

// catchUp has a roster that is due fetched now, if it may say something else of a host that opens a
// stream. Only the home is waited for: it does not lie.
func (f *Fleet) catchUp(from string) {
	f.mu.Lock()
	home := f.roster.Home
	t := f.turns[home]
	_, known := f.roster.Named(from)
	waits := t != nil && (t.removes || !known)
	if waits {
		f.beginLocked(home, t)
	}
	f.mu.Unlock()
	if !waits {
		return
	}
	select {
	case <-t.done:
	case <-f.stop:
	}
}

// fetch gets a newer roster, of that version, from another host.
func (f *Fleet) fetch(from string, version int) {
	s, err := f.node.Open(from, []byte(kindRoster))
	if err != nil {
		return
	}
	defer s.Close()
	_ = s.SetReadDeadline(time.Now().Add(fetchTime))
	p, err := io.ReadAll(io.LimitReader(s, maxRoster))
	var next roster.Roster
	if err == nil {
		next, err = roster.Verify(p, f.self.Root)
	}
	if err == nil {
		err = f.store(next, p)
	}
	if err != nil && f.news(fmt.Sprint(version, " ", err)) {
		f.o.Log.Warn("the fleet's roster stays as it was", "from", from, "err", err)
	}
}

// maxTold bounds the number of remembered log lines about rosters.
const maxTold = 64

// news reports whether the log does not say yet what is wrong with a newer roster: it is fetched
// again with each heartbeat.
func (f *Fleet) news(wrong string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told[wrong] {
		return false
	}
	if f.told == nil || len(f.told) >= maxTold {
		f.told = map[string]bool{}
	}
	f.told[wrong] = true
	return true
}
