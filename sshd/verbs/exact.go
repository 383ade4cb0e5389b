package verbs

import (
	"errors"
	"fmt"

	"termhost/ahp/host"
	"termhost/ptypool"
)

// exact runs a command on a terminal and joins it with that of the peer as sshd does: every byte
// goes through as it is, and nothing else does. A peer that takes its time slows the program down.
// When the peer is lost before the program's end, the program is hung up; when the host restarts,
// it goes on.
func (v *invocation) exact(o host.CreateOptions) int {
	o.Transient = true
	o.Exact = true
	made, err := v.Conn.Create(o)
	if err != nil {
		return v.notStarted(err)
	}
	s := made.Streams
	defer s.Close()
	x := &exactStreams{Streams: s, v: v}
	v.Go("following a window", x.followWindow)
	if v.join(x) {
		status := v.streamed(s.Terminal())
		v.died, _ = s.Terminal().Exit()
		return status
	}
	switch why := v.ended(); {
	case errors.Is(why, host.ErrLeaving):
		s.Detach()
		return v.lost(s.Terminal(), true)
	case why != nil:
		v.lastLine("[%s; the program ends with its connection]", whyLost(why))
	}
	return StatusLost
}

// exactStreams are the streams of a program on a terminal, for a peer that types.
type exactStreams struct {
	*host.Streams
	v    *invocation
	told bool // the peer knows that what it types is refused; of the goroutine that calls Write
}

// followWindow gives the terminal the size of the peer's, until the end.
func (x *exactStreams) followWindow() {
	for {
		select {
		case <-x.v.Resized():
			w := x.v.Window()
			x.Resize(w.Cols, w.Rows, w.Pixels)
		case <-x.Done():
			return
		case <-x.v.ctx.Done():
			return
		}
	}
}

// Write types p. When that is refused, because somebody else has the keyboard or does not agree to
// what an agent types, the peer is told so once, and may go on typing.
func (x *exactStreams) Write(p []byte) (int, error) {
	n, err := x.Streams.Write(p)
	switch {
	case err == nil:
		x.told = false
		return n, nil
	case errors.Is(err, host.ErrExited), errors.Is(err, ptypool.ErrInputClosed), x.v.cut():
		return n, err
	}
	if !x.told {
		x.told = true
		fmt.Fprintf(x.v.stderr, "termhost: %s\n", host.Printable(x.v.explain(err)))
	}
	return len(p), nil
}
