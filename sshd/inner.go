package sshd

import (
	"context"
	"errors"
	"io"
	"net"

	"termhost/sshd/verbs"
)

var errInner = errors.New("this is SSH inside of SSH already")

// serveSSH serves a whole SSH connection of the same peer on the channel. It is for
// `termhost attach --ssh`: its user's own ssh brings it here, with all that its configuration can
// do, but passes on nothing of package wire. Whatever the peer may do on that connection is decided
// by the same grant, which ends both.
func (s *sshSession) serveSSH() int {
	if s.c.trusted() {
		return s.c.cfg.verbs.Fail(s.ctx, s.caller(), errInner)
	}
	in, theirs := net.Pipe()
	ours, out := net.Pipe()
	over := func() { theirs.Close(); ours.Close() }
	s.Go("carrying SSH inside of SSH", func() {
		_, _ = io.Copy(theirs, s.Stdin())
		theirs.Close()
	})
	copied := make(chan struct{})
	s.Go("carrying SSH inside of SSH", func() {
		defer close(copied)
		_, _ = io.Copy(s.Stdout(), ours)
		over()
	})
	s.c.srv.admit(s.c.forwarded(in, out), origin{outer: s}, func(serve func()) { serve() })
	out.Close()
	<-copied
	return verbs.StatusOK
}

// endWith ends a connection with the channel that it is inside of, for the same reason.
func (c *conn) endWith(s *sshSession) (stop func() bool) {
	return context.AfterFunc(s.ctx, func() { c.end(context.Cause(s.ctx)) })
}
