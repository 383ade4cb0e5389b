package host

import (
	"fmt"
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
