package viewer

import (
	"fmt"
	"strings"
	"time"

	"termhost/ahp/host"
	"termhost/ptypool/vt/width"
)

// overlay is some lines over the bottom of a viewer's screen for a while. The host has the screen
// below, so covering it loses nothing.
type overlay struct {
	lines []string // nil: nothing
	// lasts is how long it is shown; 0: until a key is pressed. A notice is what lasts for a while:
	// it waits until it may appear, and the program's next output, or a key, ends it sooner.
	lasts time.Duration
	since time.Time // when a notice came
	until time.Time // when it ends; zero: it waits
	fresh bool      // the program is new, and may print something first
	// brackets: turn on bracketed paste, so that pastes can be told from keys, whether or not the
	// program wants that.
	brackets bool
	// greeting: it is the welcome, which says how many terminals want the person.
	greeting bool
	// took: it says that the person has taken the keyboard.
	took bool
	// keeps: notices about the keyboard wait until it is gone.
	keeps   bool
	table   bool // long lines are cut; those of text are wrapped
	current int  // the highlighted line of a table, counted from 1; 0: none
	// styled is how many of the first lines of a table have styles of their own (SGR, OSC 8) and
	// are as wide as they may be.
	styled int
	// strong are lines of a table that are headings, counted from 0; only the whole window of `top`
	// shows that.
	strong map[int]bool
	// signs are the highlighted pieces of a table's lines; it may be shorter than lines.
	signs [][]span
}

// untilKey makes the next key close the overlay.
func (o overlay) untilKey() overlay {
	o.lasts, o.brackets = 0, true
	return o
}

// timed reports whether the overlay is a notice, which disappears by itself.
func (o overlay) timed() bool { return o.lines != nil && o.lasts > 0 }

// firm reports whether it stays until a key closes it.
func (o overlay) firm() bool { return o.lines != nil && o.lasts == 0 }

// givesWay reports whether a notice may replace the overlay: there is none, or one that disappears
// by itself.
func (o overlay) givesWay() bool {
	return o.lines == nil || o.timed() && !o.keeps
}

// greets replaces the lines of a welcome that is still shown.
func (o *overlay) greets(lines []string) {
	if o.greeting && lines != nil {
		o.lines = lines
	}
}

func (o overlay) expired() bool {
	return o.lines != nil && !o.until.IsZero() && !time.Now().Before(o.until)
}

// drops returns when a notice that still waits is dropped; zero: none does.
func (o overlay) drops() time.Time {
	if !o.timed() || !o.until.IsZero() {
		return time.Time{}
	}
	return o.since.Add(mostWaiting)
}

// together is a space at which lines are not broken: U+00A0, no-break space.
const together = "\u00a0"

// appendTo appends a sequence that draws the overlay over a screen just drawn. It restores the
// cursor, and with it the character sets and origin mode (DECSC, DECRC), and does not change scroll
// margins.
func (o overlay) appendTo(dst []byte, w Window) []byte {
	if len(o.lines) == 0 {
		return dst
	}
	lines := o.fitted(w)
	dst = append(dst, overBegin...)
	dst = o.appendLines(dst, lines, w.Rows-len(lines), w)
	return append(dst, overEnd...)
}

// appendLines appends what draws lines of o from a row on, counted from 0.
func (o overlay) appendLines(dst []byte, lines []string, from int, w Window) []byte {
	if len(lines) > 0 { // the character ends SS2 and SS3
		dst = fmt.Appendf(dst, "\x1b[%d;1H ", from+1)
	}
	for i, text := range lines {
		row := from + 1 + i
		if i < o.styled {
			dst = fmt.Appendf(dst, "\x1b[%d;1H\x1b[0m\x1b[2K%s", row, text)
			continue
		}
		style := "0;7"
		if i+1 == o.current {
			style = "0;1"
		}
		dst = fmt.Appendf(dst, "\x1b[%d;1H\x1b[%sm\x1b[2K", row, style)
		dst = o.appendLine(dst, i, padded(text, lineRoom(w)), style, "0;1")
	}
	return dst
}

// place returns the lines of a notice that fit in the window, and the row, counted from 0, of the
// first one. They are the last rows of the window, or the first ones if those would cover the row
// of the cursor.
func (o overlay) place(w Window, cursor int) (from int, lines []string) {
	all := w.Rows
	lines = o.fitted(w)
	if w.Rows = max(cursor, all-1-cursor); len(lines) > w.Rows {
		lines = o.fitted(w)
	}
	if from = all - len(lines); from <= cursor {
		from = 0
	}
	return from, lines
}

// appendLine appends a line's text in a style, with its signs in another.
func (o overlay) appendLine(dst []byte, i int, text, style, sign string) []byte {
	at := 0
	if i < len(o.signs) {
		for _, s := range o.signs[i] {
			from, to := min(s.from, len(text)), min(s.to, len(text))
			dst = fmt.Appendf(dst, "%s\x1b[%sm%s\x1b[%sm", text[at:from], sign, text[from:to],
				style)
			at = to
		}
	}
	return append(dst, text[at:]...)
}

// overBegin ends what would change how the overlay looks: a sequence (CAN), a synchronized update,
// a hyperlink, origin mode, a character set.
const (
	overBegin = "\x18\x1b[?2026l\x1b7" + plainText
	overEnd   = "\x1b[m\x1b8"
	plainText = "\x1b]8;;\x1b\\\x1b[?6l\x0f\x1b(B"
)

// lineRoom is the width of a line: one less than the window's, because a full last line would
// scroll the screen on some terminals.
func lineRoom(w Window) int { return max(w.Cols-1, 0) }

// fitted returns the lines, wrapped and cut to fit the window. The last line of an overlay that a
// key closes says so, and is always kept.
func (o overlay) fitted(w Window) (lines []string) {
	last := 0 // where the last one begins
	for i, text := range o.lines {
		last = len(lines)
		if i < o.styled {
			lines = append(lines, text)
			continue
		}
		text = host.Printable(text)
		if o.table {
			lines = append(lines, text)
		} else {
			lines = wrap(lines, text, lineRoom(w))
		}
	}
	kept := w.Rows - (len(lines) - last)
	switch {
	case len(lines) <= w.Rows:
		return lines
	case !o.timed() && kept > 0:
		return append(lines[:kept:kept], lines[last:]...)
	}
	return lines[:w.Rows]
}

// wrap appends text to dst as lines of at most room cells, broken between words; a word is broken
// only if it is longer than a line. In an indented entry of a list, lines after the first align
// with the entry's text.
func wrap(dst []string, text string, room int) []string {
	body := strings.TrimLeft(text, " ")
	indent := len(text) - len(body)
	if name, about, entry := strings.Cut(body, "  "); entry && indent > 0 {
		indent += width.String(name) + len("  ") + len(about) - len(strings.TrimLeft(about, " "))
	}
	if indent > room/2 {
		indent = 0
	}
	for width.String(text) > room && room > 0 {
		line := width.Cut(text, room, "")
		at := len(line)
		if text[at] != ' ' { // not between words
			if space := strings.LastIndexByte(line, ' '); strings.TrimSpace(line[:space+1]) != "" {
				at = space
			}
		}
		if strings.TrimSpace(line) == "" { // not one character fits
			break
		}
		dst = append(dst, strings.TrimRight(text[:at], " "))
		text = strings.Repeat(" ", indent) + strings.TrimLeft(text[at:], " ")
	}
	return append(dst, text)
}

// padded makes text exactly room cells wide.
func padded(text string, room int) string {
	text = width.Cut(strings.ReplaceAll(text, together, " "), room, "")
	return text + strings.Repeat(" ", max(room-width.String(text), 0))
}
