package verbs

import (
	"fmt"
	"io"
	"syscall"
	"time"

	"termhost/ahp/host"
)

const (
	// readBytes is how much input is read at a time at first, and the buffer of an idle stream.
	readBytes = 4 << 10
	// maxInputRead, in bytes, is the most input that is read at a time: two full packets.
	maxInputRead = 64 << 10
	// halfClose is how long a program must run on after closing its outputs before the peer is told
	// that they have ended. Most programs end at once, and their exit may need a last message.
	halfClose = 100 * time.Millisecond
	// refusedPatience is how long the last errors of a program may take to reach a peer that reads
	// no more output. It may read nothing at all any more.
	refusedPatience = 250 * time.Millisecond
)

// streams are the standard streams of a program on pipes.
type streams interface {
	io.Writer // the program's input
	CloseInput()
	CopyStdout(io.Writer) error
	CopyStderr(io.Writer) error
	CloseStdout()
	Signal(syscall.Signal) error
	// Done is closed when the program has ended.
	Done() <-chan struct{}
}

// stream runs a program on pipes, and joins them with the peer's until the program has ended and
// all its output has been passed on. If the peer is lost before, the program is hung up, unless
// keep is true; then the peer is told the program's NAME at the start, since it could not be told
// later.
func (v *invocation) stream(o host.CreateOptions, keep bool) int {
	o.Piped, o.Detached = true, keep
	made, err := v.Conn.Create(o)
	if err != nil {
		return v.notStarted(err)
	}
	s, t := made.Streams, made.Terminal
	if keep {
		defer s.Detach()
		fmt.Fprintln(v.stderr, v.shown(t.Name()))
	} else {
		defer s.Close()
	}
	if !v.join(s) {
		return v.lost(t, keep)
	}
	return v.streamed(t)
}

// join joins the streams of a program with the peer's until the program has ended and all its
// output has been passed on. It returns false if the peer is lost before.
func (v *invocation) join(s streams) (ended bool) {
	v.Go("passing on input", func() { v.passInput(s) })
	if !v.passOutput(s) {
		return false
	}
	goesOn := time.NewTimer(halfClose)
	defer goesOn.Stop()
	for {
		select {
		case <-s.Done():
			return true
		case <-goesOn.C:
			v.EndOutput()
		case sig := <-v.Signals():
			_ = s.Signal(sig) // nobody waits for an answer
		case <-v.ctx.Done():
			return false
		}
	}
}

// passOutput passes on the program's output, and signals to the program. It returns false if the
// peer is lost before the end.
func (v *invocation) passOutput(s streams) bool {
	stdout := v.passing(s.CopyStdout, v.Stdout())
	stderr := v.passing(s.CopyStderr, v.Stderr())
	refused := v.OutputRefused()
	var ended <-chan struct{}
	var late <-chan time.Time
	for stdout != nil || stderr != nil {
		select {
		case err := <-stdout:
			if stdout = nil; err != nil {
				s.CloseStdout()
			}
		case <-stderr: // a live peer reads its errors
			stderr = nil
		case <-refused:
			// Output on its way may block for ever on a peer that has stopped reading.
			s.CloseStdout()
			stdout, refused, ended = nil, nil, s.Done()
		case <-ended:
			ended, late = nil, time.After(refusedPatience)
		case <-late:
			return true
		case sig := <-v.Signals():
			_ = s.Signal(sig)
		case <-v.ctx.Done():
			return false
		}
	}
	return true
}

// passing copies an output to w and returns a channel that gets the final error.
func (v *invocation) passing(copyTo func(io.Writer) error, w io.Writer) <-chan error {
	done := make(chan error, 1)
	v.Go("passing on output", func() { done <- copyTo(w) })
	return done
}

// passInput passes the peer's input to the program, to its end. If the peer is lost, the program
// does not see an end: its input is incomplete.
func (v *invocation) passInput(s streams) {
	in := v.Stdin()
	buf := make([]byte, readBytes) // small while the stream is idle
	for {
		n, err := in.Read(buf)
		if n > 0 {
			if _, err := s.Write(buf[:n]); err != nil {
				v.RefuseInput()
				v.DiscardInput()
				return
			}
		}
		switch {
		case err != nil:
			if v.Answers() {
				s.CloseInput()
			}
			return
		case n == len(buf) && n < maxInputRead:
			buf = make([]byte, 2*n)
		}
	}
}

// streamed returns the exit status of a program, and tells the peer if somebody has ended it.
func (v *invocation) streamed(t *host.Terminal) int {
	if why := t.EndedBy(); why != "" {
		fmt.Fprintf(v.stderr, "[%s was ended %s]\n", v.shown(t.Name()), host.Printable(why))
	}
	st, _ := t.Exit()
	return statusOf(st)
}

// lost tells a peer whose connection the host ends why, and what happens to its program.
func (v *invocation) lost(t *host.Terminal, keep bool) int {
	why := v.ended()
	if why == nil {
		return StatusLost
	}
	text, name := whyLost(why), t.Name()
	if keep {
		v.lastLine("[%s; %s goes on: `%s`]", text, v.shown(name), v.comeBack(name))
	} else {
		v.lastLine("[%s; %s ends with its connection, as without --keep]", text, v.shown(name))
	}
	return StatusLost
}
