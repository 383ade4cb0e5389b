package sshd

import (
	"bytes"
	"slices"
	"time"

	"termhost/ptypool/vt"
)

// askColors asks a terminal for its foreground, background and cursor colour
// (xterm ctlseqs, OSC 10, 11 and 12).
const askColors = "\x1b]10;?\x1b\\\x1b]11;?\x1b\\\x1b]12;?\x1b\\"

const (
	// answerTime is how long answers are looked for after the question. What
	// comes later is taken for typed.
	answerTime = 2 * time.Second
	// cutTime is how long one or two bytes are held back that may be Escape or
	// Alt-] as well as the beginning of an answer. Terminals send an answer at
	// once, so its next piece is on its way.
	cutTime = 25 * time.Millisecond
	// maxAnswer bounds an answer, in bytes; rgb: with four digits each has 28.
	maxAnswer = 64
)

// colorAnswers looks in what comes from a viewer's terminal for the answers to
// askColors.
type colorAnswers struct {
	until time.Time
	done  chan struct{} // closed when all have come

	held   []byte // the beginning of one
	fed    int    // how often take was called
	got    [3]bool
	colors [3]vt.RGB
}

func newColorAnswers(now time.Time) *colorAnswers {
	return &colorAnswers{until: now.Add(answerTime), done: make(chan struct{})}
}

// take returns p, which it may change, without the answers in it. The beginning
// of one is held back. found says that there was one.
func (c *colorAnswers) take(p []byte) (rest []byte, found bool) {
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
func (c *colorAnswers) complete() bool { return !slices.Contains(c.got[:], false) }

// release returns what is held back.
func (c *colorAnswers) release() []byte {
	held := c.held
	c.held = nil
	return held
}

// answer notes the answer that p begins with and returns its length; 0: it is
// none, -1: its end is missing.
func (c *colorAnswers) answer(p []byte) int {
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
			return c.note(which, p[5:i], i+1)
		case p[i] == 0x1b && i+1 < len(p) && p[i+1] == '\\':
			return c.note(which, p[5:i], i+2)
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

// note takes an answer of n bytes down; 0 if it names no colour.
func (c *colorAnswers) note(which int, spec []byte, n int) int {
	if rgba, ok := bytes.CutPrefix(spec, []byte("rgba:")); ok { // with an opacity behind the colours
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

// theme returns the colours once foreground and background are known. A cursor
// without a colour of its own has that of the text.
func (c *colorAnswers) theme() (fg, bg, cursor vt.RGB, ok bool) {
	cursor = c.colors[0]
	if c.got[2] {
		cursor = c.colors[2]
	}
	return c.colors[0], c.colors[1], cursor, c.got[0] && c.got[1]
}

// takeColors returns what there is in p beside the answers about colours.
func (t *typist) takeColors(p []byte) []byte {
	c := t.colors
	if time.Now().After(c.until) {
		t.colors = nil
		return append(c.release(), p...)
	}
	p, found := c.take(p)
	if found {
		if fg, bg, cursor, ok := c.theme(); ok {
			t.w.a.SetTheme(fg, bg, cursor)
		}
	}
	if c.complete() {
		t.colors = nil
		return append(p, c.release()...)
	}
	if len(c.held) > 0 {
		wait := cutTime
		if len(c.held) > 2 {
			wait = time.Until(c.until)
		}
		fed := c.fed
		t.feeders.Go(func() { t.passOn(fed, wait) })
	}
	return p
}

// passOn takes for typed what was held back as the beginning of an answer, unless
// more has been read within the time.
func (t *typist) passOn(fed int, wait time.Duration) {
	defer t.w.s.c.recovered("passing on input")
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.w.s.ctx.Done():
		return
	}
	t.input.Lock()
	defer t.input.Unlock()
	if c := t.colors; c != nil && c.fed == fed && !t.leaving {
		if held := c.release(); len(held) > 0 {
			t.filter.feed(held, t)
		}
	}
}

// asksColors reports whether the viewer's terminal is asked. A console shows
// questions that it does not know, or has no colours to choose. A command run by
// `run` may be over before the answer comes, which would then be typed at the
// user's shell.
func (v *invocation) asksColors() bool {
	if v.s.pty == nil || v.cmd.name == "run" {
		return false
	}
	switch v.s.pty.term {
	case "", "dumb", "linux":
		return false
	}
	return true
}
