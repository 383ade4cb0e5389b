// Package ticks has what seldom happens in an idle program happen together.
//
// A timer that fires out of idleness costs more than what it is mostly set for: the program is
// woken, its threads find each other, and the processor's caches have been left to others. A host
// has hundreds of timers that are seldom due: a look at each terminal and a question to each
// connection, every half a minute. When they end at whole seconds there is one wake-up for all of a
// second's.
package ticks

import "time"

// interval is the time between ticks.
const interval = time.Second

// Wait returns how long to wait for the tick that is nearest to d from now: half a second more or
// less than d. A d of less than a second is returned as it is, because somebody may wait for that.
func Wait(d time.Duration) time.Duration { return WaitAt(time.Now(), d) }

// WaitAt is Wait for one who begins to wait at a certain time.
func WaitAt(now time.Time, d time.Duration) time.Duration {
	if d < interval {
		return d
	}
	// All ticks of a program are those of its wall clock. When that is set, ticks move with it.
	at := now.Add(d).Round(0) // of the wall clock
	return d + at.Round(interval).Sub(at)
}
