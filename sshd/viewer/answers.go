package viewer

import (
	"bytes"
	"time"

	"termhost/ptypool/vt"
)

// askColors asks a terminal for its foreground, background and cursor colour (xterm ctlseqs, OSC
// 10, 11 and 12).
const askColors = "\x1b]10;?\x1b\\\x1b]11;?\x1b\\\x1b]12;?\x1b\\"

const (
	// answerTime is how long the viewer waits for answers before the connection ends.
	answerTime = 2 * time.Second
	// maxAnswer bounds an answer, in bytes; rgb: with four digits each has 28, and those about
	// notifications have about a hundred.
	maxAnswer = 256
)

// askKind asks a terminal whether it supports kitty's notifications (OSC 99, "Querying for
// support") and for its name (XTVERSION).
const askKind = "\x1b]99;i=termhost:p=?;\x1b\\\x1b[>q"

// askModes asks a terminal whether it can report the mouse in pixels, and measure grapheme clusters
// (DECRQM of modes 1016 and 2027). Only one that has said its name is asked: macOS's Terminal,
// which does not, prints a part of the question.
const askModes = "\x1b[?1016$p\x1b[?2027$p"

// askLast asks a terminal for its attributes (DA1). Every terminal answers that, so all answers
// have come then.
const askLast = "\x1b[c"

// themeReports has a terminal tell by itself when it turns dark or light (Contour, "Dark and Light
// Mode Detection"), with one of lightOrDark, and noThemeReports not any more. Terminals without the
// mode ignore both.
const (
	themeReports   = "\x1b[?2031h"
	noThemeReports = "\x1b[?2031l"
)

var lightOrDark = [...]string{"\x1b[?997;1n", "\x1b[?997;2n"}

// answers are the viewer's terminal's answers to askColors and askKind, the latest ones. The input
// loop fills it.
type answers struct {
	known  [3]bool
	colors [3]vt.RGB

	// pixelMouse is whether it reports the mouse in pixels, and clusters whether it knows mode
	// 2027. until is how many answers to DA1 come before one that has not said so cannot: one or,
	// if it is asked when it has said its name, two.
	pixelMouse, clusters ability
	keys                 ability // whether it has kitty's keyboard protocol
	until                int

	notifier notifyBy // how it shows notifications; notifyBell: it has not said
	pictures pictureForm
}

// note takes an answer, and reports whether it changes anything.
func (c *answers) note(p []byte) (news bool) {
	return len(p) <= maxAnswer && (c.color(p) || c.what(p))
}

// what takes an answer to askKind. Known notifications are better than a name.
func (c *answers) what(p []byte) bool {
	switch {
	case bytes.HasPrefix(p, []byte("\x1b]99;")):
		c.notifier = notify99
	case bytes.HasPrefix(p, []byte("\x1b[?1016;")):
		c.pixelMouse = knowsMode(p[len("\x1b[?1016;")])
	case bytes.HasPrefix(p, []byte("\x1b[?")) && p[len(p)-1] == 'u':
		c.keys = able
	case bytes.HasPrefix(p, []byte("\x1b[?2027;")):
		c.clusters = knowsMode(p[len("\x1b[?2027;")])
	case bytes.HasPrefix(p, []byte("\x1bP>|")):
		c.until = 2
		c.pictures = pictureFormOf(string(p[len("\x1bP>|"):]))
		if by := notifierOf(string(p[len("\x1bP>|"):])); c.notifier == notifyBell {
			c.notifier = by
		}
	case isKind(p):
		keys := c.keys.settle()
		if c.until--; c.until > 0 {
			return keys
		}
		mouse, clusters := c.pixelMouse.settle(), c.clusters.settle()
		return keys || mouse || clusters
	default:
		return false
	}
	return true
}

// ability is whether a terminal can do something.
type ability int

const (
	unknown ability = iota // it has not answered
	able
	unable
)

// knowsMode returns what the state of a mode in an answer to DECRQM says: set, reset and always set
// are those of modes that the terminal knows.
func knowsMode(state byte) ability {
	if state >= '1' && state <= '3' {
		return able
	}
	return unable
}

// settle is called when no answer comes any more, and reports whether there was none.
func (a *ability) settle() (news bool) {
	if *a != unknown {
		return false
	}
	*a = unable
	return true
}

// color takes an answer to askColors.
func (c *answers) color(p []byte) bool {
	text, ok := bytes.CutPrefix(p, []byte("\x1b]1"))
	if !ok || len(text) < 2 || text[1] != ';' {
		return false
	}
	which := int(text[0]) - '0'
	if which < 0 || which >= len(c.known) {
		return false
	}
	return c.keep(which, bytes.TrimRight(text[2:], "\a\x1b\\"))
}

// keep keeps the colour of an answer; it is false if that is no other one, or spec names none.
func (c *answers) keep(which int, spec []byte) bool {
	if rgba, ok := bytes.CutPrefix(spec, []byte("rgba:")); ok { // an opacity follows the colours
		if end := bytes.LastIndexByte(rgba, '/'); end >= 0 {
			spec = append([]byte("rgb:"), rgba[:end]...)
		}
	}
	color, ok := vt.ParseColor(spec)
	if !ok || c.known[which] && c.colors[which] == color {
		return false
	}
	c.known[which], c.colors[which] = true, color
	return true
}

// theme returns the colours once foreground and background are known. A cursor without a colour has
// that of the text.
func (c *answers) theme() (fg, bg, cursor vt.RGB, ok bool) {
	cursor = c.colors[0]
	if c.known[2] {
		cursor = c.colors[2]
	}
	return c.colors[0], c.colors[1], cursor, c.known[0] && c.known[1]
}
