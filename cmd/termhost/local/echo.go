package local

import (
	"io"
	"slices"
	"sync"
	"time"

	"termhost/cmd/termhost/local/predict"
	"termhost/cmd/termhost/tty"
	"termhost/sshd/wire"
)

// echo is a session's output on its way to the user's terminal, and shows what is typed before the
// host has. What it is told takes effect on a goroutine of its own, because keys, an interrupt
// among them, must not wait for a terminal that takes no output. A nil *echo may be told all of it.
type echo struct {
	out    io.Writer
	stop   chan struct{} // closed by end
	ended  chan struct{} // closed when the goroutine has
	queued chan struct{} // 1 deep: something was told

	mu sync.Mutex         // held over writes to out
	p  *predict.Predictor // nil: the session has ended

	queue  sync.Mutex // a leaf; may be locked with mu
	told   []func(dst []byte) []byte
	behind int  // how much that is: one for each, and the bytes of its keys
	late   bool // it was too much: no more is heeded
}

// maxBehind bounds what an echo has been told and has not done, because the user's terminal takes
// no output. Beyond it, keys are not shown at once any more until the session ends.
const maxBehind = 64 << 10

// newEcho returns what shows keys on the terminal, whose output goes to out, where when says so.
// trip is how long a round trip took. It returns nil if none are shown.
func (t *sessionTerminal) newEcho(when predict.When, out io.Writer, trip time.Duration) *echo {
	w := windowOf(t.tty)
	if when == predict.Never || w.Cols == 0 || w.Rows == 0 {
		return nil
	}
	e := &echo{out: out, stop: make(chan struct{}), ended: make(chan struct{}),
		queued: make(chan struct{}, 1), p: predict.New(int(w.Cols), int(w.Rows), when, trip)}
	go e.run()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.echo = e
	return e
}

// endEcho ends e, unless it is nil, and takes away what it has drawn. If the terminal takes no
// output, that is given up.
func (t *sessionTerminal) endEcho(e *echo) {
	if e == nil {
		return
	}
	t.mu.Lock()
	t.echo = nil
	t.mu.Unlock()
	close(e.stop)
	select {
	case <-e.ended:
	case <-time.After(tty.WriteTime):
	}
}

// run does what e is told until it is ended.
func (e *echo) run() {
	defer close(e.ended)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-e.queued:
		case <-timer.C:
		case <-e.stop:
			e.mu.Lock()
			defer e.mu.Unlock()
			e.giveUp()
			return
		}
		due := e.catchUp()
		timer.Stop()
		if !due.IsZero() {
			timer.Reset(time.Until(due))
		}
	}
}

// catchUp does what e was told, and returns when it must be called next.
func (e *echo) catchUp() (due time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.p == nil {
		return time.Time{}
	}
	drawn, late := e.heed(nil)
	if late {
		e.giveUp()
		return time.Time{}
	}
	e.write(e.p.Tick(drawn, time.Now()))
	return e.p.Due()
}

// giveUp takes away what is drawn, and ends the prediction. e.mu is held.
func (e *echo) giveUp() {
	if e.p != nil {
		e.write(e.p.Clear(nil))
		e.p = nil
	}
}

// heed carries out all orders since the last time, and appends their drawings. late: there were too
// many, and none is carried out. e.mu is held.
func (e *echo) heed(dst []byte) (drawn []byte, late bool) {
	e.queue.Lock()
	told, late := e.told, e.late
	e.told, e.behind = nil, 0
	e.queue.Unlock()
	for _, do := range told {
		dst = do(dst)
	}
	return dst, late
}

// write writes to the terminal. e.mu is held.
func (e *echo) write(p []byte) {
	if len(p) > 0 {
		_, _ = e.out.Write(p) // if it fails, the next output does, too
	}
}

// Write writes what the host sends.
func (e *echo) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.p == nil {
		return e.out.Write(p)
	}
	first, late := e.heed(nil)
	if late {
		e.giveUp()
		return e.out.Write(p)
	}
	before, after := e.p.Printed(p, time.Now())
	if len(first)+len(before)+len(after) == 0 {
		return e.out.Write(p)
	}
	e.wake()
	if _, err := e.out.Write(slices.Concat(first, before, p, after)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// tell has the goroutine do something, which holds so many bytes of keys.
func (e *echo) tell(bytes int, do func(dst []byte) []byte) {
	e.queue.Lock()
	if e.behind += bytes + 1; e.behind > maxBehind {
		e.told, e.late = nil, true
	}
	if !e.late {
		e.told = append(e.told, do)
	}
	e.queue.Unlock()
	e.wake()
}

func (e *echo) wake() { signalOnce(e.queued) }

// typed tells e that keys go to the host. It does not retain p.
func (e *echo) typed(p []byte) {
	if e == nil {
		return
	}
	keys, now := slices.Clone(p), time.Now()
	e.tell(len(keys), func(dst []byte) []byte { return e.p.Typed(dst, keys, now) })
}

// taken tells e what the host says of the keys.
func (e *echo) taken(told wire.Taken) {
	if e == nil {
		return
	}
	now := time.Now()
	e.tell(0, func(dst []byte) []byte { return e.p.Taken(dst, told.Bytes, told.Shown, now) })
}

// resized tells e of a change of the window.
func (e *echo) resized(w *window) {
	if e == nil || w.Cols == 0 || w.Rows == 0 {
		return
	}
	e.tell(0, func(dst []byte) []byte {
		e.p.Resize(int(w.Cols), int(w.Rows))
		return dst
	})
}
