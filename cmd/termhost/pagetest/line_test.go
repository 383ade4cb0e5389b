package pagetest

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"termhost/ahp/hosttest"
)

// slowLine is a way to a host with a delay and a rate, as a radio or a modem has: all connections
// share it, and what comes faster waits in a queue without end.
type slowLine struct {
	net.Listener
	to    string
	up    lane
	down  lane
	total atomic.Int64 // bytes that have come down
}

// lane is one direction of a line.
type lane struct {
	delay time.Duration
	rate  float64 // bytes a second; 0: no limit

	mu   sync.Mutex
	free time.Time // when all has left that was sent so far
}

// arrival returns when n bytes arrive that are sent now.
func (l *lane) arrival(n int) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.free.Before(now) {
		l.free = now
	}
	if l.rate > 0 {
		l.free = l.free.Add(time.Duration(float64(n) / l.rate * float64(time.Second)))
	}
	return l.free.Add(l.delay)
}

// newSlowLine listens for connections to a host. trip is how long the way there and back takes, and
// rate how many bytes a second come down; up it is as fast.
func newSlowLine(t testing.TB, to string, trip time.Duration, rate float64) *slowLine {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	hosttest.Check(t, err)
	s := &slowLine{Listener: l, to: to, up: lane{delay: trip / 2, rate: rate},
		down: lane{delay: trip / 2, rate: rate}}
	var running sync.WaitGroup
	var mu sync.Mutex
	ends := map[net.Conn]bool{}
	keep := func(c net.Conn) {
		mu.Lock()
		defer mu.Unlock()
		ends[c] = true
	}
	running.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			keep(near)
			running.Go(func() {
				defer near.Close()
				time.Sleep(trip) // which it takes to connect
				far, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				keep(far)
				defer far.Close()
				var both sync.WaitGroup
				both.Go(func() { s.up.pass(far, near, nil) })
				both.Go(func() { s.down.pass(near, far, &s.total) })
				both.Wait()
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for c := range ends {
			c.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	return s
}

// packet is how much the line carries at once, in bytes.
const packet = 1400

// pass passes on what comes, with the lane's delay, until either end ends.
func (l *lane) pass(to, from net.Conn, total *atomic.Int64) {
	defer to.Close()
	type piece struct {
		data []byte
		at   time.Time
	}
	queue := make(chan piece, 1<<16)
	go func() {
		defer close(queue)
		for {
			data := make([]byte, packet)
			n, err := from.Read(data)
			if n > 0 {
				queue <- piece{data[:n], l.arrival(n)}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range queue {
		time.Sleep(time.Until(p.at))
		if _, err := to.Write(p.data); err != nil {
			from.Close()
			_, _ = io.Copy(io.Discard, from)
			for range queue {
			}
			return
		}
		if total != nil {
			total.Add(int64(len(p.data)))
		}
	}
}
