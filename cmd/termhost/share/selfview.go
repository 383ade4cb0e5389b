package share

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

// If somebody attaches to a shared terminal from inside that very terminal, what it shows is sent
// to the host, comes back, is shown and sent again, without end. To detect this, share adds probes
// to its output: sequences that show nothing. If a probe comes back in the program's output, and a
// probe sent in reply comes back too, the program shows the terminal it runs in. A printed log
// brings back old probes, but never a new one.

const (
	// probeReplies is how many probes in a row must come back, each sent after the one before
	// it came back. Printing the terminal's log again and again brings back fewer.
	probeReplies = 3
	// probeTime is how long each may take: a few round trips of a slow line.
	probeTime = 5 * time.Second
	// probeBytes is how much is printed between two probes when nothing else calls for one.
	// Compared with that a probe costs nothing.
	probeBytes = 64 << 10
	// redrawStart is how a redraw that the host sends to a new viewer begins (CAN, DECSET 2026).
	redrawStart = "\x18\x1b[?2026h"
	// probePause is the least time between two probes sent because of a redraw: the host may
	// redraw many times a second.
	probePause = 100 * time.Millisecond
	// settleTime is how long the user is not told yet, because output that is on its way may
	// still be drawn over the notice.
	settleTime = 500 * time.Millisecond
	// maxRound is the most bytes that may follow a probe's key.
	maxRound = 10
	// maxParameter is the largest number that a host passes on in a control sequence.
	maxParameter = 9999
)

// selfView detects that the program shows the terminal it runs in. It is guarded by tee.mu.
type selfView struct {
	key    []byte    // what all probes begin with
	round  int       // number of the newest probe
	reply  int       // number of the first probe sent after the last one that came back
	sent   time.Time // when the newest probe was sent
	hits   int       // how many came back in a row
	tail   []byte    // the end of what was scanned: the beginning of a sequence may be in it
	bytes  int       // printed since the newest probe
	redraw bool      // the host has redrawn a terminal since the newest probe
}

// finding is what selfView has found.
type finding int

const (
	nothing    finding = iota
	suspicious         // send a probe
	looping
)

// newSelfView returns a selfView whose probes differ from everybody else's.
//
// A probe is the sequence TBC, "CSI Ps g", with parameters that no standard defines (ECMA-48
// section 8.3.154 defines 0 to 5). Every terminal ignores it, and hosts pass it on. They clamp
// parameters, so none is larger than maxParameter.
func newSelfView() selfView {
	const first = 1000
	n := func() int { return first + rand.IntN(maxParameter+1-first) }
	return selfView{key: fmt.Appendf(nil, "\x1b[%d;%d;%d;%d;", n(), n(), n(), n()), reply: 1}
}

// probe returns the next probe to send.
func (v *selfView) probe(now time.Time) []byte {
	v.round++
	v.sent, v.bytes, v.redraw = now, 0, false
	const base = maxParameter + 1
	return fmt.Appendf(nil, "%s%d;%dg", v.key, v.round/base, v.round%base)
}

// roundOf returns the round of the probe whose key comes before text; ok is false if there is none.
func roundOf(text []byte) (round int, ok bool) {
	digits, _, whole := bytes.Cut(text[:min(len(text), maxRound)], []byte{'g'})
	high, low, _ := bytes.Cut(digits, []byte{';'})
	h, err := strconv.Atoi(string(high))
	l, err2 := strconv.Atoi(string(low))
	return h*(maxParameter+1) + l, whole && err == nil && err2 == nil
}

// scan looks for probes in what the program prints. p is not kept.
func (v *selfView) scan(p []byte, now time.Time) finding {
	v.bytes += len(p)
	v.tail = append(v.tail, p...)
	for rest := v.tail; ; {
		i := bytes.Index(rest, v.key)
		if i < 0 {
			break
		}
		rest = rest[i+len(v.key):]
		if round, ok := roundOf(rest); ok && round >= v.reply && round <= v.round {
			return v.cameBack(now)
		}
	}
	v.redraw = v.redraw || bytes.Contains(v.tail, []byte(redrawStart))
	keep := v.tail[max(0, len(v.tail)-len(v.key)-maxRound):]
	v.tail = v.tail[:copy(v.tail, keep)]
	since := now.Sub(v.sent)
	manyLines := v.bytes >= probeBytes && bytes.HasSuffix(p, []byte{'\n'})
	if since >= probePause && (v.redraw || manyLines) {
		return suspicious
	}
	return nothing
}

// cameBack counts a probe that has come back and was sent after the one that came back before.
func (v *selfView) cameBack(now time.Time) finding {
	if now.Sub(v.sent) >= probeTime {
		v.hits = 0
	}
	v.tail = v.tail[:0]
	v.reply = v.round + 1
	if v.hits++; v.hits < probeReplies {
		return suspicious
	}
	v.hits = 0
	return looping
}

// act does what a finding calls for: it sends a probe, or pauses sharing. tee.mu is held.
func (t *tee) act(found finding) {
	switch {
	case t.paused || found == nothing:
	case found == looping:
		t.between(func() {
			if !t.paused {
				t.pause()
				t.late = time.AfterFunc(settleTime, func() {
					t.notify(`sharing is paused, because this terminal is shown inside itself: ` +
						`leave that, then Ctrl-\ p goes on`)
				})
			}
		})
	default:
		t.between(t.sendProbe)
	}
}

// sendProbe adds a probe to what watchers are sent.
func (t *tee) sendProbe() {
	if !t.paused {
		t.output(t.selfView.probe(time.Now()))
	}
}
