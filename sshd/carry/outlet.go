package carry

import (
	"io"
	"sync"

	"termhost/sshd/verbs"
)

// outlet is the peer's output, which can be held up. Its methods may be called concurrently.
type outlet struct {
	peer verbs.Caller

	mu   sync.Mutex // held during a write, and by whoever holds the output
	over bool       // what comes is dropped
}

// hold has writes wait until release or shut, which the same goroutine calls.
func (o *outlet) hold() { o.mu.Lock() }

func (o *outlet) release() { o.mu.Unlock() }

// shut has writes dropped from now on.
func (o *outlet) shut() {
	o.over = true
	o.mu.Unlock()
}

func (o *outlet) stdout() io.Writer { return valve{o, o.peer.Stdout()} }
func (o *outlet) stderr() io.Writer { return valve{o, o.peer.Stderr()} }

// valve is one of the streams of an outlet.
type valve struct {
	o *outlet
	w io.Writer
}

// Write implements io.Writer.
func (v valve) Write(p []byte) (int, error) {
	v.o.mu.Lock()
	defer v.o.mu.Unlock()
	if v.o.over {
		return len(p), nil
	}
	return v.w.Write(p)
}
