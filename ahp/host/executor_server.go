package host

import (
	"cmp"
	"errors"
	"time"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/authz"
	"termhost/ptypool"
)

// serverExecutor runs the program on a pty of this host.
type serverExecutor struct{ t *Terminal }

func (e *serverExecutor) kind() authz.Executor { return authz.Server }

func (e *serverExecutor) isPty() bool { return true }

func (e *serverExecutor) piped() bool { return false }

func (e *serverExecutor) start(t *Terminal, o CreateOptions) error {
	return e.startBy(t, o, func(spec ptypool.Spec) error {
		_, err := t.host.pool.Start(spec, events{t})
		return err
	}, func(x *ptypool.Prepared, note []byte) error { return x.Start(note) })
}

// startBy registers t and calls start, which starts its Term. If that needs a person's approval,
// late is called later instead, with the Term's lock held.
func (e *serverExecutor) startBy(t *Terminal, o CreateOptions, start func(ptypool.Spec) error,
	late func(x *ptypool.Prepared, note []byte) error,
) error {
	h := t.host
	spec, base := h.spec(o)
	if err := h.register(t, o, ahp.FileURI(spec.Dir), cmp.Or(o.Base, base)); err != nil {
		return err
	}
	e.t, t.origin.marker, t.origin.screen = t, h.pool.NewMarker(), spec.VT
	spec.Marker = t.origin.marker
	spec.Env = append(spec.Env, nameVariable+"="+t.Name(), URIVariable+"="+t.uri)
	if socket := h.cfg().Socket; socket != "" {
		spec.Env = append(spec.Env, SocketVariable+"="+socket)
	}
	t.origin.proof = h.recordOf(t.origin.creator)
	by := t.origin.creator
	h.creators.add(t.origin.marker, creator{principal: by, proof: h.proofOf(by),
		record: t.origin.proof, listed: t.life.listed})
	spec.Env = t.withAgent(spec.Env, o)
	t.commands.integrated = spec.VT.Nonce != ""
	err := h.run(t, o.conn, func() error {
		spec.Keep = t.log.journal.Keep()
		spec.Keep.Memory.Trail = t.log.beginTrail()
		decisions, err := t.log.beginDecisions()
		if err != nil {
			return err
		}
		spec.Keep.Memory.Decided = decisions
		spec.Keep.Note = t.log.describe().Encode()
		if t.approvals.starting != nil {
			return t.approvals.starting.prepare(spec, late)
		}
		return start(spec)
	})
	if err != nil {
		h.creators.end(t.origin.marker)
		h.closeAgent(t.origin.marker)
		return err
	}
	if t.approvals.starting != nil {
		argv := spec.Argv[:1] // the rest is for shell integration
		switch {
		case len(o.Argv) > 0:
			argv = o.Argv
		case o.Line != "":
			argv = []string{h.userShell(), "-c", o.Line}
		}
		err = t.approvals.starting.hold(o.conn, commandText(&spec, argv, o.Env))
		if err != nil {
			h.remove(t, "")
		}
		return err
	}
	return nil
}

// owner returns false: the host itself runs the program.
func (e *serverExecutor) owner(step) bool { return false }

func (e *serverExecutor) heard(step) {}

// take is not reached: the policy lets nobody act as the owner of the host's program.
func (e *serverExecutor) take(step, ahp.Action) (reason string) { return reasonReadOnly }

func (e *serverExecutor) describe(*journal.Description) {}

func (e *serverExecutor) owned() *journal.OwnerMark { return nil }

func (e *serverExecutor) input(p []byte, how typing) error {
	input := e.t.term.Input
	switch how {
	case typesShown:
		input = e.t.term.InputShown
	case typesBound:
		input = e.t.term.InputBound
	}
	switch err := input(p); {
	case errors.Is(err, ptypool.ErrInputFull):
		return ErrBusy
	case errors.Is(err, ptypool.ErrLineTooLong):
		return e.t.denied(errLongLine)
	case errors.Is(err, ptypool.ErrInterrupted):
		return e.t.denied(errInterrupts)
	case errors.Is(err, ptypool.ErrNotStarted):
		return e.t.denied(errUnstarted)
	case err != nil:
		return ErrExited
	}
	return nil
}

func (e *serverExecutor) resize(cols, rows int) error { return e.t.resizeTerm(cols, rows) }

// clear returns false for redrawn: the program is not told, and so draws nothing anew.
func (e *serverExecutor) clear() (redrawn bool, reason string) { return false, "" }

func (e *serverExecutor) end(grace time.Duration, _ string) { e.t.term.Hangup(grace) }

func (e *serverExecutor) exited(code int) (ahp.TerminalExited, *ahp.Origin) {
	e.t.host.creators.end(e.t.origin.marker)
	e.t.host.closeAgent(e.t.origin.marker)
	return ahp.TerminalExited{ExitCode: &code}, nil
}

func (e *serverExecutor) forget() {}
