package sshd

import (
	"context"
	"errors"
	"io"
	"slices"

	"termhost/ahp/host"
	"termhost/ahp/mcp"
	"termhost/ahp/rpc"
	"termhost/ahp/transport"
	"termhost/authz"
	"termhost/sshd/verbs"
)

// subsystem is what `ssh HOST -s NAME` speaks to (RFC 4254 section 6.5).
type subsystem struct {
	name string
	// needs is what the peer must be permitted to do: package authz says which roles may, and
	// which options of a key forbid it. Zero: nothing.
	needs authz.Verb
	// serve runs on a goroutine of the SSH session and returns the exit status.
	serve func(*sshSession) int
}

// ahpSubsystem is the one that other hosts may carry, too.
const ahpSubsystem = "ahp"

// subsystems returns the table. A name that is not in it is refused.
func subsystems() []subsystem {
	return []subsystem{
		{ahpSubsystem, authz.Subsystem, (*sshSession).serveAHP},
		{"sftp", authz.Files, (*sshSession).serveFiles},
		{"ssh", authz.Subsystem, (*sshSession).serveSSH},
		{"mcp", authz.Subsystem, func(s *sshSession) int { return s.serveMCP("", "") }},
	}
}

// subsystemNamed returns the table's row.
func subsystemNamed(name string) (sub subsystem, ok bool) {
	table := subsystems()
	i := slices.IndexFunc(table, func(s subsystem) bool { return s.name == name })
	if i < 0 {
		return subsystem{}, false
	}
	return table[i], true
}

// subsystem serves a subsystem if the peer may use it.
func (s *sshSession) subsystem(sub subsystem) int {
	if sub.needs != 0 {
		if err := authz.Check(s.c.principal(), sub.needs, authz.Target{}); err != nil {
			return s.c.cfg.verbs.Fail(s.ctx, s.caller(), err)
		}
	}
	return sub.serve(s)
}

// serveFiles runs the program that serves SFTP. Clients say no more than "subsystem request failed"
// unless they are let in and told why not.
func (s *sshSession) serveFiles() int {
	v := s.c.cfg.verbs
	if !s.c.srv.policy.Load().SFTP || v.FileServer == nil {
		return v.Fail(s.ctx, s.caller(), errNoFiles)
	}
	return v.Files(s.ctx, s.caller())
}

var errNoFiles = errors.New("files are not served here ([ssh] sftp = false)")

// paced is a stream that is read at the pace of its peer's account.
type paced struct {
	io.Reader
	conn *host.Conn
}

func (r paced) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	_ = r.conn.Pace(r.conn.Context(), n, 0) // an error is the connection's end
	return n, err
}

// serveAHP serves AHP on the channel, a message per line, as a host.Conn of its own.
func (s *sshSession) serveAHP() int {
	source := s.c.source
	source.Door = host.DoorSubsystem
	hc, err := s.c.cfg.Host.ConnectFrom(s.c.principal(), host.DoorSubsystem, source)
	if err != nil {
		return s.c.cfg.verbs.Fail(s.ctx, s.caller(), err)
	}
	defer hc.Close()
	hc.Prove(s.c.prove(s.c.grant))
	leave := func(reason string) error {
		if why := context.Cause(s.ctx); why != nil {
			reason = why.Error()
		}
		status := verbs.StatusOK
		if reason != transport.Goodbye {
			status = verbs.StatusFailed
			_, _ = s.stderr.Write([]byte("termhost: " + host.Printable(reason) + "\n"))
		}
		// The reader wakes when the peer has closed its side.
		s.finish(verbs.Exit{Status: status})
		return nil
	}
	stop := context.AfterFunc(s.ctx, hc.Close)
	defer stop()
	var in io.Reader = s.in
	if s.c.in.observer.Load() == nil { // otherwise the whole connection is read at the pace
		in = paced{s.in, hc}
	}
	lines := transport.NewLines(in, s.stdout, s.c.cfg.MaxMessageBytes, leave)
	opts := s.c.cfg.AHP
	opts.Log = s.c.log
	if s.c.carried != nil { // who comes from another host goes nowhere else
		opts.Fleet, opts.Late = nil, s.c.carried.Late
	}
	// Why it ended has been said, and is nothing that the log needs.
	_ = rpc.Serve(lines, hc, opts)
	return verbs.StatusOK // finish has been called
}

// runMCP is [verbs.Caller.MCP].
func (s *sshSession) runMCP(as, dir string) int {
	return s.subsystem(subsystem{needs: authz.Subsystem,
		serve: func(s *sshSession) int { return s.serveMCP(as, dir) }})
}

// serveMCP serves MCP on the channel, a message per line: see [mcp.Peer].
func (s *sshSession) serveMCP(as, dir string) int {
	source := s.c.source
	source.Door = host.DoorMCP
	peer := mcp.Peer{Host: s.c.cfg.Host, Principal: s.c.principal(), Source: source,
		Proof: s.c.prove(s.c.grant), As: as, Dir: dir}
	in, out := io.Pipe()
	defer in.Close()
	go func() {
		_, err := io.CopyBuffer(out, s.Stdin(), make([]byte, 4<<10)) // sessions are idle mostly
		out.CloseWithError(err)
	}()
	stop := context.AfterFunc(s.ctx, func() { in.CloseWithError(context.Cause(s.ctx)) })
	defer stop()
	_ = s.c.srv.mcp.Serve(s.ctx, peer, mcp.NewLines(in, closable{s.stdout, in}))
	return verbs.StatusOK
}

// closable is a stream to the peer; Close ends the one from it.
type closable struct {
	io.Writer
	in io.Closer
}

func (c closable) Close() error { return c.in.Close() }
