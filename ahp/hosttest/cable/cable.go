// Package cable is for tests only: a way for TCP connections on which the network fails.
package cable

import (
	"net"
	"sync"
	"testing"
)

// Cable passes connections on to an address, until it is cut, stalled or loses them. Its methods
// may be called concurrently.
type Cable struct {
	net.Listener
	to      string
	running sync.WaitGroup

	mu      sync.Mutex // a leaf
	changed sync.Cond
	stalled bool
	cut     bool
	age     int // of the connections that Lose has not lost
	open    map[net.Conn]bool
}

// New returns a Cable to an address, which listens on loopback until the test ends.
func New(t testing.TB, to string) *Cable {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &Cable{Listener: l, to: to, open: map[net.Conn]bool{}}
	c.changed.L = &c.mu
	c.running.Go(c.accept)
	t.Cleanup(func() {
		l.Close()
		c.Cut()
		c.running.Wait()
	})
	return c
}

// Cut ends all connections, and those that are made until Mend.
func (c *Cable) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
	for nc := range c.open {
		nc.Close()
	}
	c.changed.Broadcast()
}

// Stall has nothing pass until Mend, and tells nobody.
func (c *Cable) Stall() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stalled = true
}

// Lose has nothing pass any more on the connections that there are, and tells nobody, as a network
// does that has forgotten them. Others pass.
func (c *Cable) Lose() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.age++
}

// Mend ends Cut and Stall.
func (c *Cable) Mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut, c.stalled = false, false
	c.changed.Broadcast()
}

func (c *Cable) accept() {
	for {
		from, err := c.Accept()
		if err != nil {
			return
		}
		c.running.Go(func() { c.connect(from) })
	}
}

func (c *Cable) connect(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp4", c.to)
	if err != nil {
		return
	}
	defer to.Close()
	c.mu.Lock()
	cut, age := c.cut, c.age
	c.open[from], c.open[to] = true, true
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.open, from)
		delete(c.open, to)
	}()
	if cut {
		return
	}
	c.running.Go(func() { c.pass(to, from, age) })
	c.pass(from, to, age)
}

// pass passes on what comes, until one end closes, and closes the other.
func (c *Cable) pass(to, from net.Conn, age int) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		c.mu.Lock()
		for !c.cut && (c.stalled || age < c.age) {
			c.changed.Wait()
		}
		c.mu.Unlock()
		if err != nil {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
