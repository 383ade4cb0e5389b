package rpc

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// track is a line of some rate and delay, in a time of its own, to a peer that acknowledges what
// has come at most every 50 ms.
type track struct {
	rate  float64       // bytes a second
	delay time.Duration // there and back

	now, free time.Time // free: when all has passed that was sent
	flight    []passing
	pending   int64 // arrived and not acknowledged
	due       time.Time
}

type passing struct {
	bytes int64
	at    time.Time
}

// send has bytes arrive when those before them have, and the delay is over.
func (k *track) send(bytes int64) {
	if k.free.Before(k.now) {
		k.free = k.now
	}
	k.free = k.free.Add(time.Duration(float64(bytes) / k.rate * float64(time.Second)))
	k.flight = append(k.flight, passing{bytes, k.free.Add(k.delay)})
}

// step goes on by a millisecond.
func (k *track) step(l *line) {
	k.now = k.now.Add(time.Millisecond)
	for len(k.flight) > 0 && !k.flight[0].at.After(k.now) {
		k.pending += k.flight[0].bytes
		k.flight = k.flight[1:]
	}
	if k.pending > 0 && !k.now.Before(k.due) {
		l.ack(k.pending, k.now)
		k.pending, k.due = 0, k.now.Add(50*time.Millisecond)
	}
}

// flood sends for some time whatever there is room for, in pieces of 4 KiB, and returns how long
// the queue on the line was for nine tenths of the last half of that, and how much was delivered of
// what the line carries.
func (k *track) flood(l *line, d time.Duration) (queue time.Duration, used float64) {
	begun := k.now
	var half int64
	var queues []time.Duration
	for end := k.now.Add(d); k.now.Before(end); k.step(l) {
		if k.now.Sub(begun) == d/2 {
			half = l.acked
		}
		for l.left() > 0 {
			l.send(4<<10, k.now)
			k.send(4 << 10)
		}
		if k.now.Sub(begun) > d/2 {
			queues = append(queues, k.free.Sub(k.now))
		}
	}
	slices.Sort(queues)
	return queues[len(queues)*9/10], float64(l.acked-half) / (k.rate * d.Seconds() / 2)
}

// On lines of all kinds output waits for little other output, and the line is used well.
func TestALineIsFullAndHasNoQueue(t *testing.T) {
	for _, c := range []struct {
		rate  float64
		delay time.Duration
	}{
		{50e3, 400 * time.Millisecond}, {50e3, 800 * time.Millisecond}, {20e3, 100 * time.Millisecond},
		{200e3, 50 * time.Millisecond}, {1e6, 300 * time.Millisecond}, {1e6, 5 * time.Millisecond},
	} {
		t.Run(fmt.Sprintf("%.0fkB per s, %s", c.rate/1e3, c.delay), func(t *testing.T) {
			l := newLine(384 << 10)
			k := &track{rate: c.rate, delay: c.delay, now: time.Unix(1e9, 0)}
			queue, used := k.flood(l, time.Minute)
			t.Logf("a queue of %s, %.0f%% used, room for %d", queue, used*100, l.room)
			// Acknowledgements come in bunches, and so goes what they make room for.
			if most := 3*queueTime + time.Duration(8<<10/c.rate*1e9); queue > most {
				t.Errorf("output waits for %s of other output, at most %s are good", queue, most)
			}
			if used < 0.7 {
				t.Errorf("%.0f%% of the line are used", used*100)
			}
		})
	}
}

// A line whose rate or delay changes is measured anew.
func TestALineThatChangesIsMeasuredAnew(t *testing.T) {
	l := newLine(384 << 10)
	k := &track{rate: 2e6, delay: 20 * time.Millisecond, now: time.Unix(1e9, 0)}
	k.flood(l, 20*time.Second)
	k.rate, k.delay = 50e3, 400*time.Millisecond
	if queue, used := k.flood(l, time.Minute); queue > time.Second || used < 0.7 {
		t.Errorf("on a slower line there is a queue of %s, and %.0f%% are used", queue, used*100)
	}
	if got, ok := l.delivers(time.Second); !ok || got < 40e3 || got > 65e3 {
		t.Errorf("it delivers %d bytes a second, known: %t", got, ok)
	}
	k.rate, k.delay = 2e6, 20*time.Millisecond
	if queue, used := k.flood(l, time.Minute); queue > time.Second || used < 0.7 {
		t.Errorf("on a faster line there is a queue of %s, and %.0f%% are used", queue, used*100)
	}
}

// Keys that are echoed one by one say nothing of what the line could carry.
func TestALineOfFewKeysIsNotSlow(t *testing.T) {
	l := newLine(384 << 10)
	k := &track{rate: 1e6, delay: 30 * time.Millisecond, now: time.Unix(1e9, 0)}
	for range 200 {
		l.send(1, k.now)
		k.send(1)
		for range 100 {
			k.step(l)
		}
	}
	if got, ok := l.delivers(time.Second); ok || l.room < startRoom {
		t.Errorf("it delivers %d bytes a second, and has room for %d", got, l.room)
	}
}

// A peer that acknowledges more than it was sent, or nothing, has a line as any other.
func TestALineOfAPeerThatCountsWrongly(t *testing.T) {
	now := time.Unix(1e9, 0)
	l := newLine(384 << 10)
	l.ack(1<<40, now)
	l.send(20<<10, now)
	l.ack(1<<62, now)
	if l.left() <= 0 || l.acked != l.sent || len(l.marks) != 0 {
		t.Errorf("there is room for %d; %d of %d are acknowledged", l.left(), l.acked, l.sent)
	}
	for i := range 100_000 {
		l.send(1, now.Add(time.Duration(i)))
	}
	if len(l.marks) > 1 {
		t.Errorf("%d marks were made in a tenth of a millisecond", len(l.marks))
	}
	l.empty()
	if l.left() <= 0 {
		t.Error("it waits for what does not come")
	}
}
