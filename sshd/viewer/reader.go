package viewer

import (
	"context"
	"sync"

	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
)

// reader is the dialog in which a person looks back at what a terminal has printed: scrolls,
// searches, goes from command to command, and copies lines. It is behind the prefix key, and all of
// `log --look`.
//
// Reading takes its time, so a goroutine of its own does that: keys are put in a queue, and a
// drawing shows what it has made of those before.
type reader struct {
	s     *Session
	stage stage
	o     readerOptions
	close context.CancelFunc
	done  <-chan struct{} // closed when the reader is
	wake  chan struct{}   // 1 deep: there is something to do

	view readerView // the goroutine's
	look search     // the goroutine's

	mu     sync.Mutex    // a leaf
	part   Window        // to read for; zero: it was not drawn yet
	orders []readerOrder // what keys have asked for
	page   readerPage    // what has been read
	asking bool          // for the text to look for; keys go there
	text   string        // that text
	help   bool          // the next key closes the help
	copied []byte        // has the peer's terminal copy the last text; nil: it has
}

// readerOptions say what a reader is for.
type readerOptions struct {
	name string // of what is read
	from host.Source
	// whole: it has the whole window, and only q leaves it.
	whole bool
	// asks reports whether an agent's question waits behind the reader; nil: none does.
	asks func() bool
}

// readerOrder is a key that the goroutine is to act on or, with look, a text to look for.
type readerOrder struct {
	key  keyboard.Key
	look bool
	text string
}

// maxOrders bounds the keys that wait for the reading: who holds one down gets no further.
const maxOrders = 64

// newReader returns a reader on a stage, at the end of what was printed. It is to be closed.
func newReader(ctx context.Context, s *Session, on stage, o readerOptions) *reader {
	ctx, end := context.WithCancel(ctx)
	r := &reader{s: s, stage: on, o: o, close: end, done: ctx.Done(), wake: make(chan struct{}, 1)}
	r.view = readerView{mark: -1, printed: printed{conn: s.Conn, from: o.from, ctx: ctx}}
	s.Go("reading what was printed", r.run)
	return r
}

// closed implements [closing].
func (r *reader) closed() { r.close() }

// lookBack opens a reader over the terminal.
func (l *inputLoop) lookBack() {
	w, a := l.w, l.w.a
	w.front.open(newReader(w.ctx, w.s, w.front, readerOptions{
		name: w.s.called(w.t), from: host.Source{Terminal: w.t},
		asks: func() bool { _, asks := a.Asking(); return asks },
	}))
}

// Read shows what a source has printed, in a reader that has the peer's window, until the person
// leaves. name is what the peer calls the source. Errors are those of [Top].
func Read(ctx context.Context, s *Session, name string, from host.Source) error {
	t := newTop(ctx, s)
	r := newReader(ctx, s, t, readerOptions{name: name, from: from, whole: true})
	defer r.closed()
	t.dialog = r
	return t.runAlone()
}

// run reads, for the windows that it is drawn in and the keys that come, until the reader is
// closed.
func (r *reader) run() {
	for {
		select {
		case <-r.wake:
		case <-r.done:
			return
		}
		for more := true; more; {
			more = r.step()
		}
	}
}

// step acts on one key, and reads what there is to draw then. more: there are other keys.
func (r *reader) step() (more bool) {
	r.mu.Lock()
	part, note := r.part, r.page.note
	var o *readerOrder
	if len(r.orders) > 0 && part != (Window{}) {
		o, r.orders = &r.orders[0], r.orders[1:]
	}
	r.mu.Unlock()
	if part == (Window{}) {
		return false
	}
	if r.view.until == nil {
		r.begin()
	}
	had := r.view.total > 0
	r.view.fit(max(lineRoom(part), 1), max(part.Rows-1, 1))
	if o != nil {
		note = r.act(o)
	}
	page := r.read(part, note)
	gone := had && r.view.total == 0
	if gone {
		r.view.again()
		r.begin()
		page = r.read(part, "what you looked at is gone: this is what has come since")
	}
	r.mu.Lock()
	if gone { // keys were meant for that
		r.orders = nil
	}
	r.page = page
	more = len(r.orders) > 0 || r.part != part
	r.mu.Unlock()
	r.stage.repaint()
	return more
}

// begin reads up to the present end, and goes there.
func (r *reader) begin() {
	v := &r.view
	v.wrapped = map[int][]lineRow{}
	v.err = v.printed.read(func(_ *host.Work, s *history.Shown) { v.keep(s, v.total-1) })
	v.gone, v.mark, v.skip = 0, -1, 0
	v.at = v.clampLine(v.total)
	v.top = v.at
	r.look = search{}
}

// do gives the goroutine something to do. r.mu is held.
func (r *reader) do(o readerOrder) {
	if len(r.orders) < maxOrders {
		r.orders = append(r.orders, o)
	}
	r.wakes()
}

func (r *reader) wakes() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// takeCopied implements [copying].
func (r *reader) takeCopied() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.copied
	r.copied = nil
	return p
}

// copying is a dialog that copies text into the clipboard of the viewer's terminal.
type copying interface {
	dialog
	// takeCopied returns what is to be written after a drawing, once; nil: nothing is.
	takeCopied() []byte
}

// appendCopied appends what a dialog copies, if it does.
func appendCopied(dst []byte, d dialog) []byte {
	if c, copies := d.(copying); copies {
		dst = append(dst, c.takeCopied()...)
	}
	return dst
}
