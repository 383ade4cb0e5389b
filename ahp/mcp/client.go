package mcp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"termhost/ahp/host"
)

// client is the server's memory of an MCP client over its connections: its places in the output,
// and the calls without an answer.
type client struct {
	mu      sync.Mutex
	used    time.Time
	conns   int
	cursors map[string]int64    // behind what was read, by the terminal's ID
	lost    []lostCall          // the oldest first
	typed   []*decision         // what waits for a person, or was decided and is still to be told
	shells  map[string]struct{} // terminals in which the client runs a command at present
	asked   map[string]int64    // where the output ended at a prompt that it knows
}

// lostCall is a call whose answer did not arrive.
type lostCall struct {
	id, terminal string // the terminal's
	what         string // the tool, and what it ran
	told         bool   // a result has said so
}

// maxLost bounds the calls and the decisions that are remembered for a client, maxCursors the
// terminals, and maxClients the clients that are not connected.
const (
	maxLost    = 32
	maxCursors = 1024
	maxClients = 1024
)

// clients are the clients of a server.
type clients struct {
	mu   sync.Mutex
	byID map[string]*client
}

// connected returns the client with a clientId, for a connection.
func (c *clients) connected(id string) *client {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil {
		c.byID = map[string]*client{}
	}
	cl := c.byID[id]
	if cl == nil {
		c.forget()
		cl = &client{cursors: map[string]int64{},
			shells: map[string]struct{}{}, asked: map[string]int64{}}
		c.byID[id] = cl
	}
	cl.conns++
	return cl
}

// left is called when a connection of a client ends.
func (c *clients) left(cl *client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cl.conns--
	cl.used = time.Now()
}

// forget makes room for another client.
func (c *clients) forget() {
	if len(c.byID) < maxClients {
		return
	}
	away := slices.DeleteFunc(slices.Collect(maps.Keys(c.byID)),
		func(id string) bool { return c.byID[id].conns > 0 })
	slices.SortFunc(away, func(a, b string) int { return c.byID[a].used.Compare(c.byID[b].used) })
	for _, id := range away[:len(away)/2] {
		delete(c.byID, id)
	}
}

// cursor returns where the client's next read of a terminal begins.
func (c *client) cursor(t *host.Terminal) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cursors[t.ID()]
}

// read records that the client has read a terminal up to a cursor, and so what a call did there
// whose answer was lost.
func (c *client) read(t *host.Terminal, cursor int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.cursors) >= maxCursors {
		clear(c.cursors) // which only has the next reads begin at the beginning
	}
	c.cursors[t.ID()] = max(c.cursors[t.ID()], cursor)
	c.lost = slices.DeleteFunc(c.lost, func(l lostCall) bool { return l.id == t.ID() })
}

// prompted records that the client was told that a program asks for something, with the output up
// to a position.
func (c *client) prompted(t *host.Terminal, end int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.asked) >= maxCursors {
		clear(c.asked)
	}
	c.asked[t.ID()] = end
}

// knows reports whether the client was told of the prompt with which the output ends.
func (c *client) knows(t *host.Terminal, end int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, told := c.asked[t.ID()]
	return told && at == end
}

// lose records that the answer of a call did not arrive.
func (c *client) lose(t *host.Terminal, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = slices.DeleteFunc(c.lost, func(l lostCall) bool { return l.id == t.ID() })
	if len(c.lost) >= maxLost {
		c.lost = c.lost[1:]
	}
	c.lost = append(c.lost, lostCall{id: t.ID(), terminal: t.Name(), what: what})
}

// untold returns the lost calls that no result has told of yet, and records that one does.
func (c *client) untold() (list []lostCall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.lost {
		if !c.lost[i].told {
			c.lost[i].told = true
			list = append(list, c.lost[i])
		}
	}
	return list
}

// lostIn returns what the call in a terminal was whose answer was lost; "": there is none.
func (c *client) lostIn(t *host.Terminal) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lost {
		if l.id == t.ID() {
			return l.what
		}
	}
	return ""
}

// enter reports whether the client runs no command in a shell yet, and records that it does now.
func (c *client) enter(t *host.Terminal) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, busy := c.shells[t.ID()]
	c.shells[t.ID()] = struct{}{}
	return !busy
}

// leave ends enter.
func (c *client) leave(t *host.Terminal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.shells, t.ID())
}

// decision is what a person decides about something that a call types or starts.
type decision struct {
	id   string        // the terminal's
	what string        // that is to be typed or started
	does string        // "typed" or "started"
	done chan struct{} // closed when it is decided
	err  error         // why not; nil: it was typed or started; errInternal: nobody knows
	by   string        // who has approved it, such as "approved by ana"; "": nobody had to
}

// decided reports whether somebody has decided.
func (d *decision) decided() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// text says how the decision went.
func (d *decision) text() string {
	switch {
	case errors.Is(d.err, errInternal):
		return fmt.Sprintf("It is not known whether %s was %s.", d.what, d.does)
	case d.err != nil:
		why := strings.TrimPrefix(reason(d.err), "not started: ") // see [host.NotStartedError]
		return fmt.Sprintf("%s was not %s: %s.", d.what, d.does, why)
	case d.by == "":
		return fmt.Sprintf("%s was %s.", d.what, d.does)
	}
	return fmt.Sprintf("%s was %s and %s.", d.what, d.by, d.does)
}

// waits records that something waits for a person, and that no call does.
func (c *client) waits(d *decision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.typed) >= maxLost {
		c.typed = c.typed[1:]
	}
	c.typed = append(c.typed, d)
}

// pending returns what waits for a person in a terminal, or was decided since the last result,
// which comes first; nil: nothing.
func (c *client) pending(t *host.Terminal) (found *decision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.typed {
		if d.id == t.ID() && (found == nil || d.decided() && !found.decided()) {
			found = d
		}
	}
	return found
}

// decided returns what has been decided since the last result, and forgets it.
func (c *client) decided() (list []*decision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.typed = slices.DeleteFunc(c.typed, func(d *decision) bool {
		if d.decided() {
			list = append(list, d)
			return true
		}
		return false
	})
	return list
}
