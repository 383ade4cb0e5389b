package viewer

import (
	"io"

	"termhost/ahp"
	"termhost/ahp/store"
)

// pullBytes is how much output is taken from the log at a time: enough for large writes, little
// enough that keys and notices are not kept waiting.
const pullBytes = 256 << 10

// write sends output as it is. A single piece is written from where it is; several are joined, so
// that each write is large.
func (w *viewer) write(items []store.Item) error {
	b := w.s.Buffers.batch(w.out)
	defer b.release()
	for i := range items {
		it := &items[i]
		switch {
		case it.Lagged != nil:
			if err := b.flush(); err != nil {
				return err
			}
			return w.catchUp()
		case it.Entry == nil:
			continue
		}
		switch act := it.Entry.Action().(type) {
		case ahp.TerminalData:
			w.pictures.printed(act.Data)
			if err := b.add(act.Data); err != nil {
				return err
			}
		case store.Clipboard:
			if err := b.add(act.Sequence); err != nil {
				return err
			}
		case store.Notification:
			if err := b.add(act.Sequence); err != nil {
				return err
			}
		case store.Mark:
			if !w.draws {
				continue
			}
			if err := b.add(act.Sequence); err != nil {
				return err
			}
		case ahp.TerminalResized:
			if w.draws { // its lines are wrapped anew
				w.lost = true
				return b.flush()
			}
		case ahp.TerminalCleared:
			w.lost = w.draws
		case ahp.TerminalTitleChanged:
			w.retitle() // the program has set another one
		}
	}
	return b.flush()
}

// catchUp shows the present state to a viewer that fell behind. Where nothing is drawn, that is the
// output that is retained; on a stream it is announced, because it repeats some of what has been
// written before.
func (w *viewer) catchUp() error {
	var state []byte
	var err error
	switch {
	case w.draws:
		state, err = w.a.Screen()
	case w.interactive:
		state, err = w.a.Redraw()
	default:
		_, _ = io.WriteString(w.s.Stderr(), "termhost: output came faster than it could be shown;"+
			" what is retained of it follows\n")
		state, err = w.a.Redraw()
	}
	if err != nil {
		return nil // disposed meanwhile: there is nothing to show
	}
	w.pictures.redrawn()
	w.retitle()
	_, err = w.out.Write(state)
	return err
}
