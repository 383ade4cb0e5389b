package sshd

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"

	"charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// sshSession is one SSH session: a channel of type "session" (RFC 4254 section
// 6). One goroutine, requests, answers what the peer asks for and waits for
// nothing else; what was asked for runs on another.
type sshSession struct {
	c              *conn
	ch             gossh.Channel
	stdout, stderr *outlet

	// ctx ends with the channel or the connection; the cause may be shown.
	ctx    context.Context
	cancel context.CancelCauseFunc

	// Set by requests before run starts, then read-only.
	pty     *ptyRequest // nil: none
	env     []string    // NAME=value, accepted ones only
	started bool

	running   sync.WaitGroup // run and what it starts
	finishing atomic.Bool    // finish has been called

	signals chan syscall.Signal // what nobody reads is dropped
	resized chan struct{}       // 1 deep: window has changed

	mu     sync.Mutex // a leaf
	window window
}

// window is a size in cells.
type window struct{ cols, rows int }

// signalBacklog is how many signals wait for a busy SSH session; a person
// presses one key at a time.
const signalBacklog = 8

// errChannelClosed ends an SSH session whose channel the peer has closed.
var errChannelClosed = errors.New("the channel was closed by the peer")

// sessionChannel serves a channel of type "session".
func (c *conn) sessionChannel(_ *ssh.Server, sc *gossh.ServerConn, nch gossh.NewChannel, _ ssh.Context) {
	defer c.recovered("serving an SSH session")
	c.keepalive(sc)
	if refusal := c.enter(&c.sessions, c.srv.cfg.MaxSessions, true); refusal != "" {
		_ = nch.Reject(gossh.ResourceShortage, refusal)
		return
	}
	defer c.leave(&c.sessions)
	ch, reqs, err := nch.Accept()
	if err != nil {
		return
	}
	s := newSSHSession(c, ch)
	s.ctx, s.cancel = context.WithCancelCause(c.ctx)
	defer s.running.Wait()
	defer s.cancel(errChannelClosed)
	s.requests(reqs)
}

func newSSHSession(c *conn, ch gossh.Channel) *sshSession {
	s := &sshSession{c: c, ch: ch, signals: make(chan syscall.Signal, signalBacklog), resized: make(chan struct{}, 1)}
	s.stdout = &outlet{w: ch}
	s.stderr = &outlet{w: ch.Stderr()}
	return s
}

// requests answers the peer's requests until the channel ends.
func (s *sshSession) requests(reqs <-chan *gossh.Request) {
	for req := range reqs {
		ok, run := s.request(req)
		_ = req.Reply(ok, nil) // fails with the connection
		if run != nil {
			s.running.Go(func() {
				defer s.c.recovered("running an SSH session")
				s.finish(run())
			})
		}
	}
}

// request decides about one request. run, if not nil, is what it starts; its
// result is the exit status.
func (s *sshSession) request(req *gossh.Request) (ok bool, run func() int) {
	if s.ctx.Err() != nil {
		return false, nil // the connection is being closed
	}
	switch req.Type {
	case "window-change":
		return s.windowChange(req.Payload), nil
	case "signal":
		return s.signal(req.Payload), nil
	case "pty-req", "env", "shell", "exec", "subsystem":
		if s.started {
			return false, nil
		}
	default: // agent and X11 forwarding among them
		return false, nil
	}
	switch req.Type {
	case "pty-req":
		return s.ptyReq(req.Payload), nil
	case "env":
		return s.setEnv(req.Payload), nil
	case "shell":
		if len(req.Payload) > 0 {
			return false, nil
		}
		run = s.shell
	default:
		value, valid := stringPayload(req.Payload)
		switch {
		case !valid:
			return false, nil
		case req.Type == "exec":
			run = func() int { return s.exec(value) }
		case value == "ahp":
			run = s.subsystem
		case value == "sftp":
			// scp and sftp say no more than "subsystem request failed"
			// unless they are let in and told.
			run = func() int { return s.invoke().unknown(value, value) }
		default:
			return false, nil
		}
	}
	s.started = true
	return true, run
}

// finish ends the channel: the exit status, the end of the output, the close, in
// this order (RFC 4254 sections 6.10 and 5.3; OpenSSH's client takes the status
// of a channel that is closed first for 255).
// Only the first call counts.
func (s *sshSession) finish(status int) {
	if s.finishing.Swap(true) {
		return
	}
	payload := struct{ Status uint32 }{uint32(status)}
	_, _ = s.ch.SendRequest("exit-status", false, gossh.Marshal(&payload))
	// x/crypto does not guard the end of output against a write. A peer that
	// keeps one waiting gets the close alone.
	if s.stdout.mu.TryLock() {
		if s.stderr.mu.TryLock() {
			_ = s.ch.CloseWrite()
			s.stderr.mu.Unlock()
		}
		s.stdout.mu.Unlock()
	}
	_ = s.ch.Close()
}

// size returns the viewer's window; zero without a pty.
func (s *sshSession) size() window {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.window
}

// windowChange remembers the newest window; older ones that nobody has read are
// of no use to anybody.
func (s *sshSession) windowChange(payload []byte) bool {
	var msg struct{ Cols, Rows, Width, Height uint32 }
	if s.pty == nil || gossh.Unmarshal(payload, &msg) != nil {
		return false
	}
	s.mu.Lock()
	s.window = clampWindow(msg.Cols, msg.Rows)
	s.mu.Unlock()
	select {
	case s.resized <- struct{}{}:
	default:
	}
	return true
}

func (s *sshSession) signal(payload []byte) bool {
	name, ok := stringPayload(payload)
	sig, known := signalNumber(name)
	if !ok || !known || !s.started {
		return false
	}
	select {
	case s.signals <- sig:
	default: // nobody reads them
	}
	return true
}
