package sshd

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"termhost/ahp/host"
)

// overlay is what lies over the bottom of a viewer's screen for a while. The
// screen below is the host's; nothing is lost by covering it.
type overlay struct {
	lines []string  // nil: nothing
	until time.Time // zero: until a key is pressed
	// brackets has the viewer's terminal put what is pasted in brackets, so that
	// it can be told from keys, whether or not the program wants them.
	brackets bool
}

// noticeTime is how long a notice stays: to read a line takes about three.
const noticeTime = 3 * time.Second

func notice(format string, args ...any) overlay {
	return overlay{lines: []string{"termhost: " + fmt.Sprintf(format, args...)}, until: time.Now().Add(noticeTime)}
}

// untilKey makes an overlay one that the next key closes.
func (o overlay) untilKey() overlay {
	o.until, o.brackets = time.Time{}, true
	return o
}

func (o overlay) expired() bool {
	return o.lines != nil && !o.until.IsZero() && !time.Now().Before(o.until)
}

// appendTo appends what draws the overlay over a screen that was just drawn. The
// cursor goes back to where the drawing left it (DECSC, DECRC), with it the
// character sets and origin mode; scroll margins stay as they are.
func (o overlay) appendTo(dst []byte, w window) []byte {
	if len(o.lines) == 0 {
		return dst
	}
	lines := o.lines[:min(len(o.lines), w.rows)]
	dst = append(dst, "\x1b7\x1b[?6l\x0f\x1b(B"...)
	for i, text := range lines {
		dst = fmt.Appendf(dst, "\x1b[%d;1H\x1b[0;7m\x1b[2K%s", w.rows-len(lines)+1+i, fit(text, w.cols))
	}
	if o.brackets {
		dst = append(dst, "\x1b[?2004h"...)
	}
	return append(dst, "\x1b[m\x1b8"...)
}

// fit makes text one cell narrower than cols: a full last line would scroll the
// screen on some terminals.
func fit(text string, cols int) string {
	text = ansi.Truncate(host.Printable(text), max(cols-1, 0), "")
	return text + strings.Repeat(" ", max(cols-1-ansi.StringWidth(text), 0))
}

// prefixHelp shows the keys in one line.
func (w *viewer) prefixHelp() overlay {
	p := keyName(w.s.c.srv.cfg.DetachPrefix)
	return overlay{lines: []string{"d detach  c claim  r hand back  l list  ? help  " + p + " sends it"}}
}

// fullHelp explains the keys.
func (w *viewer) fullHelp() overlay {
	p := keyName(w.s.c.srv.cfg.DetachPrefix)
	claim := "your keys reach the program"
	if name, other := w.a.HeldByOther(); other {
		claim = "held by " + host.Printable(name)
	} else if !w.a.Holds() {
		claim = "this attach is read-only"
	}
	return overlay{lines: []string{
		fmt.Sprintf("terminal %s (%s). After %s:", w.t.Name(), claim, p),
		"  d  detach; the terminal goes on",
		"  c  claim: take the keyboard",
		"  r  hand the claim back to whom it was taken from",
		"  l  list the terminals",
		"  " + p + "  send it to the program",
		"Any key closes this.",
	}}
}
