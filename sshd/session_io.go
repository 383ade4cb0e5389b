package sshd

import (
	"fmt"
	"io"
	"net"
	"syscall"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/sshd/verbs"
	"termhost/sshd/wire"
)

// An sshSession is the verbs.IO of the verb that its peer runs.
var _ verbs.IO = (*sshSession)(nil)

// caller returns the peer as verbs see it.
func (s *sshSession) caller() verbs.Caller {
	c := verbs.Caller{IO: s, Conn: s.c.host, Grant: s.c.grant, Endpoints: s.c.endpoints(),
		Local: s.c.proven != nil, Inner: s.c.outer != nil, Dir: s.dir, Config: s.config,
		ForwardsAgent: s.agent, MCP: s.runMCP}
	if s.c.carried == nil {
		c.Carries = s.carries
	} else {
		c.Carried, c.Shows, c.WantElsewhere = s.c.carried.Host, s.shows, s.elsewhere
		c.Listed = s.listed
		if s.arrival != nil {
			c.Arrives, c.Away = true, s.arrival.Away
		}
	}
	if s.arrival != nil {
		c.Arriving = host.Printable(s.arrival.Text)
	}
	if s.counts {
		c.Taken, c.Shows = s.taken, s.showsClient
	}
	return c
}

// taken is [verbs.Caller.Taken].
func (s *sshSession) taken(bytes uint64, shown bool) {
	_, _, _ = s.sc.SendRequest(wire.InputTaken, false,
		gossh.Marshal(&wire.Taken{Bytes: bytes, Shown: shown}))
}

// shows is [verbs.Caller.Shows].
func (s *sshSession) shows(name string, readOnly bool) {
	_, _ = s.ch.SendRequest(wire.ShowsTerminal, false,
		gossh.Marshal(&wire.Shows{Name: name, ReadOnly: readOnly}))
}

// showsClient is [verbs.Caller.Shows] of a client that is no host.
func (s *sshSession) showsClient(name string, readOnly bool) {
	_, _, _ = s.sc.SendRequest(wire.ShowsTerminal, false,
		gossh.Marshal(&wire.Shows{Name: name, ReadOnly: readOnly}))
}

// endpoints returns both ends of the connection as sshd's SSH_CONNECTION has them, by which
// prompts and editors know that they are used from elsewhere; "" if it is no TCP connection.
func (c *conn) endpoints() string {
	client, ok := c.nc.RemoteAddr().(*net.TCPAddr)
	server, ok2 := c.nc.LocalAddr().(*net.TCPAddr)
	if !ok || !ok2 {
		return ""
	}
	return fmt.Sprintf("%s %d %s %d", client.IP, client.Port, server.IP, server.Port)
}

// Stdin is the channel's input.
func (s *sshSession) Stdin() io.Reader {
	if s.typed != nil {
		return s.typed
	}
	return s.in
}

// notTyped tells the host from which typed messages come how many keys were dropped.
func (s *sshSession) notTyped(keys int) {
	_, _ = s.ch.SendRequest(wire.NotTyped, false, gossh.Marshal(&wire.Keys{Count: uint32(keys)}))
}

// DiscardInput has the channel's input thrown away as it comes.
func (s *sshSession) DiscardInput() { s.Go("discarding input", s.in.discard) }

// Stdout is the channel's output.
func (s *sshSession) Stdout() io.Writer { return s.stdout }

// Stderr is the channel's extended data of type SSH_EXTENDED_DATA_STDERR.
func (s *sshSession) Stderr() io.Writer { return s.stderr }

// Terminal returns what pty-req said.
func (s *sshSession) Terminal() (name string, ok bool) {
	if s.pty == nil {
		return "", false
	}
	return s.pty.term, true
}

// Draws is what pty-req said, too: a terminal without a window may be given one later, for its
// programs only.
func (s *sshSession) Draws() bool { return s.pty != nil && s.pty.draws }

// Modes returns what pty-req said.
func (s *sshSession) Modes() string {
	if s.pty == nil {
		return ""
	}
	return s.pty.modes
}

// Window returns the newest window.
func (s *sshSession) Window() verbs.Window {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.window
}

// Resized gets a value when a window-change has come.
func (s *sshSession) Resized() <-chan struct{} { return s.resized }

// Signals gets what signal requests say.
func (s *sshSession) Signals() <-chan syscall.Signal { return s.signals }

// showRefusals tells the peer why the host does not listen for it. There is nowhere else to say it.
func (s *sshSession) showRefusals() {
	end := "\n"
	if s.pty != nil {
		end = "\r\n"
	}
	for _, text := range s.c.takeRefusals() {
		_, _ = io.WriteString(s.stderr, "termhost: "+host.Printable(text)+end)
	}
}

// Env returns the accepted variables.
func (s *sshSession) Env() []string { return s.env }

// OutputRefused is closed when the client, one of OpenSSH's, has said that it can write no more of
// the channel's output, because its own reader is gone (OpenSSH's PROTOCOL, section 2.1).
func (s *sshSession) OutputRefused() <-chan struct{} { return s.refused }

// RefuseInput says the same of the channel's input to the client. Others than OpenSSH's ignore it.
func (s *sshSession) RefuseInput() { _, _ = s.ch.SendRequest(wire.EndOfWrite, false, nil) }

// EndOutput ends the channel's output. x/crypto does not guard that against a write that is under
// way: if the peer keeps one waiting, it is not told.
func (s *sshSession) EndOutput() {
	if !s.stdout.mu.TryLock() {
		return
	}
	defer s.stdout.mu.Unlock()
	if !s.stderr.mu.TryLock() {
		return
	}
	defer s.stderr.mu.Unlock()
	if !s.outputEnded {
		s.outputEnded = true
		_ = s.ch.CloseWrite()
	}
}

// Answers asks for a reply. A channel ends for its reader in the same way whether the peer has
// said that it has no more to send or its connection was lost; only a peer that is there replies
// (RFC 4254 section 5.4: also to a request that it does not know).
func (s *sshSession) Answers() bool { return s.carries(0) }

// maxPadding is how many bytes that mean nothing a request has at most: less than the packets that
// every client takes (RFC 4253 section 6.1).
const maxPadding = 16 << 10

// carries is [verbs.Caller.Carries]. A client passes over what a request that it does not know
// brings.
func (s *sshSession) carries(bytes int) bool {
	const request = "keepalive@openssh.com"
	alive := make(chan bool, 1)
	s.Go("asking for an answer", func() {
		for ; bytes > maxPadding; bytes -= maxPadding {
			_, _ = s.ch.SendRequest(request, false, make([]byte, maxPadding))
		}
		_, err := s.ch.SendRequest(request, true, make([]byte, bytes))
		alive <- err == nil
	})
	select {
	case ok := <-alive:
		return ok
	case <-s.ctx.Done():
		return false
	}
}

// Go runs f on a goroutine of the SSH session, which waits for it.
func (s *sshSession) Go(doing string, f func()) {
	s.running.Go(func() {
		defer s.c.recovered(doing)
		f()
	})
}
