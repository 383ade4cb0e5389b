package viewer

import (
	"errors"
	"fmt"
	"io"
	"time"

	"termhost/ahp/host"
	"termhost/ptypool"
	"termhost/sshd/wording"
)

const (
	// keepTitle and giveTitleBack save and restore the title of a viewer's terminal (xterm ctlseqs,
	// "Window manipulation", 22 and 23).
	keepTitle     = "\x1b[22;2t"
	giveTitleBack = "\x1b[23;2t"
)

// begin writes what precedes live output. The redraw, first, comes last: it may end in the middle
// of a sequence that the program continues.
func (w *viewer) begin(first []byte) error {
	var before string
	if w.draws {
		before = keepTitle
	}
	before += w.firstQuestions()
	if _, err := io.WriteString(w.out, before); err != nil {
		return err
	}
	w.pictures.redrawn()
	w.retitle()
	if w.draws && w.pictures.wanted() {
		w.a.DrawsPictures()
	}
	if _, err := w.out.Write(first); err != nil {
		return err
	}
	w.place.printed(time.Now())
	w.awaitHistory()
	return nil
}

// finish leaves the viewer's terminal as a shell expects it, and writes a last line, unless another
// terminal is shown next.
func (w *viewer) finish(end Ending) {
	if w.draws {
		_, _ = w.out.Write(append(w.leaving(), w.endReports()...))
	}
	if w.o.Listed && end != Lost {
		return
	}
	name := w.s.called(w.t)
	switch end {
	case Exited:
		switch why := w.t.EndedBy(); {
		case w.over:
			w.lastLine("[%s]", w.howItEnded())
		case why != "":
			w.lastLine("[%s was ended %s]", name, host.Printable(why))
		}
	case Detached:
		if _, exited := w.t.Exit(); exited {
			w.lastLine("[%s]", w.howItEnded())
			return
		}
		w.lastLine("[detached: %s goes on running; `%s` comes back]", name,
			w.s.ComeBack(w.t.Name()))
	case Kicked:
		w.lastLine("[%s]", w.s.kicked(w.a.KickedBy()))
	case Lost:
		w.lastLineOfLost()
	}
}

// lastLineOfLost tells a person whose connection the host ends why, and how to come back.
func (w *viewer) lastLineOfLost() {
	name := w.s.called(w.t)
	switch why := w.s.Ended(); {
	case why == nil: // the peer has gone
	case errors.Is(why, host.ErrLeaving):
		command := w.s.ComeBack(w.t.Name())
		if !w.interactive && w.o.Again != "" {
			command = w.o.Again // a stream for a program
		}
		w.lastLine("[the host restarts; %s goes on: `%s`]", name, command)
	default:
		w.lastLine("[%s; %s goes on running]", host.Printable(why.Error()), name)
	}
}

// leaving returns a sequence that restores the viewer's terminal. It removes overlays first.
func (w *viewer) leaving() (sane []byte) {
	covered := w.drawn && (w.overlay.lines != nil || w.att.marked || w.front.dialog() != nil)
	below := w.status.shown()
	w.overlay, w.att.marked = overlay{}, false
	w.front.clear()
	sane = append(sane, w.light.back...)
	w.light.drop()
	if covered {
		uncovered := w.a.Uncover
		if below || w.differs() {
			uncovered = func() ([]byte, error) {
				screen, _, err := w.a.Covered(host.Over{All: true})
				return screen, err
			}
		}
		if screen, err := uncovered(); err == nil { // else it has been disposed
			sane = append(sane, screen...)
		}
	}
	sane = append(sane, w.a.Restore()...)
	if w.differs() {
		// That put the cursor below the program's text; but the viewer's part of it reaches down to
		// the last row.
		sane = fmt.Appendf(sane, "\x1b[%d;1H\r\n", w.window.Rows)
	}
	if below {
		sane = w.appendNoStatus(sane)
	}
	return append(sane, giveTitleBack...)
}

// howItEnded tells a person who comes after the terminal's end how and when it ended, and how to
// remove it.
func (w *viewer) howItEnded() string {
	how := "exited"
	if why := w.t.EndedBy(); why != "" {
		how = "was ended " + host.Printable(why)
	}
	if st, _ := w.t.Exit(); st.Code != ptypool.UnknownExit {
		how += fmt.Sprintf(" with status %d", st.Code)
	}
	ago := wording.Age(time.Since(w.t.ExitedAt()))
	text := fmt.Sprintf("%s %s, %s ago", w.s.called(w.t), how, ago)
	if w.s.Conn.MayDispose(w.t) {
		text += fmt.Sprintf("; `%s` removes it", w.s.Remove(w.t.Name()))
	}
	return text
}

// lastLine writes a line that a person sees, but no program that reads a stream.
func (w *viewer) lastLine(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	switch {
	case w.draws:
		_, _ = io.WriteString(w.out, text+"\r\n")
	case w.interactive:
		_, _ = io.WriteString(w.s.Stderr(), text+"\r\n")
	default:
		_, _ = io.WriteString(w.s.Stderr(), text+"\n")
	}
}
