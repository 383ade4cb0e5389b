package viewer

import (
	"testing"
	"time"
)

const (
	answer10 = "\x1b]10;rgb:aaaa/bbbb/cccc\x1b\\"
	answer11 = "\x1b]11;rgb:1212/3434/5656\x07"
	answer12 = "\x1b]12;rgba:ffff/0000/0000/8000\x1b\\"
)

func TestATerminalSaysItsColours(t *testing.T) {
	c := newAnswers(time.Now(), true, false)
	for _, a := range []string{"\x1b[?62c", answer10, "\x1b]11;hello\x07", answer11,
		"\x1b]11;rgb:0/0/0\x07", "\x1b]13;rgb:0/0/0\x07", "\x1b]4;1;rgb:0/0/0\x07", "\x1b]1"} {
		c.note([]byte(a))
	}
	if c.complete() || !c.note([]byte(answer12)) || !c.complete() {
		t.Error("it is not complete with the third answer")
	}
	fg, bg, cursor, ok := c.theme()
	if !ok || fg != 0xaabbcc || bg != 0x123456 || cursor != 0xff0000 {
		t.Errorf("%06x %06x %06x %v", fg, bg, cursor, ok)
	}
}

func TestATerminalSaysHowItNotifies(t *testing.T) {
	for _, c := range []struct {
		want    notifyBy
		answers []string
	}{
		{notifyBell, []string{"\x1bP>|xterm(390)\x1b\\", "\x1b[?64;1;9c"}},
		{notifyBell, []string{"\x1bP>|tmux 3.4\x1b\\", "\x1b[?1;2;4c"}},
		{notify777, []string{"\x1bP>|WezTerm 20240203\x1b\\", "\x1b[?65;4;6c"}},
		{notify9, []string{"\x1bP>|iTerm2 3.5.0\x1b\\", "\x1b[?62;4c"}},
		{notify99, []string{"\x1b]99;i=termhost:p=?;a=focus,report:p=title,body\x1b\\",
			"\x1bP>|kitty(0.36.4)\x1b\\", "\x1b[?62c"}},
		{notify99, []string{"\x1b]99;i=termhost:p=?;p=title\x07", "\x1bP>|foot(1.20.0)\x1b\\",
			"\x1b[?62;4;22c"}},
	} {
		got := newAnswers(time.Now(), false, true)
		for _, a := range c.answers {
			if got.complete() || !got.note([]byte(a)) {
				t.Errorf("%q is no news", a)
			}
		}
		if got.notifier != c.want || !got.complete() {
			t.Errorf("%q: %d, complete: %v", c.answers, got.notifier, got.complete())
		}
	}
}
