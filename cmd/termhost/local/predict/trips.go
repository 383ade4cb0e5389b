package predict

import "time"

const (
	// slow is the round trip above which keys are shown before their echo, and fast that below
	// which they are not any more. Most people notice a delay of a key from about 100 ms on, of
	// which the terminal and the program take a part.
	slow, fast = 60 * time.Millisecond, 30 * time.Millisecond
	// A machine that is busy for a moment is no slow line: of as many round trips in a row as
	// tripsSeen, the shortest counts.
	tripsSeen = 3
)

// trips are the last round trips.
type trips struct {
	last [tripsSeen]time.Duration
	n    int
	slow bool
}

// add adds a round trip.
func (t *trips) add(d time.Duration) {
	t.last[t.n%tripsSeen] = d
	t.n++
	switch least := t.least(); {
	case least < fast:
		t.slow = false
	case least > slow && t.n >= tripsSeen:
		t.slow = true
	}
}

// least returns the shortest of the last round trips; 0 if there was none.
func (t *trips) least() time.Duration {
	least := t.last[0]
	for _, d := range t.last[:min(t.n, tripsSeen)] {
		least = min(least, d)
	}
	return least
}
