package sshd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"termhost/ahp/host"
	"termhost/authz"
)

const (
	// readBytes is how much is read of what is typed at a time; also what an
	// idle SSH session holds for it.
	readBytes = 4 << 10
	// maxHeld bounds what is kept, in bytes, of what was typed at a program
	// that does not read, beyond the terminal's own queue. Up to there the
	// channel is still read, so that an interrupt key behind it gets through.
	maxHeld = 256 << 10
	// refusalPause ends a burst of refused keys: the next one is told anew.
	refusalPause = 2 * time.Second
)

// The terminal line's usual characters (termios(3)).
const (
	keyEOF       = 0x04 // VEOF
	keyInterrupt = 0x03 // VINTR
)

// interruptKeys are what a terminal line usually turns into signals: VINTR,
// VQUIT, VSUSP. Whether it does so now, the host knows.
const interruptKeys = "\x03\x1c\x1a"

// typist passes on what is typed at a terminal. Its run method has a goroutine
// of its own.
type typist struct {
	w     *viewer
	in    io.Reader
	shell bool // the end of input ends a shell's last line with Enter
	deaf  bool // nothing is passed on, and nothing is said about that

	// input is held over all that is done about what was read. Locks of the
	// host and mu are taken under it.
	input   sync.Mutex
	colors  *colorAnswers // nil: none are looked for any more
	filter  keyFilter
	modal   bool      // something is shown that the next key closes
	drop    dropping  // what closed it and has not come to its end
	refused time.Time // the last refusal
	last    byte      // the last byte that was typed; 0: none
	leaving bool

	mu      sync.Mutex    // a leaf, held over the host's Input, which does not wait
	held    []byte        // what the terminal's queue has no room for
	feeding bool          // feed runs
	room    chan struct{} // 1 deep: held has shrunk
	feeders sync.WaitGroup
}

func newTypist(w *viewer, in io.Reader) *typist {
	t := &typist{w: w, in: in, colors: w.colors, room: make(chan struct{}, 1)}
	if w.interactive {
		t.filter.prefix = w.s.c.srv.cfg.DetachPrefix
	}
	return t
}

// run reads until the input or the SSH session ends, or the viewer detaches.
func (t *typist) run() {
	if t.deaf {
		_, _ = io.Copy(io.Discard, t.in)
		return
	}
	defer t.feeders.Wait()
	buf := make([]byte, readBytes)
	for {
		n, err := t.in.Read(buf)
		if t.take(buf[:n], err != nil) {
			return
		}
	}
}

// take deals with what was read, at its end with that; leaving says that there is
// to be no more.
func (t *typist) take(p []byte, end bool) (leaving bool) {
	t.input.Lock()
	defer t.input.Unlock()
	if t.colors != nil {
		p = t.takeColors(p)
	}
	if len(p) > 0 {
		t.filter.feed(p, t)
	}
	if end && t.w.s.ctx.Err() == nil {
		t.endOfInput()
	}
	return end || t.leaving
}

// typed passes p on to the program.
func (t *typist) typed(p []byte) {
	if t.w.s.ctx.Err() != nil {
		return
	}
	if p = t.closing(p); len(p) == 0 {
		return
	}
	t.last = p[len(p)-1]
	t.deliver(p)
	if bytes.IndexByte(p, keyInterrupt) >= 0 {
		t.w.hint(event{kind: interrupted})
	}
}

// deliver gives the host p, or keeps it until there is room.
func (t *typist) deliver(p []byte) {
	t.mu.Lock()
	if t.held == nil {
		err := t.w.a.Input(p)
		if !errors.Is(err, host.ErrBusy) {
			t.mu.Unlock()
			if err == nil {
				t.tellTook()
			} else {
				t.explain(err)
			}
			return
		}
	}
	t.held = append(t.held, p...)
	if bytes.ContainsAny(p, interruptKeys) {
		// All that is held has not fitted before, so either it fits now, in
		// order, or the key takes what is before it away; see
		// ptypool.Term.Input.
		if t.w.a.Input(t.held) == nil {
			t.held = nil
		}
	}
	if t.held != nil && !t.feeding {
		t.feeding = true
		t.feeders.Go(t.feed)
	}
	t.mu.Unlock()
	t.waitRoom()
}

// waitRoom returns when little enough is held to read on.
func (t *typist) waitRoom() {
	limit := maxHeld
	if !t.w.interactive {
		limit = 0 // a stream has no keys that could be urgent
	}
	for {
		t.mu.Lock()
		full := len(t.held) > limit
		t.mu.Unlock()
		if !full {
			return
		}
		select {
		case <-t.room:
		case <-t.w.s.ctx.Done():
			return
		}
	}
}

// feed hands over what is held as the program reads.
func (t *typist) feed() {
	defer t.w.s.c.recovered("passing on input")
	for {
		err := t.w.a.WaitRoom(t.w.s.ctx)
		t.mu.Lock()
		for err == nil && len(t.held) > 0 {
			piece := t.held[:min(len(t.held), readBytes)]
			if err = t.w.a.Input(piece); err == nil {
				t.held = t.held[len(piece):]
			}
		}
		busy := errors.Is(err, host.ErrBusy)
		if !busy { // all is gone, or nobody will ever take it
			t.held = nil
			t.feeding = false
		}
		t.mu.Unlock()
		select {
		case t.room <- struct{}{}:
		default:
		}
		if !busy {
			return
		}
	}
}

// explain shows why a key was refused, once for a burst of keys.
func (t *typist) explain(err error) {
	var denied *authz.Denied
	if !errors.As(err, &denied) {
		return
	}
	now := time.Now()
	burst := now.Sub(t.refused) < refusalPause
	t.refused = now
	if burst {
		return
	}
	text := denied.Rule
	switch name, other := t.w.a.HeldByOther(); {
	case t.w.t.Client():
		text = "observation-only: owned by " + host.Printable(name)
	case other:
		text += "; held by " + host.Printable(name)
	}
	t.show(notice("%s", text))
}

// tellTook says whose keyboard a key has taken.
func (t *typist) tellTook() {
	name := t.w.a.Took()
	switch {
	case name == "":
	case t.filter.prefix == 0:
		t.show(notice("you took the keyboard from %s", host.Printable(name)))
	default:
		t.show(notice("you took the keyboard from %s; %s r hands it back", host.Printable(name), keyName(t.filter.prefix)))
	}
}

// show has the loop show o. A viewer without a window gets it as text.
func (t *typist) show(o overlay) {
	if t.w.interactive {
		t.w.post(event{kind: showOverlay, overlay: o})
		return
	}
	for _, text := range o.lines {
		fmt.Fprintln(t.w.s.stderr, text)
	}
}

// endOfInput tells the program that nothing more comes. In a line that has been
// begun, the first VEOF only ends the line (termios(3), VEOF); the second one is
// the end. A shell that edits its lines takes neither there: its line is ended
// with Enter.
func (t *typist) endOfInput() {
	if t.w.interactive {
		return // the client's terminal is gone; the connection ends next
	}
	switch begun := t.last != 0 && t.last != '\n'; {
	case begun && t.shell:
		t.deliver([]byte{'\n', keyEOF})
	case begun:
		t.deliver([]byte{keyEOF, keyEOF})
	default:
		t.deliver([]byte{keyEOF})
	}
}

func (t *typist) prefixed() {
	if t.modal {
		t.modal = false
		t.w.post(event{kind: dismiss})
	}
	t.w.post(event{kind: awaitCommand})
}

// commanded does what the key after the prefix stands for.
func (t *typist) commanded(k rune, form, raw []byte) {
	if t.leaving {
		return
	}
	t.w.post(event{kind: dismiss})
	switch {
	case k == rune(t.filter.prefix):
		t.typed(form)
	case k == 'd':
		t.leaving = true
		t.w.post(event{kind: leave})
	case k == 'c':
		t.claim()
	case k == 'r':
		t.handBack()
	case k == 'l':
		t.modal = true
		t.show(t.w.listing().untilKey())
	case k == '?':
		t.modal = true
		t.show(t.w.fullHelp().untilKey())
	default:
		t.typed(form)
		t.typed(raw)
	}
}

func (t *typist) claim() {
	if err := t.w.a.Claim(); err != nil {
		t.show(notice("%s", explain(err)))
		return
	}
	if name := t.w.a.Took(); name != "" {
		t.show(notice("you have the keyboard; %s r hands it back to %s", keyName(t.filter.prefix), host.Printable(name)))
		return
	}
	t.show(notice("you have the keyboard"))
}

func (t *typist) handBack() {
	name, err := t.w.a.HandBack()
	if err != nil {
		t.show(notice("%s", explain(err)))
		return
	}
	t.show(notice("handed back to %s", host.Printable(name)))
}

// listing shows the terminals.
func (w *viewer) listing() overlay {
	list, err := w.s.c.srv.cfg.Host.List(w.s.c.principal())
	if err != nil {
		return notice("%s", explain(err))
	}
	var o overlay
	for _, t := range list {
		mark := " "
		if t.Name == w.t.Name() {
			mark = "*"
		}
		row := listRow(t, w.s.c.srv.cfg.Now(), false)
		o.lines = append(o.lines, fmt.Sprintf("%s %-16s %-11s %-12s %s", mark, row[0], row[1], row[2], row[7]))
	}
	if most := w.s.size().rows - 2; len(o.lines) > max(most, 1) {
		o.lines = o.lines[:max(most, 1)]
	}
	o.lines = append(o.lines, "Any key closes this.")
	return o
}
