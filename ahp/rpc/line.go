package rpc

import (
	"sync"
	"time"
)

// line is what a peer's acknowledgements tell of the way to it, and how much may be on that way.
//
// As TCP Vegas (Brakmo and Peterson, 1995) it looks for queues: an acknowledgement that comes later
// than the fastest one was behind other output, somewhere in between. While there is no queue the
// room grows by what is acknowledged, which doubles it in a round trip. When there is one, the room
// becomes what the line delivers in a round trip and queueTime. So a key's echo waits in no longer
// queue than that, on whatever line.
type line struct {
	mu sync.Mutex

	most int64 // the peer's window: the room is never larger
	room int64

	sent, acked int64 // in bytes, since the connection began
	ackedAt     time.Time
	marks       []mark // what is on the way, oldest first

	fastest   time.Duration // the shortest round trip of late
	fastestAt time.Time
	probing   bool // the room is leastRoom until the shortest round trip is measured again

	rate float64 // what the line delivers, in bytes a second; 0: more than was sent so far
}

// mark is a piece of output on the way.
type mark struct {
	end     int64 // of all that was sent up to it
	at      time.Time
	acked   int64 // what was acknowledged when it was sent, and when that was
	ackedAt time.Time
	full    bool // it was sent as soon as there was room, so the line was busy
	probe   bool
}

const (
	// leastRoom is about a screen of text with colours, in bytes; startRoom is how much may be on
	// the way before anything is known.
	leastRoom = 8 << 10
	startRoom = 16 << 10
	// queueTime is how long output may wait for other output on the way.
	queueTime = 150 * time.Millisecond
	// fastestFor is how long a round trip counts as the shortest one. Then the line is left to run
	// empty and it is measured again: the way may be another one by now.
	fastestFor = 10 * time.Second
	// markEvery is how far apart marks are.
	markEvery = 2 * time.Millisecond
)

func newLine(most int64) *line { return &line{most: most, room: min(startRoom, most)} }

// left returns how many bytes may be sent now; none if that is not positive.
func (l *line) left() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.roomLocked() - (l.sent - l.acked)
}

func (l *line) roomLocked() int64 {
	if l.probing {
		return min(leastRoom, l.most)
	}
	return l.room
}

// send counts what was written.
func (l *line) send(bytes int64, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sent == l.acked { // the line was empty
		l.ackedAt = now
	}
	l.sent += bytes
	full := l.sent-l.acked >= l.roomLocked()
	if n := len(l.marks); n > 0 && now.Sub(l.marks[n-1].at) < markEvery {
		last := &l.marks[n-1]
		last.end, last.full = l.sent, last.full || full
		return
	}
	l.marks = append(l.marks, mark{end: l.sent, at: now, acked: l.acked, ackedAt: l.ackedAt,
		full: full, probe: l.probing && l.sent-l.acked <= 2*leastRoom})
}

// ack counts what was acknowledged.
func (l *line) ack(bytes int64, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// A peer may count more bytes than the host, which counted invalid UTF-8 as such and not as
	// U+FFFD.
	bytes = min(bytes, l.sent-l.acked)
	l.acked += bytes
	l.ackedAt = now
	arrived := 0
	for arrived < len(l.marks) && l.marks[arrived].end <= l.acked {
		arrived++
	}
	if arrived == 0 {
		return
	}
	m := l.marks[arrived-1]
	l.marks = append(l.marks[:0], l.marks[arrived:]...)
	l.measured(m, bytes, now)
}

// measured learns from the way of a mark.
func (l *line) measured(m mark, bytes int64, now time.Time) {
	trip := max(now.Sub(m.at), time.Millisecond)
	switch {
	case l.fastest == 0, trip <= l.fastest, l.probing && m.probe:
		l.fastest, l.fastestAt, l.probing = trip, now, false
	case now.Sub(l.fastestAt) > fastestFor:
		l.probing = true
	}
	if !m.full {
		return // nothing is known of what else would have fitted
	}
	delivered := float64(l.acked-m.acked) / max(now.Sub(m.ackedAt), time.Millisecond).Seconds()
	switch queued := trip - l.fastest; {
	case queued > queueTime:
		if l.rate == 0 || delivered > l.rate {
			l.rate = delivered
		} else {
			l.rate += (delivered - l.rate) / 8
		}
		l.room = int64(l.rate * (l.fastest + queueTime).Seconds())
	case queued < queueTime/2:
		l.room += bytes
		if l.rate > 0 && delivered > l.rate {
			l.rate = delivered
		}
	}
	l.room = min(max(l.room, leastRoom), l.most)
}

// empty forgets what is on the way: its acknowledgement does not come.
func (l *line) empty() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked, l.marks = l.sent, nil
}

// delivers returns what the line delivers in some time, in bytes; ok: the line is known to be no
// faster.
func (l *line) delivers(in time.Duration) (bytes int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(l.rate * in.Seconds()), l.rate > 0
}
