package viewer

import "testing"

const (
	answer10 = "\x1b]10;rgb:aaaa/bbbb/cccc\x1b\\"
	answer11 = "\x1b]11;rgb:1212/3434/5656\x07"
	answer12 = "\x1b]12;rgba:ffff/0000/0000/8000\x1b\\"
)

func TestATerminalSaysItsColours(t *testing.T) {
	var c answers
	for a, news := range map[string]bool{answer10: true, "\x1b]11;hello\x07": false,
		answer11: true, "\x1b]13;rgb:0/0/0\x07": false, "\x1b]4;1;rgb:0/0/0\x07": false, "\x1b]1": false,
		answer12: true} {
		if c.note([]byte(a)) != news || c.note([]byte(a)) {
			t.Errorf("%q is news: %v, or is it again", a, !news)
		}
	}
	fg, bg, cursor, ok := c.theme()
	if !ok || fg != 0xaabbcc || bg != 0x123456 || cursor != 0xff0000 {
		t.Errorf("%06x %06x %06x %v", fg, bg, cursor, ok)
	}
	if c.note([]byte("\x1b]11;#ffffff\x07")); c.colors[1] != 0xffffff {
		t.Errorf("after another answer the background is %06x", c.colors[1])
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
		var got answers
		for _, a := range c.answers {
			got.note([]byte(a))
		}
		if got.notifier != c.want {
			t.Errorf("%q: %d", c.answers, got.notifier)
		}
	}
}

func TestATerminalSaysWhatItReportsOfTheMouse(t *testing.T) {
	const name, last = "\x1bP>|foot(1.20.0)\x1b\\", "\x1b[?62;4c"
	for _, c := range []struct {
		want    ability
		answers []string
	}{
		{unknown, nil},
		{unable, []string{last}}, // it is not asked
		{unknown, []string{name, last}},
		{unable, []string{name, last, last}},
		{unable, []string{name, last, "\x1b[?1016;0$y", last}},
		{unable, []string{name, last, "\x1b[?1016;4$y", last}},
		{able, []string{name, last, "\x1b[?1016;2$y", last, last}},
		{able, []string{last, name, last, last, "\x1b[?1016;1$y"}}, // the first is of others
	} {
		var got answers
		for _, a := range c.answers {
			got.note([]byte(a))
		}
		if got.pixelMouse != c.want {
			t.Errorf("%q: %d, want %d", c.answers, got.pixelMouse, c.want)
		}
	}
}

func TestATerminalSaysWhetherItMeasuresClusters(t *testing.T) {
	const name, last = "\x1bP>|ghostty 1.2.0\x1b\\", "\x1b[?62;22;52c"
	for _, c := range []struct {
		want    ability
		answers []string
	}{
		{unable, []string{last}}, // it is not asked
		{unknown, []string{name, last}},
		{unable, []string{name, last, last}},
		{unable, []string{name, last, "\x1b[?1016;2$y", "\x1b[?2027;0$y", last}},
		{able, []string{name, last, "\x1b[?1016;2$y", "\x1b[?2027;2$y", last}},
		{able, []string{name, last, "\x1b[?2027;3$y", last}},
	} {
		var got answers
		for _, a := range c.answers {
			got.note([]byte(a))
		}
		if got.clusters != c.want {
			t.Errorf("%q: %d, want %d", c.answers, got.clusters, c.want)
		}
	}
}
