package viewer

import (
	"testing"
	"testing/synctest"
	"time"
)

// aLine carries bytes at a rate, and takes a while there and back. stalls: how long the answers to
// the first requests are late, because the machine is busy.
type aLine struct {
	perSecond int
	away      time.Duration
	queued    int // bytes of what was written before
	stalls    []time.Duration
}

func (l *aLine) carries(bytes int) bool {
	wait := l.away + time.Duration(l.queued+bytes)*time.Second/time.Duration(l.perSecond)
	l.queued = 0
	if len(l.stalls) > 0 {
		wait += l.stalls[0]
		l.stalls = l.stalls[1:]
	}
	time.Sleep(wait)
	return true
}

func TestASlowLineGetsWhatItCarriesAndAQuickOneAll(t *testing.T) {
	const all = 1 << 20
	for name, c := range map[string]struct {
		line     aLine
		from, to int
	}{
		"slow":                 {aLine{perSecond: 20 << 10, away: 50 * time.Millisecond, queued: 4 << 10}, 10 << 10, 40 << 10},
		"slow, and far":        {aLine{perSecond: 20 << 10, away: 300 * time.Millisecond, queued: 4 << 10}, 4 << 10, 40 << 10},
		"very slow":            {aLine{perSecond: 2 << 10, away: time.Second, queued: 4 << 10}, 4 << 10, 4 << 10},
		"middling":             {aLine{perSecond: 100 << 10, away: 50 * time.Millisecond}, 80 << 10, 200 << 10},
		"quick":                {aLine{perSecond: 10 << 20, away: time.Millisecond}, all, all},
		"quick, and far":       {aLine{perSecond: 10 << 20, away: 300 * time.Millisecond}, all, all},
		"quick, busy at first": {aLine{perSecond: 10 << 20, away: time.Millisecond, stalls: []time.Duration{time.Second}}, all, all},
		"quick, busy later": {aLine{perSecond: 10 << 20, away: time.Millisecond,
			stalls: []time.Duration{0, 0, 0, 2 * time.Second}}, all, all},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := lineMeter{carries: c.line.carries}
				if got := m.within(historyTime, all); got < c.from || got > c.to {
					t.Errorf("%d bytes, want %d to %d", got, c.from, c.to)
				}
			})
		})
	}
}
