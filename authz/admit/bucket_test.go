package admit

import (
	"testing"
	"time"
)

func TestABucketMakesThemWait(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	slow, fast := Rate{PerSecond: 10, Burst: 40}, Rate{PerSecond: 20, Burst: 40}
	var b Bucket
	for i, step := range []struct {
		after time.Duration
		rate  Rate
		take  int
		want  time.Duration
		full  bool
	}{
		{0, slow, 0, 0, true},
		{0, slow, 40, 0, false},                        // all of it at once
		{0, slow, 5, time.Second / 2, false},           // and then it is owed
		{0, slow, -3, time.Second / 5, false},          // what was put back need not be
		{0, fast, 0, time.Second / 10, false},          // another rate
		{time.Second / 10, slow, 0, 0, false},          // it has come in
		{4 * time.Second, slow, 0, 0, true},            // it is full again
		{time.Hour, slow, 100, 6 * time.Second, false}, // no more is saved, and more may be taken
		{10 * time.Second, slow, 0, 0, true},
		{0, slow, -100, 0, true}, // there is no more in it than fits
		{0, slow, 41, time.Second / 10, false},
		{0, Rate{}, 1000, 0, false}, // no limit
	} {
		now = now.Add(step.after)
		if got := b.Take(step.rate, step.take, now); got != step.want {
			t.Errorf("step %d: a wait of %v, want %v", i, got, step.want)
		}
		if got := b.Full(now); got != step.full {
			t.Errorf("step %d: full: %v", i, got)
		}
	}
}

func TestABucketThatIsEmptyGivesNothingAndOwesNothing(t *testing.T) {
	now, b, r := time.Unix(1e9, 0), &Bucket{}, Rate{PerSecond: 1, Burst: 2}
	for i, want := range []bool{true, true, false, false} {
		if got := b.Allow(r, 1, now); got != want {
			t.Errorf("%d: %v", i, got)
		}
	}
	if !b.Allow(r, 1, now.Add(time.Second)) {
		t.Error("what was refused was taken")
	}
}
