package host

import (
	"bytes"
	"fmt"

	"termhost/ptypool/vt"
)

// AHP's terminal/cleared empties the content; what the program drew is for the host
// to keep, since the program does not know that it has to draw anew. As in xterm.js's
// clear(), and so in VS Code, the line of the cursor, which is the prompt, becomes the
// first one and everything else goes. The content then begins with what draws that,
// and so goes on replaying to the host's screen.

// cleared is called when t's content has been emptied. The Term's lock is held.
func (t *Terminal) cleared() {
	screen := t.term.Screen()
	full := screen.AltScreen()
	if !screen.Pending() { // else it would end up in the middle of a sequence
		if t.owned == nil && !full {
			t.keepCursorLine(screen)
		}
		screen.Feed([]byte("\x1b[3J"), nil) // xterm's "Erase Saved Lines"
	}
	// What an owner has cleared it draws itself, but for a full-screen program.
	if t.owned == nil || full {
		if left := screen.AppendRedraw(nil, vt.Redraw{}); !bytes.Equal(left, blank(screen)) {
			t.content.data(t.ch, left)
		}
	}
}

// blank returns what draws a screen of the same size on which nothing has happened.
func blank(screen *vt.Terminal) []byte {
	cols, rows := screen.Size()
	return vt.New(cols, rows, vt.Options{}).AppendRedraw(nil, vt.Redraw{})
}

// keepCursorLine moves the line of the cursor to the top of the main screen and erases
// all others. A screen that the program has divided stays as it is; so does one whose
// cursor may be waiting to wrap, which moving it would make it forget.
func (t *Terminal) keepCursorLine(screen *vt.Terminal) {
	x, y, _ := screen.Cursor()
	cols, rows := screen.Size()
	if x == cols-1 || confined(screen, rows) {
		return
	}
	var seq []byte
	if y > 0 {
		seq = fmt.Appendf(seq, "\x1b[%dS", y) // SU
	}
	if rows > 1 {
		seq = append(seq, "\x1b[2;1H\x1b[J"...) // CUP, ED
	}
	before := screen.Scrolled()
	screen.Feed(fmt.Appendf(seq, "\x1b[1;%dH", x+1), nil)
	t.pulledBack += screen.Scrolled() - before // these lines are nobody's any more
}

// confined reports whether the program has set margins or makes the cursor count from
// them (DECRQSS of DECSTBM; DECRQM of DECOM).
func confined(screen *vt.Terminal, rows int) bool {
	var r answers
	screen.Feed([]byte("\x1bP$qr\x1b\\\x1b[?6$p"), &r)
	return r.text != fmt.Sprintf("\x1bP1$r1;%dr\x1b\\\x1b[?6;2$y", rows)
}

// answers collects what the screen answers to a query of the host's own, of which
// nothing else comes.
type answers struct {
	vt.Sink
	text string
}

// Reply takes an answer.
func (r *answers) Reply(p []byte) { r.text += string(p) }

// Data has nothing to show.
func (r *answers) Data([]byte) {}
