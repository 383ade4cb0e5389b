package verbs

import (
	"bytes"
	"slices"
	"time"

	"termhost/ptypool/keyboard"
	"termhost/ptypool/vt"
)

// askColors asks a terminal for its foreground, background and cursor colour (xterm ctlseqs, OSC
// 10, 11 and 12).
const askColors = "\x1b]10;?\x1b\\\x1b]11;?\x1b\\\x1b]12;?\x1b\\"

const (
	// answerTime is how long answers are looked for after the question. What comes later is taken
	// to be typed.
	answerTime = 2 * time.Second
	// cutTime is how long one or two bytes are held back that may be Escape or Alt-] as well as the
	// beginning of an answer. Terminals send an answer at once, so its next piece is on its way.
	cutTime = 25 * time.Millisecond
	// maxAnswer bounds an answer, in bytes; rgb: with four digits each has 28, and those about
	// notifications have about a hundred.
	maxAnswer = 256
)

// askKind asks a terminal whether it knows kitty's notifications (OSC 99, "Querying for support"),
// for its name (XTVERSION) and, because every terminal answers that, for its attributes (DA1). Then
// all answers have come.
const askKind = "\x1b]99;i=termhost:p=?;\x1b\\\x1b[>q\x1b[c"

// answers looks in what comes from a viewer's terminal for the answers to askColors and askKind.
type answers struct {
	until time.Time
	done  chan struct{} // closed when all have come

	held   []byte // the beginning of one
	fed    int    // how often take was called
	asked  bool   // for the colours
	got    [3]bool
	colors [3]vt.RGB

	kind     bool     // it was asked what it is, and has not answered all of that
	notifier notifyBy // how it shows notifications; notifyBell: it has not said
}

// newAnswers returns what looks for answers about the colours, and about what the terminal is.
func newAnswers(now time.Time, colors, kind bool) *answers {
	return &answers{until: now.Add(answerTime), done: make(chan struct{}),
		asked: colors, kind: kind}
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

// take returns p, which it may change, without the answers in it. The beginning of one is held
// back. found says that there was one.
func (c *answers) take(p []byte) (rest []byte, found bool) {
	p = append(c.release(), p...)
	c.fed++
	for i := 0; i < len(p); {
		at := bytes.IndexByte(p[i:], 0x1b)
		if at < 0 {
			break
		}
		i += at
		switch n := c.answer(p[i:]); {
		case n == 0:
			i++
		case n < 0:
			c.held = bytes.Clone(p[i:])
			return p[:i], found
		default:
			p = slices.Delete(p, i, i+n)
			found = true
		}
	}
	if found && c.complete() {
		close(c.done)
	}
	return p, found
}

// complete reports whether all answers have come.
func (c *answers) complete() bool {
	return !c.kind && !(c.asked && slices.Contains(c.got[:], false))
}

// release returns what is held back.
func (c *answers) release() []byte {
	held := c.held
	c.held = nil
	return held
}

// answer keeps what the answer says that p begins with and returns the answer's length; 0 if there
// is none, -1 if its end is missing.
func (c *answers) answer(p []byte) int {
	n := 0
	if c.asked {
		n = c.color(p)
	}
	if n == 0 && c.kind {
		n = c.what(p)
	}
	return n
}

// what is answer for askKind. An answer about notifications is better than a name.
func (c *answers) what(p []byte) int {
	if len(p) < 2 {
		return -1
	}
	for _, begin := range []string{"\x1b[?", "\x1b]99;", "\x1bP>|"} {
		if n := min(len(p), len(begin)); string(p[:n]) != begin[:n] {
			continue
		}
		if len(p) < len(begin) {
			return -1
		}
		n := keyboard.Length(p)
		if begin != "\x1b[?" {
			n = keyboard.StringLength(p)
		}
		switch {
		case n > maxAnswer || n <= 0 && len(p) >= maxAnswer:
			return 0
		case n <= 0:
			return -1
		case begin == "\x1b]99;":
			c.notifier = notify99
		case begin == "\x1bP>|":
			if by := notifierOf(string(p[len(begin):n])); c.notifier == notifyBell {
				c.notifier = by
			}
		case p[n-1] != 'c':
			return 0
		default:
			c.kind = false
		}
		return n
	}
	return 0
}

// color is answer for askColors.
func (c *answers) color(p []byte) int {
	const begin = "\x1b]1"
	if n := min(len(p), len(begin)); string(p[:n]) != begin[:n] {
		return 0
	}
	if len(p) <= len(begin) {
		return -1
	}
	which := int(p[3]) - '0'
	if which < 0 || which >= len(c.got) || c.got[which] || len(p) > 4 && p[4] != ';' {
		return 0
	}
	for i := 5; i < min(len(p), maxAnswer); i++ {
		switch {
		case p[i] == 0x07:
			return c.keep(which, p[5:i], i+1)
		case p[i] == 0x1b && i+1 < len(p) && p[i+1] == '\\':
			return c.keep(which, p[5:i], i+2)
		case p[i] == 0x1b && i+1 == len(p):
			return -1
		case p[i] < 0x20:
			return 0
		}
	}
	if len(p) >= maxAnswer {
		return 0
	}
	return -1
}

// keep keeps the colour of an answer of n bytes, and returns n; 0 if spec names no colour.
func (c *answers) keep(which int, spec []byte, n int) int {
	if rgba, ok := bytes.CutPrefix(spec, []byte("rgba:")); ok { // an opacity follows the colours
		if end := bytes.LastIndexByte(rgba, '/'); end >= 0 {
			spec = append([]byte("rgb:"), rgba[:end]...)
		}
	}
	color, ok := vt.ParseColor(spec)
	if !ok {
		return 0
	}
	c.got[which], c.colors[which] = true, color
	return n
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
