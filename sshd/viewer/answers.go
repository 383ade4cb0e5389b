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
	// answerTime is how long the end of a connection waits for answers.
	answerTime = 2 * time.Second
	// expectTime is how long Escape waits a little, because it may begin an answer that has not
	// come yet: a slow link's. All terminals answer askKind, so mostly it is over at once.
	expectTime = 10 * time.Second
	// maxAnswer bounds an answer, in bytes; rgb: with four digits each has 28, and those about
	// notifications have about a hundred.
	maxAnswer = 256
)

// askKind asks a terminal whether it knows kitty's notifications (OSC 99, "Querying for support"),
// for its name (XTVERSION) and, because every terminal answers that, for its attributes (DA1). Then
// all answers have come.
const askKind = "\x1b]99;i=termhost:p=?;\x1b\\\x1b[>q\x1b[c"

// answers has what a viewer's terminal answers to askColors and askKind. The input loop fills it.
type answers struct {
	since time.Time
	done  chan struct{} // closed when all have come

	asked  bool // for the colours
	got    [3]bool
	colors [3]vt.RGB

	kind     bool     // it was asked what it is, and has not answered all of that
	notifier notifyBy // how it shows notifications; notifyBell: it has not said
}

// newAnswers returns what is to have the answers about the colours, and about what the terminal is.
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

// note keeps what an answer says, and reports whether it is news.
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

// what keeps an answer to askKind. One about notifications is better than a name.
func (c *answers) what(p []byte) bool {
	switch {
	case bytes.HasPrefix(p, []byte("\x1b]99;")):
		c.notifier = notify99
	case bytes.HasPrefix(p, []byte("\x1bP>|")):
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

// color keeps an answer to askColors.
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

// theme returns the colours once foreground and background are known. A cursor without a colour of
// its own has that of the text.
func (c *answers) theme() (fg, bg, cursor vt.RGB, ok bool) {
	cursor = c.colors[0]
	if c.got[2] {
		cursor = c.colors[2]
	}
	return c.colors[0], c.colors[1], cursor, c.got[0] && c.got[1]
}
