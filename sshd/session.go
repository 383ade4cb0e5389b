package sshd

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"

	"charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/sshd/typed"
	"termhost/sshd/verbs"
	"termhost/sshd/wire"
)

// sshSession is one SSH session: a channel of type "session" (RFC 4254 section 6). One goroutine,
// requests, answers what the peer asks for and waits for nothing else. What was asked for runs on
// another.
type sshSession struct {
	c              *conn
	sc             *gossh.ServerConn
	ch             gossh.Channel
	in             *inlet // of ch
	stdout, stderr *output

	// ctx ends with the channel or the connection; the cause may be shown to the peer.
	ctx    context.Context
	cancel context.CancelCauseFunc

	// Set by requests before anything is started, then read-only.
	pty     *ptyRequest   // nil: none
	env     []string      // NAME=value, accepted ones only
	dir     string        // where the peer is on this machine; "": elsewhere, or it has not said
	config  string        // see wire.ConfigVariable; likewise
	agent   bool          // the peer's agent is forwarded
	arrival *wire.Arrival // see wire.Arrives; nil: the other host has not said
	listed  bool          // see wire.Listed
	counts  bool          // the peer wants to know what of its input has been taken
	typed   *typed.Reader // of in: see wire.Typed; nil: that is what was typed
	started bool          // a shell, a command or a subsystem

	running   sync.WaitGroup // all that was started, also with Go
	finishing atomic.Bool    // finish has been called

	outputEnded bool // the peer was told so; guarded by stdout.mu and stderr.mu together

	signals chan syscall.Signal // those that nobody reads are dropped
	resized chan struct{}       // 1 deep: window has changed
	refused chan struct{}       // closed by requests: see OutputRefused

	elsewhere *verbs.Count // see wire.WantElsewhere

	mu     sync.Mutex // nothing is locked under it
	window verbs.Window
}

// signalBacklog is how many signals wait for a busy SSH session: a person presses one key at a
// time.
const signalBacklog = 8

// sessionChannel serves a channel of type "session".
func (c *conn) sessionChannel(_ *ssh.Server, sc *gossh.ServerConn, nch gossh.NewChannel,
	_ ssh.Context) {
	defer c.recovered("serving an SSH session")
	c.established(sc)
	if refusal := c.enter(&c.sessions, c.cfg.MaxSessions, true); refusal != "" {
		_ = nch.Reject(gossh.ResourceShortage, refusal)
		return
	}
	defer c.leave(&c.sessions)
	ch, reqs, err := nch.Accept()
	if err != nil {
		return
	}
	s := newSSHSession(c, ch)
	s.sc = sc
	defer s.running.Wait()
	defer s.in.close()
	s.Go("discarding error output", s.in.discardErrors)
	defer s.cancel(verbs.ErrHungUp)
	s.requests(reqs)
}

func newSSHSession(c *conn, ch gossh.Channel) *sshSession {
	s := &sshSession{
		c:       c,
		ch:      ch,
		stdout:  &output{w: ch},
		stderr:  &output{w: ch.Stderr()},
		signals: make(chan syscall.Signal, signalBacklog),
		resized: make(chan struct{}, 1),
		refused: make(chan struct{}),

		elsewhere: verbs.NewCount(),
	}
	s.stdout.refused = s.refused
	s.ctx, s.cancel = context.WithCancelCause(c.ctx)
	s.in = c.in.open(ch, func() { s.cancel(errUnread) })
	return s
}

// finish ends the channel: the exit status or signal, the end of the output, the close, in this
// order (RFC 4254 sections 6.10 and 5.3). OpenSSH's client exits with 255 if the close comes before
// the status, or if there is a signal. Only the first call counts. It is called on a goroutine of
// the SSH session.
func (s *sshSession) finish(end verbs.Exit) {
	if s.finishing.Swap(true) {
		return
	}
	s.awaitProofs()
	s.sendDismissed()
	s.sendExit(end)
	s.EndOutput()
	_ = s.ch.Close()
	s.DiscardInput() // until the peer has closed its side as well
}

// sendDismissed tells another host that its peer's login has ended, but not this host.
func (s *sshSession) sendDismissed() {
	why := context.Cause(s.ctx)
	if s.c.carried == nil || why == nil {
		return
	}
	for _, other := range []error{verbs.ErrHungUp, errPeerGone, errShutdown, host.ErrClosed,
		host.ErrLeaving} {
		if errors.Is(why, other) {
			return
		}
	}
	_, _ = s.ch.SendRequest(wire.Dismissed, false, nil)
}

// sendExit tells the peer how what it has run has ended.
func (s *sshSession) sendExit(end verbs.Exit) {
	if end.Signal == 0 {
		payload := struct{ Status uint32 }{uint32(end.Status)}
		_, _ = s.ch.SendRequest("exit-status", false, gossh.Marshal(&payload))
		return
	}
	payload := struct {
		Name           string
		Core           bool
		Text, Language string
	}{Name: wire.SignalName(end.Signal), Core: end.Core}
	_, _ = s.ch.SendRequest("exit-signal", false, gossh.Marshal(&payload))
}
