package sshd

import (
	"charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// enter counts a channel in; count is one of the conn's counters. If there may be no more, refusal
// says why.
func (c *conn) enter(count *int, limit int, session bool) (refusal string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.over, c.ctx.Err() != nil:
		return "the connection is being closed"
	case session && c.sealed && c.opened:
		return "no more SSH sessions were asked for"
	case *count >= limit:
		return "too many channels on this connection; close some or connect again"
	}
	*count++
	c.opened = c.opened || session
	c.channels.Add(1)
	return ""
}

// leave counts a channel out.
func (c *conn) leave(count *int) {
	c.mu.Lock()
	*count--
	c.mu.Unlock()
	c.channels.Done()
}

// noMoreSessions honours a client that promises to open no other SSH session (OpenSSH's PROTOCOL,
// section 2.2). It says so right after it has opened the one that it wants. x/crypto hands requests
// and channels to different goroutines, so that one may come here first; therefore the first SSH
// session is let in all the same.
func (c *conn) noMoreSessions(ctx ssh.Context, _ *ssh.Server, _ *gossh.Request) (bool, []byte) {
	if sc, ok := ctx.Value(ssh.ContextKeyConn).(*gossh.ServerConn); ok {
		c.established(sc) // `ssh -N` may ask for nothing else
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sealed = true
	return true, nil
}
