package host

import (
	"context"
	"errors"
	"io"
	"sync"
	"syscall"
	"time"

	"termhost/authz"
)

// Streams are the standard streams of a program, for the connection that made its terminal. They
// carry every byte as it is, and a reader that takes its time slows the program down. The methods
// may be called concurrently.
//
// The program runs on pipes, and the terminal shows both outputs, as they come, to everybody else;
// or it runs on a pty: see [CreateOptions.Exact].
type Streams struct {
	conn           *Conn
	t              *Terminal
	input          streamInput
	exact          bool // see CreateOptions.Exact
	stdout, stderr *relay
	close          sync.Once
}

// streamInput is what differs between a program on pipes and one on a pty: see the methods of
// Streams.
type streamInput interface {
	io.Writer
	CloseInput()
	// StopInput has every Write fail, also one that waits. The program does not see its input end.
	StopInput()
	CloseStdout()
}

// ErrNoKeyboard refuses what is typed at a program that runs on pipes.
var ErrNoKeyboard = errors.New(authz.RulePipes)

func (c *Conn) newStreams() *Streams {
	pieces := &c.host.pieces
	return &Streams{conn: c, stdout: newRelay(pieces), stderr: newRelay(pieces)}
}

// join makes the streams those of a terminal that was made.
func (s *Streams) join(t *Terminal) {
	h, p := t.host, s.conn.principal
	s.t = t
	t.term.Lock()
	t.streams = s
	t.life.watching++
	t.term.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.streams[s] = struct{}{}
	h.lastUsed[p.ID] = lastUse{t, h.now()}
	h.noteUse(p.ID, h.lastUsed[p.ID])
}

// Terminal returns the program's terminal.
func (s *Streams) Terminal() *Terminal { return s.t }

// Done is closed when the program has ended.
func (s *Streams) Done() <-chan struct{} { return s.t.Done() }

// Write gives the program p as input, and waits until it has taken all of it. It returns
// [ptypool.ErrInputClosed] when the program takes no more. On a pty it returns what [Conn.Type]
// does.
func (s *Streams) Write(p []byte) (n int, err error) { return s.input.Write(p) }

// CloseInput ends the input. On a pty it does nothing.
func (s *Streams) CloseInput() { s.input.CloseInput() }

// CopyStdout writes the standard output to w. It returns nil at its end, or w's error.
func (s *Streams) CopyStdout(w io.Writer) error { return s.stdout.copyTo(w) }

// CopyStderr is CopyStdout for the standard error output.
func (s *Streams) CopyStderr(w io.Writer) error { return s.stderr.copyTo(w) }

// CloseStdout says that nobody reads the standard output any more: the program gets SIGPIPE when it
// writes to it. On a pty it is hung up.
func (s *Streams) CloseStdout() {
	s.input.CloseStdout()
	s.stdout.stop()
}

// Signal sends sig to the program's process group. It returns ErrExited or why the connection has
// ended.
func (s *Streams) Signal(sig syscall.Signal) error {
	switch {
	case s.conn.ctx.Err() != nil:
		return context.Cause(s.conn.ctx)
	case s.t.exitedNow() || s.t.term.SignalForeground(sig) != nil:
		return ErrExited
	}
	return nil
}

// Close ends the streams. A program that still runs is hung up, and does not see its input end
// before that: it must not mistake the part that it has got for all of it. Close may be called
// again.
func (s *Streams) Close() {
	s.close.Do(func() {
		s.input.StopInput()
		if !s.t.exitedNow() {
			s.t.ending("with the connection that it was started on")
			s.t.exec.end(hangupGrace, "")
		}
		s.leave()
	})
}

// Detach ends the streams and lets the program go on: its input ends, and its output is for its
// terminal only.
func (s *Streams) Detach() {
	s.close.Do(func() {
		s.input.CloseInput()
		s.leave()
	})
}

// leave takes the streams out of the host.
func (s *Streams) leave() {
	s.stop()
	t, h := s.t, s.conn.host
	t.term.Lock()
	t.streams = nil
	t.life.watching--
	gone := t.life.fleeting && t.life.watching == 0
	t.term.Unlock()
	h.mu.Lock()
	delete(h.streams, s)
	h.mu.Unlock()
	if gone {
		h.forget(t, "")
	}
}

// stop drops what is printed from now on.
func (s *Streams) stop() {
	s.stdout.stop()
	s.stderr.stop()
}

// release has the program not wait for a reader for long: it is being ended.
func (s *Streams) release() {
	s.stdout.release()
	s.stderr.release()
}

// pending reports whether their reader is still at work on what a program that has ended has left.
// One that was stuck is not waited for.
func (s *Streams) pending() bool {
	return s.Terminal().exitedNow() && !s.stdout.over() && !s.stderr.over()
}

// relay hands output from the goroutine that reads it from the program to the one that writes it to
// the peer. It holds a single piece, and nothing while there is no output.
type relay struct {
	bufs     *sync.Pool    // *[]byte
	pieces   chan *[]byte  // unbuffered; closed at the end of the output
	released chan struct{} // closed: see release
	stopped  chan struct{} // closed: nobody reads
	once     struct{ release, stop sync.Once }
}

// releasedPatience is how long the reader of a program that is being ended may take for a piece of
// output before it counts as stuck: far longer than a slow connection takes.
const releasedPatience = 500 * time.Millisecond

var errNobodyReads = errors.New("nobody reads this output")

func newRelay(bufs *sync.Pool) *relay {
	return &relay{bufs: bufs, pieces: make(chan *[]byte), released: make(chan struct{}),
		stopped: make(chan struct{})}
}

// Write hands over a copy of p, and waits until it is taken.
func (r *relay) Write(p []byte) (int, error) {
	piece, ok := r.bufs.Get().(*[]byte)
	if !ok {
		piece = new([]byte)
	}
	*piece = append((*piece)[:0], p...)
	select {
	case r.pieces <- piece:
		return len(p), nil
	case <-r.stopped:
		return 0, errNobodyReads
	case <-r.released:
	}
	late := time.NewTimer(releasedPatience)
	defer late.Stop()
	select {
	case r.pieces <- piece:
		return len(p), nil
	case <-r.stopped:
	case <-late.C:
		r.stop()
	}
	return 0, errNobodyReads
}

// Close ends the output.
func (r *relay) Close() error {
	close(r.pieces)
	return nil
}

// copyTo writes what comes to w, until the output ends or nobody reads it any more.
func (r *relay) copyTo(w io.Writer) error {
	for {
		select {
		case piece, more := <-r.pieces:
			if !more {
				return nil
			}
			if _, err := w.Write(*piece); err != nil {
				return err
			}
			r.bufs.Put(piece)
		case <-r.stopped:
			return nil
		}
	}
}

func (r *relay) release() { r.once.release.Do(func() { close(r.released) }) }

func (r *relay) stop() { r.once.stop.Do(func() { close(r.stopped) }) }

// over reports whether nobody reads any more.
func (r *relay) over() bool {
	select {
	case <-r.stopped:
		return true
	default:
		return false
	}
}

// exact reports whether the connection that made the terminal has its output byte by byte, and the
// terminal at that peer's end is the one that counts. The Term's lock is held.
func (t *Terminal) exact() bool {
	return t.streams != nil && t.streams.exact
}
