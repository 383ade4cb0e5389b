package bench

import (
	"errors"
	"time"
)

// observers is how many look on while a key is typed.
const observers = 9

// typingPause is the time from an echo to the next key, in which all others get it, too, and the
// processes go to sleep. People do not type faster.
const typingPause = 2 * time.Millisecond

// observed measures the echo of keys in a terminal that one person views, and in another one on
// which others look in windows of the same size.
func (how effort) observed() measurement {
	m := measurement{Table: Table{
		Name: "observed", Title: "Echo of a key while 9 others look on",
		Figures: []Figure{
			{Name: "a program's, alone, p50", Unit: "µs"},
			{Name: "with them, p50", Unit: "µs"},
			{Name: "what they add", Unit: "%"},
		}}}
	m.prepare = func(r *Rival) (*probe, error) {
		var rooms [2]room
		end := func() {
			for _, rm := range rooms {
				rm.close()
			}
		}
		for i, n := range []int{0, observers} {
			var err error
			if rooms[i], err = r.room(n); err != nil {
				end()
				return nil, err
			}
		}
		return &probe{func() ([]float64, error) { return how.compare(rooms) }, end}, nil
	}
	return m
}

// room is a terminal with its viewers.
type room struct {
	k         *kept
	typist    *Session
	observers []*Session
}

// room opens a terminal that n others look at. It must be closed in any case.
func (r *Rival) room(n int) (rm room, err error) {
	if rm.k, err = r.keep(programEcho()); err != nil {
		return rm, err
	}
	if rm.typist, err = rm.k.attach(); err != nil {
		return rm, err
	}
	rm.observers, err = several(n, rm.k.look)
	return rm, err
}

func (rm *room) close() {
	closeAll(append(rm.observers, rm.typist))
	if rm.k != nil {
		rm.k.Close()
	}
}

// echoes has keys typed, with a pause after each, for some time at most, and returns how long the
// echo of each took to the typist.
func (rm *room) echoes(keys int, most, pause time.Duration) (times []time.Duration, err error) {
	err = within(rm.typist, func() error {
		for end := time.Now().Add(most); len(times) < keys && time.Now().Before(end); {
			i := len(times)
			took, err := rm.typist.Echo(i)
			if err != nil {
				return err
			}
			times = append(times, took)
			for _, s := range rm.observers {
				if err := s.awaitKey(i); err != nil {
					return err
				}
			}
			time.Sleep(pause)
		}
		return nil
	})
	return times, err
}

// look logs in and looks at the terminal.
func (k *kept) look() (*Session, error) {
	if k.r.keeping.watch == nil {
		return nil, errors.ErrUnsupported
	}
	return k.view(k.r.keeping.watch(k.name), window{}, k.r.keeping.shows)
}

// compare has keys typed in two rooms, some at a time, and returns the p50 of the echo in each, in
// microseconds, and how much longer it takes in the second one, in percent.
func (how effort) compare(rooms [2]room) ([]float64, error) {
	const turns = 10
	var times [2][]time.Duration
	for range turns {
		for i := range rooms {
			some, err := rooms[i].echoes(how.keys/turns, how.keysFor/turns, typingPause)
			if err != nil {
				return nil, err
			}
			times[i] = append(times[i], some...)
		}
	}
	alone, with := Percentile(times[0], 50).Seconds(), Percentile(times[1], 50).Seconds()
	return []float64{alone * 1e6, with * 1e6, 100 * (with/alone - 1)}, nil
}
