package host

import (
	"errors"
	"time"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/authz"
)

// pastExecutor is for a terminal whose program ran under an earlier host and has ended.
type pastExecutor struct {
	t            *Terminal
	client       bool // it was client-executed
	pty, onPipes bool
}

func (e *pastExecutor) kind() authz.Executor {
	if e.client {
		return authz.Client
	}
	return authz.Server
}

func (e *pastExecutor) isPty() bool { return e.pty }

func (e *pastExecutor) piped() bool { return e.onPipes }

var errPast = errors.New("host: a terminal that has ended cannot be started")

func (e *pastExecutor) start(*Terminal, CreateOptions) error { return errPast }

// owner compares the principals alone: the connection that ran the program is gone.
func (e *pastExecutor) owner(s step) bool {
	return e.client && s.principal.ID == e.t.origin.creator.ID
}

func (e *pastExecutor) heard(step) {}

func (e *pastExecutor) take(step, ahp.Action) (reason string) { return reasonExited }

func (e *pastExecutor) describe(*journal.Description) {}

func (e *pastExecutor) owned() *journal.OwnerMark { return nil }

func (e *pastExecutor) input([]byte, typing) error { return ErrExited }

func (e *pastExecutor) resize(int, int) error { return ErrExited }

// clear does what the executors of running terminals do after the exit.
func (e *pastExecutor) clear() (redrawn bool, reason string) {
	if e.client {
		return false, reasonExited
	}
	return false, ""
}

func (e *pastExecutor) end(time.Duration, string) {}

func (e *pastExecutor) exited(code int) (ahp.TerminalExited, *ahp.Origin) {
	return ahp.TerminalExited{ExitCode: &code}, nil
}

func (e *pastExecutor) forget() {}

// giveWay forgets a client-executed terminal of p's that ended with an earlier host, if p creates
// one of the same NAME: the program goes on where it runs, and p is about to show it again.
func (h *Host) giveWay(p authz.Principal, o CreateOptions) {
	name := o.Name
	if o.URI != "" {
		name, _ = ahp.TerminalName(o.URI)
	}
	h.mu.Lock()
	t := h.names[name]
	h.mu.Unlock()
	if t == nil {
		return
	}
	if e, past := t.exec.(*pastExecutor); past && e.client && t.origin.creator.ID == p.ID {
		h.forget(t, "")
	}
}
