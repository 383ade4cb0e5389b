package client

import (
	"encoding/json"
	"errors"
	"time"

	"termhost/ahp"
)

// errSilent ends a connection on which the host has stopped sending.
var errSilent = errors.New("client: the host does not answer")

// silences is for how many intervals of Config.Keepalive the host may be silent,
// as ssh's ServerAliveCountMax.
const silences = 3

// keepAlive asks the host for a sign of life when nothing came for an interval, and
// closes a connection on which none comes. It counts ticks and does not measure
// time, so that a machine does not lose its connections by being asleep.
func (c *Client) keepAlive(conn *connection) {
	tick := time.NewTicker(c.cfg.Keepalive)
	defer tick.Stop()
	for quiet := 0; ; {
		select {
		case <-tick.C:
		case <-conn.ended:
			return
		}
		if conn.heard.Swap(false) {
			quiet = 0
			continue
		}
		if quiet++; quiet > silences {
			conn.silent.Store(true)
			conn.transport.Close(errSilent.Error())
			return
		}
		c.beat(conn)
	}
}

// beat sends a ping. Nobody waits for the answer: that it comes is enough. If the
// queue is full there is no need for a ping: either the queue moves, or the
// transport notices that the host takes nothing.
func (c *Client) beat(conn *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn.over {
		return
	}
	c.nextID++
	ping, err := json.Marshal(request{Version: "2.0", ID: c.nextID, Method: ahp.MethodPing,
		Params: channelParams{ahp.RootURI}})
	if err != nil {
		return // it has no part that could fail
	}
	select {
	case conn.out <- ping:
	default:
	}
}
