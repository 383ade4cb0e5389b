package host

import (
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// executor runs a terminal's program. What all terminals have in common, the parser, the screen,
// the log and the claim, is in [Terminal]; an executor is what differs:
//
//	serverExecutor  the program runs on a pty of this host
//	exactExecutor   so it does, and the connection that made it has every byte: see CreateExact
//	pipesExecutor   the program runs on pipes of this host
//	clientExecutor  a client, the owner, runs the program elsewhere and sends what it prints
//
// Signals, the discarding of input and the wait for room in its queue are the Term's own: it knows
// whether it has a process.
//
// An executor belongs to one terminal. Its methods are called with the Term's lock held, unless
// they say otherwise. The reasons and errors that they return are shown to the peer.
type executor interface {
	// kind is what the policy calls it. It needs no lock.
	kind() authz.Executor
	// isPty reports whether the output is that of a terminal rather than a plain stream. It needs
	// no lock.
	isPty() bool
	// start registers t and starts its Term. It is called once, before all else but kind and isPty,
	// without a lock.
	start(t *Terminal, o CreateOptions) error

	// owner reports whether the one who asks runs the program, as [authz.Target] has it.
	owner(s step) bool
	// heard comes with every action that a client dispatches, before the action is looked at.
	heard(s step)
	// take does what only the owner of the program may ask for, after the policy has agreed.
	take(s step, a ahp.Action) (reason string)

	// input types p, which is not kept. It fails with ErrBusy if p does not fit into the queue, and
	// with ErrExited.
	input(p []byte, how typing) error
	// resize gives the program and the screen a size. It fails with ErrExited.
	resize(cols, rows int) error
	// clear is asked before the content is emptied. redrawn: the program's own screen is empty,
	// too, so that the host must not bring back what the program drew.
	clear() (redrawn bool, reason string)

	// end ends all processes of the program: SIGHUP, and after the grace SIGKILL. It returns at
	// once. An owner is told the notice, unless it is empty. It is called without a lock.
	end(grace time.Duration, notice string)
	// exited is called when the program has ended. It returns what the readers are told.
	exited(code int) (a ahp.TerminalExited, origin *ahp.Origin)
	// forget lets go of what is kept for the terminal outside of it, which the host is about to
	// forget. It is called with Host.mu held, and maybe more than once.
	forget()
}

// typing says when what is typed goes to the program.
type typing int

const (
	typesNow   typing = iota // at once
	typesShown               // see [ptypool.Term.InputShown]: it may be no secret
	typesBound               // see [ptypool.Term.InputBound]: one program alone may read it
)
