package host

import (
	"time"

	"termhost/ahp/journal"
	"termhost/ptypool"
)

// pipesExecutor runs the program on pipes of this host. The connection that created the terminal
// has their other ends: see [Streams]. Nobody else can type into the terminal.
type pipesExecutor struct {
	serverExecutor
	streams  *Streams // nil: an earlier host had them
	detached bool     // the program goes on when the connection that started it ends
}

func (e *pipesExecutor) isPty() bool { return false }

func (e *pipesExecutor) piped() bool { return true }

func (e *pipesExecutor) start(t *Terminal, o CreateOptions) error {
	s := e.streams
	return e.startBy(t, o, func(spec ptypool.Spec) error {
		_, piped, err := t.host.pool.StartPiped(spec, s.stdout, s.stderr, events{t})
		if s.input = piped; err != nil { // it may have started all the same, and is being killed
			s.stop()
		}
		return err
	}, func(x *ptypool.Prepared, note []byte) error {
		piped, err := x.StartPiped(note, s.stdout, s.stderr)
		s.input = piped
		return err
	})
}

// input is not reached by keys, which the policy refuses. It drops the parser's answers to queries,
// because the program has no terminal.
func (e *pipesExecutor) input([]byte, typing) error { return ErrNoKeyboard }

func (e *pipesExecutor) describe(d *journal.Description) { d.Detached = e.detached }

func (e *pipesExecutor) end(grace time.Duration, notice string) {
	e.forget()
	e.serverExecutor.end(grace, notice)
}

func (e *pipesExecutor) forget() {
	if e.streams != nil {
		e.streams.release()
	}
}
