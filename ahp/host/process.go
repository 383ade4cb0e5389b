package host

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"termhost/authz"
	"termhost/ptypool"
)

// Process is a program that runs on pipes for one connection and is no terminal: it is not listed,
// and nothing is kept of what it prints. Its methods may be called concurrently.
type Process struct {
	conn    *Conn
	process *ptypool.Process
	status  ptypool.ExitStatus
	done    chan struct{} // closed when the program has ended and status is set
	unwatch func() bool
}

// StartProcess runs o's command for the connection's principal. It is a forced one, one for files,
// or else the shell's. what is the verb that the principal must be permitted. The options that
// concern a terminal are ignored. The program is hung up when the connection ends. The Process must
// be closed. Errors are those of [Conn.Create], and *admit.FullError.
func (c *Conn) StartProcess(what authz.Verb, o CreateOptions) (*Process, error) {
	h := c.host
	if c.ctx.Err() != nil {
		return nil, context.Cause(c.ctx)
	}
	if err := authz.Check(c.principal, what, authz.Target{Forced: o.Forced}); err != nil {
		return nil, err
	}
	if o.conn, o.Piped = c, true; what == authz.Create && h.startNeedsApproval(o, false) {
		return nil, errStartsUnlisted
	}
	places, limit := h.processPlaces(c.principal, what)
	if err := places.Take(c.principal, limit); err != nil {
		return nil, err
	}
	spec, _ := h.spec(o)
	spec.Marker = h.pool.NewMarker()
	h.creators.add(spec.Marker, creator{principal: c.principal, proof: h.proofOf(c.principal),
		forwards: o.ForwardsAgent})
	if o.ForwardsAgent {
		spec.Env = h.openAgent(spec.Marker, spec.Env)
		h.leadAgent(spec.Marker, c.principal.ID)
	}
	p, err := h.pool.StartProcess(spec)
	if err != nil {
		places.Leave(c.principal)
		h.creators.end(spec.Marker)
		h.closeAgent(spec.Marker)
		if errors.Is(err, ptypool.ErrShutdown) {
			err = ErrClosed
		}
		return nil, err
	}
	event := authz.AuditRun
	if what == authz.Files {
		event = authz.AuditFiles
	}
	c.Audit(event, "who", c.Name())
	s := &Process{conn: c, process: p, done: make(chan struct{})}
	s.unwatch = context.AfterFunc(c.ctx, s.hangup)
	go func() { // ends with the program, which the pool's shutdown waits for
		defer close(s.done)
		s.status, _ = p.Wait() // without a status it is UnknownExit
		s.process.Stdin.Close()
		h.creators.end(spec.Marker)
		h.closeAgent(spec.Marker)
		places.Leave(c.principal)
	}()
	return s, nil
}

var errStartsUnlisted = &authz.Denied{Verb: authz.Create,
	Rule: "what agents start waits for a person's approval, in a terminal: use `run`"}

// Done is closed when the program has ended.
func (s *Process) Done() <-chan struct{} { return s.done }

// Exit returns how it ended, once Done is closed.
func (s *Process) Exit() ptypool.ExitStatus { return s.status }

// Write gives the program p as input, and waits until it has taken all of it.
func (s *Process) Write(p []byte) (int, error) { return s.process.Stdin.Write(p) }

// CloseInput ends the input.
func (s *Process) CloseInput() { s.process.Stdin.Close() }

// CopyStdout writes the standard output to w. It returns nil at its end, or w's error.
func (s *Process) CopyStdout(w io.Writer) error { return copyOutput(w, s.process.Stdout) }

// CopyStderr is CopyStdout for the standard error output.
func (s *Process) CopyStderr(w io.Writer) error { return copyOutput(w, s.process.Stderr) }

func copyOutput(w io.Writer, r io.Reader) error {
	if _, err := io.Copy(w, r); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// CloseStdout says that nobody reads the standard output any more: the program gets SIGPIPE when it
// writes to it.
func (s *Process) CloseStdout() { s.process.Stdout.Close() }

// Signal sends sig to the program's process group.
func (s *Process) Signal(sig syscall.Signal) error { return s.process.SignalGroup(sig) }

// Close ends the program, if it still runs, with all that it has started, and closes the pipes.
// What a program that has ended left behind goes on, as with sshd.
func (s *Process) Close() {
	s.unwatch()
	select {
	case <-s.done:
	default:
		s.hangup()
	}
	s.process.Stdout.Close()
	s.process.Stderr.Close()
}

// hangup ends the program. A Write that is waiting fails, but the input stays open until the end:
// the program must not mistake the part that it has got for all of it.
func (s *Process) hangup() {
	s.process.Hangup(hangupGrace)
	_ = s.process.Stdin.SetWriteDeadline(time.Unix(1, 0)) // it fails if the input is closed
}
