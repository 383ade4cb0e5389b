package host

import (
	"context"
	"errors"
	"time"

	"termhost/ahp/await"
	"termhost/ahp/history"
)

// WaitFor says what [Conn.Wait] waits for besides the terminal's end, which ends every wait. The
// first condition to hold counts.
type WaitFor struct {
	Match   *history.Pattern // a line that is shown, one that is retained included; nil: none
	Fresh   bool             // a line for Match that is retained does not count
	Command bool             // no command is running any more
	Blocked bool             // the program waits for input or a secret
	Rest    bool             // the program is at rest: see [Terminal.AtRest]
	Idle    time.Duration    // so long without output; 0: does not count
	Output  bool             // the program prints something
	Taken   bool             // the waiting principal loses the keyboard, or gets it
	Timeout time.Duration    // the longest wait; 0: unlimited
}

// Waited is how a wait ended, and WaitReason what ended it: see package await.
type (
	Waited     = await.Ended
	WaitReason = await.Reason
)

// The reasons, in AHP's words for them.
const (
	WaitExit    = await.Exit
	WaitMatch   = await.Match
	WaitCommand = await.Command
	WaitRest    = await.Rest
	WaitIdle    = await.Idle
	WaitBlocked = await.Blocked
	WaitTimeout = await.Timeout
	WaitOutput  = await.Output
	WaitTaken   = await.Taken
	WaitGiven   = await.Given
)

// BehindError ends a wait for a line: the output came faster than it could be looked at.
type BehindError = await.BehindError

// ErrNoCommands refuses to wait for the command of a terminal whose shell does not report any.
var ErrNoCommands = errors.New("this terminal's shell does not tell of its commands")

// PendingWait is a wait that has begun. It is used by one goroutine.
type PendingWait struct {
	WaitFor
	a    *Attach // gives the right to look, until it is taken; it reads nothing
	held bool    // the principal had the keyboard when the wait began
	// last is how the last command ended, which counts if no line that is retained does; nil: none.
	last *Waited
	// reacted is closed when the shell has reacted to an Enter, after which lastCommand may be
	// another; nil: there is none to be waited for.
	reacted <-chan struct{}
	printed *await.Wait // for what the terminal prints; nil: that cannot end this wait
}

// join has p ended by what the terminal prints from now on. The Term's lock is held.
func (w *waiting) join(p *PendingWait) (err error) {
	t, c := w.t, p.a.conn
	list := w.list
	if list == nil {
		list = await.NewList(await.Terminal{Name: t.Name, Retained: t.retained,
			Failed: func(stack []byte) {
				t.host.log.Error("panic while lines were looked for", "stack", string(stack))
			}}, &t.host.lookers)
	}
	what := await.For{Match: p.Match, Fresh: p.Fresh, Command: p.Command, Output: p.Output,
		Last: p.last}
	p.printed, err = list.Join(what, await.Peer{Principal: c.principal, Budget: c.pace,
		Work: func(ctx context.Context) await.Work { return c.Work(ctx) }})
	if err != nil {
		return err
	}
	w.list = list
	if t.life.exited {
		list.Exited(t.life.exit.Load().Code)
	}
	return nil
}

// leave ends what join began. The Term's lock is not held.
func (w *waiting) leave(p *PendingWait) {
	w.t.term.Lock()
	defer w.t.term.Unlock()
	if last := p.printed.Leave(); last {
		w.list = nil
	}
}

// retained returns the output that is retained. The Term's lock is held.
func (t *Terminal) retained() [][]byte {
	st, _ := t.ch.Terminal()
	pieces := [][]byte{}
	for i := range st.Content {
		pieces = append(pieces, st.Content[i].Text.Chunks()...)
	}
	return pieces
}
