package sshd

import (
	"context"
	"fmt"
	"io"
	"time"

	"termhost/ahp/host"
)

const (
	// keepTitle and giveTitleBack save and restore the title of a viewer's
	// terminal (xterm ctlseqs, "Window manipulation", 22 and 23).
	keepTitle     = "\x1b[22;2t"
	giveTitleBack = "\x1b[23;2t"
)

// greet writes what comes first. The redraw comes last: it may end in the middle
// of a sequence that the program goes on with.
func (w *viewer) greet(first []byte) error {
	var before string
	if w.interactive {
		before = keepTitle
	}
	if w.colors != nil {
		before += askColors
	}
	if _, err := io.WriteString(w.out, before); err != nil {
		return err
	}
	_, err := w.out.Write(first)
	return err
}

// awaitColors waits a little for answers on their way. If they came after the
// end, they would be typed at the viewer's own shell.
func (w *viewer) awaitColors() {
	if w.colors == nil {
		return
	}
	const most = 250 * time.Millisecond // a slow connection's way there and back
	timer := time.NewTimer(min(most, time.Until(w.colors.until)))
	defer timer.Stop()
	select {
	case <-w.colors.done:
	case <-timer.C:
	case <-w.s.ctx.Done():
	}
}

// part takes leave of the viewer: its terminal as a shell expects it, and a last
// line.
func (w *viewer) part(end ending) {
	if w.interactive {
		w.overlay = overlay{}
		sane := w.a.Restore()
		if w.mustDraw() {
			// That put the cursor below the program's text; what the viewer
			// saw of it reaches down to the last row.
			sane = fmt.Appendf(sane, "\x1b[%d;1H\r\n", w.window.rows)
		}
		_, _ = w.out.Write(append(sane, giveTitleBack...))
	}
	name := w.t.Name()
	switch end {
	case exited:
		if why := w.t.EndedBy(); why != "" {
			w.lastLine("[%s was ended %s]", name, host.Printable(why))
		}
	case detached:
		w.lastLine("[detached: %s goes on running; `%s` comes back]", name, w.s.c.comeBack(name))
	case cutOff:
		if why := context.Cause(w.s.ctx); why != nil && w.s.c.ctx.Err() != nil {
			w.lastLine("[%s; %s goes on as long as the host does]", host.Printable(why.Error()), name)
		}
	}
}

func (w *viewer) lastLine(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if w.interactive {
		_, _ = io.WriteString(w.out, text+"\r\n")
		return
	}
	_, _ = io.WriteString(w.s.stderr, text+"\n")
}
