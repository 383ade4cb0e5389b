package verbs

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
	"termhost/ptypool/vt"
)

// readBytes is how much is read of what is typed at a time; also what an idle viewer holds for it.
const readBytes = 4 << 10

// keyInterrupt is the terminal line's usual VINTR (termios(3)).
const keyInterrupt = 0x03

// inputLoop passes on what is typed at a terminal. Its run method has a goroutine of its own. What
// a peer without a terminal sends is dropped: it only looks.
type inputLoop struct {
	w  *viewer
	in io.Reader

	// input is held over all that is done about what was read: over the delivery's lock, over the
	// host's locks and the IO's, and over waiting for the viewer's loop, for room and for the peer
	// to take a notice. None of those ever waits for it.
	input   sync.Mutex
	answers *answers // nil: they are no longer looked for
	filter  keyboard.Filter
	modal   bool      // something is shown that the next key closes
	cut     []byte    // the beginning of a character that is typed at a dialog
	drop    dropping  // what is left to be dropped of the key that closed it
	refused time.Time // the last refusal
	leaving bool      // the viewer detaches

	// When a key was typed at the program last, and when a question that keys answered has gone
	// last (Unix time in ns).
	typedAt, answeredAt atomic.Int64

	to    *delivery      // to the terminal that is shown
	home  *host.Terminal // that the connection began with
	last  *host.Terminal // that was shown before; nil: none
	theme *[3]vt.RGB     // the colours of the viewer's terminal; nil: not known
}

func newInputLoop(w *viewer, in io.Reader) *inputLoop {
	l := &inputLoop{w: w, in: in, answers: w.answers, home: w.t, to: w.v.newDelivery(w.a)}
	l.filter.Prefix = w.v.Prefix
	l.filter.NoAlt = func() bool { return w.front.hasKeys() != nil } // Escape is a dialog's key
	return l
}

// run reads until the input or the peer's streams end, or the viewer detaches.
func (l *inputLoop) run() {
	if !l.w.interactive {
		_, _ = io.Copy(io.Discard, l.in)
		return
	}
	buf := make([]byte, readBytes)
	for {
		n, err := l.in.Read(buf)
		if l.take(buf[:n], err != nil) {
			return
		}
	}
}

// take deals with what was read; leaving says that nothing more is to be read. end: the input has
// ended. The peer's terminal is gone then, and the connection ends next.
func (l *inputLoop) take(p []byte, end bool) (leaving bool) {
	l.input.Lock()
	defer l.input.Unlock()
	if l.answers != nil {
		p = l.takeAnswers(p)
	}
	if len(p) > 0 {
		l.filter.Feed(p, l)
	}
	return end || l.leaving
}

// Typed passes p on to the program.
func (l *inputLoop) Typed(p []byte) {
	if l.w.v.ctx.Err() != nil {
		return
	}
	if p = l.dismissing(p); len(p) > 0 {
		p = l.converse(p)
	}
	if len(p) == 0 || l.late(keyIn(p)) {
		return
	}
	if report, _ := keyboard.IsReport(p); !report {
		l.typedAt.Store(time.Now().UnixNano())
	}
	switch typed, err := l.to.give(p); {
	case err != nil:
		l.explain(err)
	case typed:
		l.tellTook()
	}
	if bytes.IndexByte(p, keyInterrupt) >= 0 {
		l.w.hint(event{kind: interrupted})
	}
}
