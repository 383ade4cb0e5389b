package host

import (
	"context"
	"time"

	"termhost/ptypool"
)

// newExactStreams returns those of [CreateOptions.Exact].
func (c *Conn) newExactStreams() *Streams {
	s := c.newStreams()
	s.stderr.stop() // there is no error output apart
	in := &ptyInput{streams: s}
	in.ctx, in.stop = context.WithCancelCause(context.Background())
	s.input, s.exact = in, true
	return s
}

// exactExecutor runs the program on a pty of this host. The connection that made the terminal has
// its output byte by byte: see [CreateOptions.Exact].
type exactExecutor struct {
	serverExecutor
	streams *Streams
}

func (e *exactExecutor) start(t *Terminal, o CreateOptions) error {
	out := e.streams.stdout
	return e.startBy(t, o, func(spec ptypool.Spec) error {
		_, err := t.host.pool.StartExact(spec, out, events{t})
		if err != nil { // it may have started all the same, and is being killed
			e.streams.stop()
		}
		return err
	}, func(x *ptypool.Prepared, note []byte) error { return x.StartExact(note, out) })
}

func (e *exactExecutor) end(grace time.Duration, notice string) {
	e.forget()
	e.serverExecutor.end(grace, notice)
}

func (e *exactExecutor) forget() { e.streams.release() }

// Resize gives the terminal the size of the peer's. Programs on pipes have none.
func (s *Streams) Resize(cols, rows int, px Pixels) {
	t := s.t
	t.term.Lock()
	defer t.term.Unlock()
	if t.exact() {
		t.giveSize(cols, rows, px)
	}
}

// ptyInput is the input of a program on a pty. What is written to it is typed: the claim and the
// guard count for it as they do for every key.
type ptyInput struct {
	streams *Streams
	ctx     context.Context // ends with StopInput
	stop    context.CancelCauseFunc
}

func (in *ptyInput) Write(p []byte) (n int, err error) {
	for n < len(p) {
		piece := p[n:min(n+MaxPiece, len(p))]
		if err := in.streams.conn.Type(in.ctx, in.streams.t, piece); err != nil {
			return n, err
		}
		n += len(piece)
	}
	return n, nil
}

// CloseInput does nothing, as with sshd: the end of a terminal's input is a key.
func (in *ptyInput) CloseInput() {}

func (in *ptyInput) StopInput() { in.stop(ptypool.ErrInputClosed) }

// CloseStdout hangs the program up: its terminal has gone.
func (in *ptyInput) CloseStdout() { in.streams.t.exec.end(hangupGrace, "") }
