package sshd

import (
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ptypool/ticks"
)

// keepaliveMisses is how many intervals a peer may let pass without an answer: with the default
// interval a dead one is gone within a minute.
const keepaliveMisses = 3

// keepalive begins to ask the peer for signs of life: see established. A connection without
// channels and requests is watched by TCP's own keepalive.
func (c *conn) keepalive(sc *gossh.ServerConn) {
	if c.cfg.KeepaliveInterval > 0 {
		c.askLater(sc)
	}
}

// askLater asks when an interval has passed. There is a goroutine only while an answer is awaited.
func (c *conn) askLater(sc *gossh.ServerConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.next = time.AfterFunc(ticks.Wait(c.cfg.KeepaliveInterval), func() { c.ask(sc) })
	}
}

// ask sends one request and waits for the answer.
func (c *conn) ask(sc *gossh.ServerConn) {
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		return
	}
	c.background.Add(1)
	c.mu.Unlock()
	defer c.background.Done()
	defer c.recovered("keeping a connection alive")
	late := time.AfterFunc(keepaliveMisses*c.cfg.KeepaliveInterval, func() {
		c.log.Info("connection closed: no answer to keepalives")
		c.nc.Close()
	})
	defer late.Stop()
	// Any answer is a sign of life, a refusal too (RFC 4254 section 4).
	if _, _, err := sc.SendRequest("keepalive@openssh.com", true, nil); err == nil {
		c.askLater(sc)
	}
}
