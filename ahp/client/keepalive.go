package client

import (
	"encoding/json"
	"errors"
	"time"

	"termhost/ahp"
)

// errSilent is why a link ends on which the host says nothing any more.
var errSilent = errors.New("client: the host does not answer")

// silences is how many times Config.Keepalive the host may be silent, as ssh has
// it (ServerAliveCountMax).
const silences = 3

// keepAlive asks the host for a sign of life whenever nothing came for a while,
// and closes a link on which none comes. Ticks are counted rather than time
// measured: a machine that sleeps does not lose its connections by that.
func (c *Client) keepAlive(l *link) {
	tick := time.NewTicker(c.cfg.Keepalive)
	defer tick.Stop()
	for quiet := 0; ; {
		select {
		case <-tick.C:
		case <-l.ended:
			return
		}
		if l.heard.Swap(false) {
			quiet = 0
			continue
		}
		if quiet++; quiet > silences {
			l.silent.Store(true)
			l.t.Close(errSilent.Error())
			return
		}
		c.beat(l)
	}
}

// beat sends a ping, whose answer need not be waited for. A queue that is full is
// being written, or not: either is noticed without one.
func (c *Client) beat(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.over {
		return
	}
	c.nextID++
	ping, err := json.Marshal(request{Version: "2.0", ID: c.nextID, Method: "ping", Params: channelParams{ahp.RootURI}})
	if err != nil {
		return // it has no part that could fail
	}
	select {
	case l.out <- ping:
	default:
	}
}
