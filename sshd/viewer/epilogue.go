package viewer

import (
	"fmt"

	"termhost/ptypool/keyboard"
)

// ended decides what follows the last output of a terminal that the viewer has switched to. It runs
// in the viewer's loop. A terminal of the person's own ends like a shell. A removed one cannot be
// shown any longer. Others stay on the screen for as long as the person wants.
func (w *viewer) ended() {
	if w.t.EndedBy() == "" && !w.a.Fleeting() {
		w.front.open(&epilogue{w: w}) // which gets what is typed
		return
	}
	text := ""
	if w.t.EndedBy() != "" {
		text = w.howItEnded() + "; "
	}
	w.goBack(text)
}

// goBack leaves an ended terminal, or ends the connection if there is no other one. Both loops may
// call it.
func (w *viewer) goBack(before string) {
	from := w.t
	w.s.Go("going back", func() {
		l := w.typed
		l.input.Lock()
		defer l.input.Unlock()
		if w.t != from || l.leaving {
			return // the person was faster
		}
		if !l.goBack(before) {
			w.post(event{kind: nothingLeft})
		}
	})
}

// epilogue is the dialog at an ended terminal.
type epilogue struct{ w *viewer }

func (e *epilogue) draw(_, _ Window) overlay {
	return overlay{lines: []string{fmt.Sprintf("termhost: %s. Enter goes back, %s lists all.",
		e.w.howItEnded(), e.w.s.key('l'))}}
}

func (e *epilogue) key(k keyboard.Key) verdict {
	switch k.Code {
	case keyboard.Enter, keyboard.Escape, 'q':
		e.w.goBack("")
	}
	return dialogStays
}
