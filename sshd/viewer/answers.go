package viewer

import (
	"bytes"
	"slices"
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
// support"), for its name (XTVERSION) and for its attributes (DA1). Every terminal answers the
// last, so all answers have come then.
const askKind = "\x1b]99;i=termhost:p=?;\x1b\\\x1b[>q\x1b[c"

// answers are the viewer's terminal's answers to askColors and askKind. The input loop fills it.
type answers struct {
	since time.Time
	done  chan struct{} // closed when all have come

	asked  bool // for the colours
	got    [3]bool
	colors [3]vt.RGB

	kind     bool     // askKind was sent, and not all answered
	notifier notifyBy // how it shows notifications; notifyBell: it has not said
	pictures pictureForm
}

// newAnswers returns the answers to expect to askColors, askKind or both.
func newAnswers(now time.Time, colors, kind bool) *answers {
	return &answers{since: now, done: make(chan struct{}), asked: colors, kind: kind}
}

// questions returns what asks for them.
func (c *answers) questions() (text string) {
	if c.asked {
		text = askColors
	}
	if c.kind {
		text += askKind
	}
	return text
}

// note takes an answer, and reports whether it changes anything.
func (c *answers) note(p []byte) (news bool) {
	if len(p) > maxAnswer || c.complete() {
		return false
	}
	news = c.asked && c.color(p) || c.kind && c.what(p)
	if news && c.complete() {
		close(c.done)
	}
	return news
}

// complete reports whether all answers have come.
func (c *answers) complete() bool {
	return !c.kind && !(c.asked && slices.Contains(c.got[:], false))
}

// what takes an answer to askKind. Known notifications are better than a name.
func (c *answers) what(p []byte) bool {
	switch {
	case bytes.HasPrefix(p, []byte("\x1b]99;")):
		c.notifier = notify99
	case bytes.HasPrefix(p, []byte("\x1bP>|")):
		c.pictures = pictureFormOf(string(p[len("\x1bP>|"):]))
		if by := notifierOf(string(p[len("\x1bP>|"):])); c.notifier == notifyBell {
			c.notifier = by
		}
	case bytes.HasPrefix(p, []byte("\x1b[?")) && p[len(p)-1] == 'c':
		c.kind = false
	default:
		return false
	}
	return true
}

// color takes an answer to askColors.
func (c *answers) color(p []byte) bool {
	text, ok := bytes.CutPrefix(p, []byte("\x1b]1"))
	if !ok || len(text) < 2 || text[1] != ';' {
		return false
	}
	which := int(text[0]) - '0'
	if which < 0 || which >= len(c.got) || c.got[which] {
		return false
	}
	return c.keep(which, bytes.TrimRight(text[2:], "\a\x1b\\"))
}

// keep keeps the colour of an answer; it is false if spec names none.
func (c *answers) keep(which int, spec []byte) bool {
	if rgba, ok := bytes.CutPrefix(spec, []byte("rgba:")); ok { // an opacity follows the colours
		if end := bytes.LastIndexByte(rgba, '/'); end >= 0 {
			spec = append([]byte("rgb:"), rgba[:end]...)
		}
	}
	color, ok := vt.ParseColor(spec)
	if ok {
		c.got[which], c.colors[which] = true, color
	}
	return ok
}

// theme returns the colours once foreground and background are known. A cursor without a colour has
// that of the text.
func (c *answers) theme() (fg, bg, cursor vt.RGB, ok bool) {
	cursor = c.colors[0]
	if c.got[2] {
		cursor = c.colors[2]
	}
	return c.colors[0], c.colors[1], cursor, c.got[0] && c.got[1]
}
