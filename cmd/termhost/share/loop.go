package share

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

// A shared terminal in which somebody attaches to that very terminal shows what
// it shows, without end, at whatever rate the connection carries. To find that out
// share places marks in what it sends, which show nothing: when they come back in
// what the program prints, and the answers to that do too, the program shows the
// terminal it is in. A log that is printed brings back old marks, and no answers.

const (
	// loopHits is how many marks in a row must come back: more than somebody gets
	// who prints the terminal's log again and again.
	loopHits = 3
	// loopTime is how long each may take: a few round trips of a slow line.
	loopTime = 5 * time.Second
	// loopBytes is how much is printed between two marks where nothing else calls
	// for one: the price of a mark is nothing beside it.
	loopBytes = 64 << 10
	// redrawStart is how the host begins to draw a terminal for whoever attaches
	// (CAN, then DECSET 2026).
	redrawStart = "\x18\x1b[?2026h"
	// loopPause is the least time between two marks that attaching calls for: a
	// viewer may be drawn for many times in a second.
	loopPause = 100 * time.Millisecond
	// loopSettle is how long what is on its way may still be drawn over the screen
	// before the user is told.
	loopSettle = 500 * time.Millisecond
	// maxRound bounds what follows a mark's key, in bytes.
	maxRound = 10
)

// loopGuard finds out whether the program shows the terminal it is in. It is
// locked with the feed.
type loopGuard struct {
	key    []byte    // what all marks begin with
	round  int       // of the newest mark
	answer int       // the first round that was sent after the last hit
	at     time.Time // when the newest mark was sent
	hits   int       // how many came back in a row
	seen   []byte    // the end of what was scanned, for what is cut
	bytes  int       // printed since the newest mark
	redraw bool      // somebody has attached since
}

// finding is what a loopGuard has found.
type finding int

const (
	nothing    finding = iota
	suspicious         // a mark is to be placed
	looping
)

// newLoopGuard returns one whose marks nobody else's are like.
//
// A mark is TBC, "CSI Ps g", of a kind that no standard knows (ECMA-48 section
// 8.3.154 has 0 to 5), which every terminal ignores, and hosts pass on.
func newLoopGuard() loopGuard {
	const first, kinds = 20000, 40000 // two bytes, in terminals that count so far only
	n := func() int { return first + rand.IntN(kinds) }
	return loopGuard{key: fmt.Appendf(nil, "\x1b[%d;%d;%d;", n(), n(), n()), answer: 1}
}

// mark returns the next mark to send.
func (g *loopGuard) mark(now time.Time) []byte {
	g.round++
	g.at, g.bytes, g.redraw = now, 0, false
	return fmt.Appendf(nil, "%s%dg", g.key, g.round)
}

// scan looks at what the program prints. p is not kept.
func (g *loopGuard) scan(p []byte, now time.Time) finding {
	g.bytes += len(p)
	g.seen = append(g.seen, p...)
	for rest := g.seen; ; {
		i := bytes.Index(rest, g.key)
		if i < 0 {
			break
		}
		rest = rest[i+len(g.key):]
		digits, _, whole := bytes.Cut(rest[:min(len(rest), maxRound)], []byte{'g'})
		if round, err := strconv.Atoi(string(digits)); whole && err == nil && round >= g.answer && round <= g.round {
			return g.back(now)
		}
	}
	g.redraw = g.redraw || bytes.Contains(g.seen, []byte(redrawStart))
	g.seen = g.seen[:copy(g.seen, g.seen[max(0, len(g.seen)-len(g.key)-maxRound):])]
	switch since := now.Sub(g.at); {
	case g.redraw && since >= loopPause, g.bytes >= loopBytes && since >= loopTime && bytes.HasSuffix(p, []byte{'\n'}):
		return suspicious
	}
	return nothing
}

// back notes that a mark has come back which was sent after the last one that did.
func (g *loopGuard) back(now time.Time) finding {
	if now.Sub(g.at) >= loopTime {
		g.hits = 0
	}
	g.seen = g.seen[:0]
	g.answer = g.round + 1
	if g.hits++; g.hits < loopHits {
		return suspicious
	}
	g.hits = 0
	return looping
}

// guard does what a finding calls for. The feed is locked.
func (f *feed) guard(found finding) {
	switch {
	case f.paused || found == nothing:
	case found == looping:
		f.between(func() {
			if !f.paused {
				f.pause()
				f.late = time.AfterFunc(loopSettle, func() {
					f.notify(`sharing is paused, because this terminal is shown inside itself: leave that, then Ctrl-\ p goes on`)
				})
			}
		})
	default:
		f.between(f.placeMark)
	}
}

// placeMark puts a mark into what watchers are sent.
func (f *feed) placeMark() {
	if !f.paused {
		f.output(f.loop.mark(time.Now()))
	}
}
