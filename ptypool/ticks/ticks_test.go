package ticks

import (
	"testing"
	"time"
)

func TestSeldomEventsComeTogether(t *testing.T) {
	at := func(nanos int64) time.Time { return time.Unix(1_000_000, nanos) }
	for _, c := range []struct {
		now     time.Time
		d, want time.Duration
	}{
		{at(0), 30 * time.Second, 30 * time.Second},
		{at(1), 30 * time.Second, 30*time.Second - 1},
		{at(999_999_999), 30 * time.Second, 30*time.Second + 1},
		{at(500_000_000), 2500 * time.Millisecond, 2500 * time.Millisecond},
		{at(0), 2500 * time.Millisecond, 3 * time.Second},
		{at(1), time.Second, time.Second - 1},
		{at(499_999_999), time.Second, time.Second - 499_999_999},
		{at(1), time.Second - 1, time.Second - 1},
		{at(1), 0, 0},
		{at(1), -time.Second, -time.Second},
	} {
		if got := WaitAt(c.now, c.d); got != c.want {
			t.Errorf("%s after %s is waited for %s, want %s", c.d, c.now, got, c.want)
		}
	}
	if d := Wait(time.Minute); d < time.Minute-interval/2 || d > time.Minute+interval/2 {
		t.Errorf("a minute is %s", d)
	}
}
