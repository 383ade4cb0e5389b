package verbs

import (
	"fmt"
	"io"
	"time"

	"termhost/ahp/host"
	"termhost/ptypool"
)

const (
	// keepTitle and giveTitleBack save and restore the title of a viewer's terminal (xterm ctlseqs,
	// "Window manipulation", 22 and 23).
	keepTitle     = "\x1b[22;2t"
	giveTitleBack = "\x1b[23;2t"
)

// begin writes what comes before live output. The redraw, first, comes last: it may end in the
// middle of a sequence that the program goes on with.
func (w *viewer) begin(first []byte) error {
	var before string
	if w.interactive {
		before = keepTitle
	}
	if w.answers != nil && !w.away {
		before += w.answers.questions()
	}
	if _, err := io.WriteString(w.out, before); err != nil {
		return err
	}
	_, err := w.out.Write(first)
	return err
}

// finish leaves the viewer's terminal as a shell expects it, and writes a last line.
func (w *viewer) finish(end ending) {
	if w.interactive {
		_, _ = w.out.Write(w.leaving())
	}
	name := w.t.Name()
	switch end {
	case exited:
		switch why := w.t.EndedBy(); {
		case w.over:
			w.lastLine("[%s]", w.howItEnded())
		case why != "":
			w.lastLine("[%s was ended %s]", name, host.Printable(why))
		}
	case detached:
		w.lastLine("[detached: %s goes on running; `%s` comes back]", name, w.v.comeBack(name))
	case kicked:
		w.lastLine("[%s]", host.Printable(w.a.KickedBy().Error()))
	case cutOff:
		if why := w.v.ended(); why != nil {
			w.lastLine("[%s; %s goes on as long as the host does]",
				host.Printable(why.Error()), name)
		}
	}
}

// leaving returns what puts the viewer's terminal back as it was before the program.
func (w *viewer) leaving() []byte {
	w.overlay, w.att.mark = overlay{}, overlay{}
	w.front.clear()
	sane := w.a.Restore()
	if w.mustDraw() {
		// That put the cursor below the program's text; what the viewer saw of it reaches down to
		// the last row.
		sane = fmt.Appendf(sane, "\x1b[%d;1H\r\n", w.window.Rows)
	}
	return append(sane, giveTitleBack...)
}

// howItEnded tells somebody who comes to see a terminal after its end how and when it ended, and
// how to remove it.
func (w *viewer) howItEnded() string {
	how := "exited"
	if why := w.t.EndedBy(); why != "" {
		how = "was ended " + host.Printable(why)
	}
	if st, _ := w.t.Exit(); st.Code != ptypool.UnknownExit {
		how += fmt.Sprintf(" with status %d", st.Code)
	}
	ago := host.Age(time.Since(w.t.ExitedAt()))
	text := fmt.Sprintf("%s %s, %s ago", w.t.Name(), how, ago)
	if w.v.Host.MayDispose(w.v.principal(), w.t) {
		text += fmt.Sprintf("; `%s` removes it", w.v.command("rm", w.t.Name()))
	}
	return text
}

// lastLine writes a line where a person sees it but no program that reads a stream does.
func (w *viewer) lastLine(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if w.interactive {
		_, _ = io.WriteString(w.out, text+"\r\n")
		return
	}
	_, _ = io.WriteString(w.v.Stderr(), text+"\n")
}
