package viewer

import (
	"bytes"
	"io"
	"sync"
	"time"

	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
)

// readBytes is how much typed input is read at a time, and the buffer of an idle viewer.
const readBytes = 4 << 10

// inputLoop passes on what is typed at a terminal. Its run method has a goroutine of its own. It
// drops the input of a peer without a terminal, which only watches.
type inputLoop struct {
	w  *viewer
	in io.Reader

	// input is held while input is handled: while taking the delivery's, the host's and the IO's
	// locks, and while waiting for the viewer's loop, for room, and for the peer to read a notice.
	// None of those ever waits for it.
	input   sync.Mutex
	reads   int              // number of reads
	answers keyboard.Answers // takes out the answers of the viewer's terminal
	filter  keyboard.Filter  // takes out the keys behind the prefix
	inFocus bool             // the viewer's terminal has said so
	modal   bool             // the next key closes what is shown
	drop    dropping         // the rest of that key
	cut     []byte           // the beginning of a character typed at a dialog
	pasting bool             // the last input begins or continues a paste
	leaving bool             // the viewer detaches, or has departed
	aside   string           // the ask that the person has put aside; "": none

	to      *delivery // to the terminal that is shown
	refused refusals
	over    bool // keys were not taken, because the connection or the program has ended
	trail   trail

	going    *departure // begins when all that was typed is put back; nil: none does
	departed bool       // what is typed next is for a terminal on another host
	after    []byte     // what was typed at a dialog after the key that leads there
	unread   int        // bytes of the last read that were given back
}

func newInputLoop(w *viewer, in io.Reader) *inputLoop {
	l := &inputLoop{w: w, in: in, trail: newTrail(w.t, w.s)}
	l.giveTo(w.a)
	l.answers.Found, l.answers.Asked = w.noteAnswer, w.s.questions().asked
	l.answers.Now, l.answers.Focused = time.Now, l.focused
	l.answers.Focus = func() bool { return l.w.a.ReportsFocus() }
	l.filter.Prefix = w.s.Prefix
	l.filter.NoAlt = func() bool { return w.front.hasKeys() != nil } // Escape is a dialog's key
	return l
}

// giveTo directs typed input to another terminal.
func (l *inputLoop) giveTo(a *host.Attach) {
	l.to = newDelivery(l.w.ctx, l.w.s, a, l.w.tellLost)
	l.w.taken.to.Store(l.to)
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

// take handles what was read, and returns true if the loop is to stop. end: the input has ended.
// The peer's terminal is gone then, and the connection ends next.
func (l *inputLoop) take(p []byte, end bool) (leaving bool) {
	l.input.Lock()
	defer l.input.Unlock()
	if len(p) > 0 {
		l.unread = 0
		l.keys(p)
		if !l.over && l.w.ctx.Err() == nil { // else some of it was dropped
			l.w.taken.done(len(p) - l.unread)
		}
	}
	return end || l.leaving
}

// keys passes on the keys in p, without the answers, and has those that are held back typed in
// time.
func (l *inputLoop) keys(p []byte) {
	if !l.w.draws { // its terminal was asked nothing, and there is no prefix
		l.Typed(p)
		return
	}
	l.reads++
	if typed := l.answers.Take(p); len(typed) > 0 {
		l.feed(typed)
	}
	if wait := l.answers.Wait(); wait > 0 {
		reads := l.reads
		l.w.s.Go("passing on input", func() {
			for wait > 0 && l.w.waits(wait) {
				wait = l.typeHeld(reads)
			}
		})
	}
}

// typeHeld types what was held back as the possible beginning of an answer, unless there was
// another read since. Call it again after wait; 0: do not.
func (l *inputLoop) typeHeld(reads int) (wait time.Duration) {
	l.input.Lock()
	defer l.input.Unlock()
	if l.reads != reads || l.leaving {
		return 0
	}
	if typed := l.answers.Release(); len(typed) > 0 {
		l.feed(typed)
	}
	return l.answers.Wait()
}

// Typed passes p on to the program.
func (l *inputLoop) Typed(p []byte) {
	if l.w.ctx.Err() != nil {
		return
	}
	if p = l.dismissing(p); len(p) > 0 {
		p = l.converse(p)
	}
	if l.going != nil || l.departed { // with a key of a dialog
		l.after = append(l.after, p...)
		return
	}
	if len(p) == 0 || l.late(p) {
		return
	}
	if !l.filter.Pasting() {
		if p = l.forTheLine(p); len(p) == 0 {
			return
		}
	}
	if report, _ := keyboard.IsReport(p); !report {
		l.w.typing.typed(p)
		if l.w.lit.Load() {
			l.w.pressed()
		}
	}
	rest := l.pasting
	l.pasting = l.filter.Pasting()
	typed, err := l.to.give(p, rest)
	if typed {
		l.refused.lost = missing{typed: time.Now()}
	}
	if err != nil {
		l.lose(p, err)
	} else {
		l.tellTook() // also if p waits until the program has drawn for another size
	}
	if bytes.IndexByte(p, keyboard.Interrupt) >= 0 {
		l.w.hint(event{kind: interrupted})
	}
}

// late reports whether to drop p because it answers a question that is no longer on the screen.
func (l *inputLoop) late(p []byte) bool {
	return !l.filter.Pasting() && l.w.typing.late(p, l.asked)
}

// forTheLine returns the keys in p that may be typed at a line which has just come for the person
// to edit, and says if an Enter was too early.
func (l *inputLoop) forTheLine(p []byte) []byte {
	p, early := l.w.typing.withoutEnter(p)
	if early {
		l.w.say(notice("the line is new: look at it, then press Enter again"))
	}
	return p
}

// asked reports whether the person has to decide something that is not put aside.
func (l *inputLoop) asked() bool {
	is, ok := l.w.a.Asking()
	return ok && is.Ask != l.aside
}
