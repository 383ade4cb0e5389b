package fleet

import (
	"math"
	"math/rand/v2"
	"time"
)

// beats are the numbers of a host's own heartbeats, and when it has said them. A door sends what a
// person types with the number of the last one that it has heard: see package typed.
type beats struct {
	last  uint64      // the number of the last of said
	said  []time.Time // with the time by both clocks
	first uint64      // the number of the first of this process
}

// maxBeats bounds how many are remembered: more than are said in the time that a host may be
// silent, when it says many because hosts join.
const maxBeats = 1 << 10

// newBeats returns the numbers of a process, which are not those of the one before.
func newBeats() beats {
	first := uint64(rand.Uint32()) + 1
	return beats{last: first - 1, first: first}
}

// say returns the number of a heartbeat that is said now.
func (b *beats) say(now time.Time) uint64 {
	if len(b.said) == maxBeats {
		b.said = append(b.said[:0], b.said[1:]...)
	}
	b.said = append(b.said, now)
	b.last++
	return b.last
}

// age returns how long ago a heartbeat was said, or for how long at least if it is too old to be
// remembered; ok is false if this process has not said it.
func (b *beats) age(number uint64, now time.Time) (age time.Duration, ok bool) {
	if number < b.first || number > b.last {
		return 0, false
	}
	oldest := b.last + 1 - uint64(len(b.said))
	at := b.said[max(number, oldest)-oldest]
	// One clock stands still while the machine sleeps, the other one may be set.
	return max(now.Sub(at), now.Round(0).Sub(at.Round(0))), true
}

// Heard returns the number of the last heartbeat of a host that was heard; 0: none was, or the
// host's termhost is an older one.
func (f *Fleet) Heard(host string) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.peers[host]; p != nil {
		return p.sign.Beat
	}
	return 0
}

// Late returns by how much more than a host may be silent it is since this one has said the
// heartbeat of a number; negative: it is less. One that it has not said is as late as can be.
func (f *Fleet) Late(number uint64) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	age, ok := f.beats.age(number, time.Now())
	if !ok {
		return math.MaxInt64
	}
	return age - silent
}
