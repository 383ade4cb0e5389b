package host

import (
	"bytes"
	"fmt"

	"termhost/ahp"
	"termhost/ptypool/vt"
)

// AHP's terminal/cleared empties the content. But the program does not know that it would have to
// draw anew, so the host keeps what it needs to go on. As in xterm.js's clear(), and so in VS Code,
// the line of the cursor, which is the prompt, becomes the first line, and all others go. The
// content then begins with what draws that line, so that replaying it still ends in the host's
// screen.

// clear does terminal/cleared, or returns why not. The Term's lock is held.
func (t *Terminal) clear(s step, a ahp.TerminalCleared) (reason string) {
	redrawn, reason := t.exec.clear()
	if reason != "" {
		return reason
	}
	t.accept(s, a)
	t.output.empty(redrawn)
	return ""
}

// empty does what follows terminal/cleared. redrawn: the program's own screen is empty, too.
func (o *output) empty(redrawn bool) {
	screen := o.t.term.Screen()
	full := screen.AltScreen()
	if !screen.InSequence() { // else what is fed would end the sequence, and its rest become text
		if !redrawn && !full {
			o.keepCursorLine(screen)
		}
		screen.Feed([]byte("\x1b[3J"), nil) // xterm's "Erase Saved Lines"
	}
	// On the alternate screen a program goes on drawing over what is there.
	if !redrawn || full {
		if left := screen.AppendRedraw(nil, vt.Redraw{}); !bytes.Equal(left, blank(screen)) {
			o.content.data(o.t.channel(), left)
		}
	}
}

// blank returns what draws a screen of the same size that is as it was made.
func blank(screen *vt.Screen) []byte {
	cols, rows := screen.Size()
	return vt.New(cols, rows, vt.Options{}).AppendRedraw(nil, vt.Redraw{})
}

// keepCursorLine moves the line of the cursor to the top of the main screen and erases all others.
// A screen that the program has divided with margins stays as it is. So does one whose cursor is in
// the last column: it may be about to wrap, and would forget that when it is moved.
func (o *output) keepCursorLine(screen *vt.Screen) {
	x, y, _ := screen.Cursor()
	cols, rows := screen.Size()
	top, bottom, originMode := screen.Margins()
	if x == cols-1 || top > 0 || bottom < rows-1 || originMode {
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
	o.t.viewers.pulledBack += screen.Scrolled() - before // they did not go into the history
}
