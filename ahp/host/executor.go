package host

import (
	"time"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/authz"
)

// executor runs a terminal's program. [Terminal] has what all terminals share, such as the parser,
// the screen, the log and the claim; its executor has what differs:
//
//	serverExecutor  the program runs on a pty of this host
//	exactExecutor   so it does, and the connection that made it has every byte: see Exact
//	pipesExecutor   the program runs on pipes of this host
//	clientExecutor  a client, the owner, runs the program elsewhere and sends what it prints
//	pastExecutor    the program ran under an earlier host and has ended
//
// The Term itself sends signals, discards input and waits for room in its queue: it knows whether
// it has a process.
//
// An executor belongs to one terminal. Unless documented otherwise, its methods are called with the
// Term's lock held. The reasons and errors that they return are shown to the peer.
type executor interface {
	// kind returns the policy's name for it. It needs no lock.
	kind() authz.Executor
	// isPty reports whether the output is that of a terminal rather than a plain stream. It needs
	// no lock.
	isPty() bool
	// piped reports whether the program runs on pipes of this host. It needs no lock.
	piped() bool
	// start registers t and starts its Term. It is called once, before all other methods except
	// the above, without a lock.
	start(t *Terminal, o CreateOptions) error

	// owner reports whether s is taken by who runs the program: see [authz.Target].
	owner(s step) bool
	// heard is called for every action that a client dispatches, before the action is looked at.
	heard(s step)
	// take takes an action that only the owner may send, after the policy has agreed, or returns
	// why not.
	take(s step, a ahp.Action) (reason string)

	// describe adds to a description for the journal what only the executor knows.
	describe(d *journal.Description)
	// owned returns what the log records of the owner's last action; nil: there is no owner.
	owned() *journal.OwnerMark

	// input types p, which is not kept. It returns ErrBusy if p does not fit into the queue, or
	// ErrExited.
	input(p []byte, how typing) error
	// resize sets the size of the program's terminal and of the screen. It returns ErrExited.
	resize(cols, rows int) error
	// clear is called before the content is emptied, and returns why it may not be. redrawn: the
	// program's own screen is empty, too, so that the host must not bring back what it showed.
	clear() (redrawn bool, reason string)

	// end ends all processes of the program, with SIGHUP and after grace with SIGKILL. It returns
	// at once. A client that owns the program gets the notice, unless that is empty. end is called
	// without a lock.
	end(grace time.Duration, notice string)
	// exited is called when the program has ended. It returns the action that readers get.
	exited(code int) (a ahp.TerminalExited, origin *ahp.Origin)
	// forget releases what others keep for the terminal, which the host is about to forget. It is
	// called with Host.mu held, perhaps more than once.
	forget()
}

// hangupGrace is how long the processes of a disposed terminal have from SIGHUP to SIGKILL.
const hangupGrace = 2 * time.Second

// typing says when input goes to the program.
type typing int

const (
	typesNow   typing = iota // at once
	typesShown               // see [ptypool.Term.InputShown]: not while it would be a secret
	typesBound               // see [ptypool.Term.InputBound]: when one program alone reads
)
