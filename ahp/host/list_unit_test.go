package host

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheListGoesOutAtOnceWhenQuietAndThenEvery100ms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var at []time.Duration
		p := listPublisher{publish: func() { at = append(at, time.Since(begin)) }}
		time.Sleep(time.Second)
		for range 50 { // changes every 10 ms
			p.changed()
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		want := []time.Duration{1000, 1100, 1200, 1300, 1400, 1500}
		if len(at) != len(want) {
			t.Fatalf("published at %v", at)
		}
		for i := range at {
			if at[i] != want[i]*time.Millisecond {
				t.Errorf("published at %v, want %v", at[i], want[i]*time.Millisecond)
			}
		}
		var called atomic.Int32
		p.changed()
		p.changedThen(func() { called.Add(1) })
		if called.Load() != 0 {
			t.Error("called before its list was out")
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if called.Load() != 1 {
			t.Error("not called")
		}
		p.changed()
		n := len(at)
		p.flush()
		p.flush()
		if len(at) != n+1 {
			t.Errorf("a flush published %d lists", len(at)-n)
		}
		p.stop()
		p.changedThen(func() { called.Add(1) })
		if called.Load() != 2 {
			t.Error("after the stop something waits")
		}
	})
}

func TestFreshNamesTakeBoundedRoom(t *testing.T) {
	t.Parallel()
	var s spent
	s.add("old", 7)
	for i := range 2*maxSpentBases + 1 {
		s.add(fmt.Sprint("word", i), 1)
		if len(s.byBase) > maxSpentBases {
			t.Fatalf("%d words are kept", len(s.byBase))
		}
	}
	if s.upTo("old") < 7 || s.upTo("word0") < 1 {
		t.Errorf("spent up to %d and %d", s.upTo("old"), s.upTo("word0"))
	}
}

// The lowest free NAME is found as if all were looked at, whatever becomes free in between.
func TestTheLowestFreeNameIsChosen(t *testing.T) {
	t.Parallel()
	h := &Host{names: map[string]*Terminal{}, taken: takenNumbers{}}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		base := []string{"sh", "a-b"}[rng.IntN(2)]
		if name := numbered(base, 1+rng.IntN(40)); h.names[name] != nil && rng.IntN(2) == 0 {
			delete(h.names, name)
			h.taken.free(name)
			continue
		}
		want := 1
		for h.names[numbered(base, want)] != nil {
			want++
		}
		name := h.freeNameLocked(base, false)
		if name != numbered(base, want) {
			t.Fatalf("step %d: %s is chosen, and %s is free", i, name, numbered(base, want))
		}
		if want <= 40 {
			h.names[name] = &Terminal{}
		}
	}
}

func TestTakenNumbersTakeBoundedRoom(t *testing.T) {
	t.Parallel()
	tn := takenNumbers{}
	for i := range 2*maxTakenBases + 1 {
		if tn.set(fmt.Sprint("word", i), 7); len(tn) > maxTakenBases {
			t.Fatalf("%d words are kept", len(tn))
		}
	}
}
