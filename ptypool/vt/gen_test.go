package vt

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator makes random but plausible program output for a screen.
type generator struct {
	*rand.Rand
	cols, rows int
	safe       bool // only what every emulator agrees on
}

var genTexts = []string{
	"hello", "the quick brown fox ", "x", "  ", "漢字かな", "ｆｕｌｌ", "é", "Grüße", "──┐", "█▓", "日", "~", "q",
}

var genClusters = []string{
	"e\u0301", "👍🏽", "👩‍👩‍👧", "🇩🇪", "❤️", "ab\u0308", "😀", "한국", "ñ\u0303\u0302",
}

func (g *generator) pick(s []string) string { return s[g.IntN(len(s))] }

func (g *generator) num(n int) int {
	if g.IntN(8) == 0 {
		return g.IntN(2*n + 2)
	}
	return 1 + g.IntN(n)
}

// sgr returns a random style change.
func (g *generator) sgr() string {
	codes := []string{
		"0", "1", "2", "3", "4", "7", "9", "22", "23", "24", "27", "29", "39", "49", "",
		fmt.Sprint(30 + g.IntN(8)), fmt.Sprint(40 + g.IntN(8)),
		fmt.Sprint(90 + g.IntN(8)), fmt.Sprint(100 + g.IntN(8)),
		fmt.Sprintf("38;5;%d", g.IntN(256)), fmt.Sprintf("48;5;%d", g.IntN(256)),
		fmt.Sprintf("38;2;%d;%d;%d", g.IntN(256), g.IntN(256), g.IntN(256)),
		fmt.Sprintf("48:2::%d:%d:%d", g.IntN(256), g.IntN(256), g.IntN(256)),
		"4:3", "58:5:9", "59", "53", "55", "21", "8", "5", "25", "28",
	}
	return "\x1b[" + g.pick(codes) + ";" + g.pick(codes) + "m"
}

// next returns one piece of output.
func (g *generator) next() string {
	switch n := g.IntN(100); {
	case n < 30:
		return g.pick(genTexts)
	case n < 33:
		if g.safe {
			return g.pick(genTexts)
		}
		return g.pick(genClusters)
	case n < 42:
		return g.sgr()
	case n < 52:
		return g.pick([]string{"\r\n", "\r\n", "\n", "\r", "\b", "\t"})
	case n < 60:
		return fmt.Sprintf("\x1b[%d;%dH", g.num(g.rows), g.num(g.cols))
	case n < 68:
		return fmt.Sprintf("\x1b[%d%s", g.num(5), g.pick(strings.Split("ABCDEFGd`aeIZ", "")))
	case n < 76:
		return fmt.Sprintf("\x1b[%d%s", g.num(4), g.pick(strings.Split("@PLMXST", "")))
	case n < 80:
		return fmt.Sprintf("\x1b[%d%s", g.IntN(3), g.pick([]string{"J", "K", "K"}))
	case n < 83:
		top := 1 + g.IntN(g.rows)
		return fmt.Sprintf("\x1b[%d;%dr", top, min(g.rows, top+g.IntN(g.rows)))
	case n < 86:
		return g.pick([]string{"\x1b7", "\x1b8", "\x1bD", "\x1bM", "\x1bE", "\x1b[s", "\x1b[u"})
	case n < 90:
		return g.pick([]string{
			"\x1b[?7l", "\x1b[?7h", "\x1b[?7h", "\x1b[?6h", "\x1b[?6l", "\x1b[4h", "\x1b[4l", "\x1b[4l",
			"\x1b[?25l", "\x1b[?25h", "\x1b[?1h", "\x1b[?1l", "\x1b[?2004h", "\x1b[?1000h", "\x1b[?1002h",
			"\x1b[?1006h", "\x1b[?1003l", "\x1b[?1004h", "\x1b=", "\x1b>",
		})
	case n < 92:
		return g.pick([]string{
			"\x1b[?1049h", "\x1b[?1049l", "\x1b[?1049l", "\x1b[?47h", "\x1b[?47l", "\x1b[?1048h",
		})
	case n < 94:
		return g.pick([]string{"\x1b(0", "\x1b(B", "\x1b)0", "\x0e", "\x0f", "\x0f", "\x1b(B"})
	case n < 95:
		return g.pick([]string{"\x1bH", "\x1b[g", "\x1b[3g", "\x1b[!p"})
	case n < 97:
		return fmt.Sprintf("%s\x1b[%db", g.pick([]string{"x", "漢"}), g.num(30))
	}
	if g.safe {
		return g.pick([]string{
			"\x1b#8", "\x1b[2 q", "\x1b[0 q", "\x1b[5 q", "\x1b]0;title\a", "\x1b[3J",
			"\x1b]8;id=1;http://a.b/c\x1b\\link", "\x1b]8;;http://d\x1b\\", "\x1b]8;;\x1b\\",
			"\x1b]4;3;#123456\a", "\x1b]11;#123456\a", "\x1b]10;rgb:ff/80/00\a", "\x1b]104\a",
			"\x1b]111\a", "\x1b[?1006l",
		})
	}
	return g.pick([]string{
		"\x1b#8", "\x1b[2 q", "\x1b]0;title\a", "\x1b[3J", "\x1bc",
		"\x1b]8;id=1;http://a.b/c\x1b\\link", "\x1b]8;;\x1b\\",
		"\x1b[>1u", "\x1b[<u", "\x1b[=5u", "\x1b[>4;2m", "\x1b[1\"q", "\x1b[0\"q", "\x1b[?1J", "\x1b[?0K",
		"\x1b[?45h", "\x1b[?5h", "\x1b[20h", "\x1b[20l", "\x1b[2 @", "\x1b[2 A", "\x1b[1'}", "\x1b[2'~",
		"\x1b]4;3;#123456\a", "\x1b]11;#123456\a", "\x1b]104\a", "\x1b[6n", "\x1b[c",
		"\xff", "\xe6\xbc", "\x1bN", "\x1bn", "\u0085", "\x1b[?2027l", "\x1b[?2027h", "\x1b[?1007h",
		"\u200b", "\x1b[3C\u200b", "\x1b[K\x1b[2C\u0301", "\x1b[?1047h", "\x1b[?1047l",
	})
}

// output returns n pieces.
func (g *generator) output(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(g.next())
	}
	return b.String()
}

func newGenerator(seed uint64, safe bool) *generator {
	r := rand.New(rand.NewPCG(seed, 77))
	return &generator{Rand: r, cols: 4 + r.IntN(30), rows: 2 + r.IntN(9), safe: safe}
}

// xtermOutput is output on which xterm.js agrees; v follows it. What is left out are the known
// differences:
//
//   - at a pending wrap, xterm.js's cursor is beyond the last column, so that erasing,
//     tabs, relative motion and saving work from there; ours is in the last column, as
//     the VT's and xterm's
//   - what DECSC saved moves when the main screen scrolls, and DECRC does not restore
//     origin mode, underline styles and the charsets that are not in use, but the
//     hyperlink, which ours, like VTE, leaves as it is
//   - DECSTR also turns bracketed paste, focus and mouse reports off, and resets the
//     cursor's style
//   - REP repeats up to 65,536 times, ours at most a line's length
//   - SD (CSI T) scrolls in lines without the pen's background
//   - DECALN (ESC # 8) takes the pen's style and leaves margins and origin mode
//   - relative motion in origin mode adds the top margin again
//   - a wide character in the last column with autowrap off is not written and breaks
//     the cell; ours moves left to fit, as VTE's
//   - editing from the right half of a wide character on makes rows of the wrong width
//   - ED 1 in the last column throws
//   - tab stops are each screen's own
//   - ED 3 erases the scrollback of the screen shown, and the alternate one has none;
//     ours, like xterm's, is erased from either
//   - SU (CSI S) drops the lines that ours, like xterm's, become scrollback (checked in
//     compare)
//   - invalid UTF-8 disappears; ours shows U+FFFD per maximal subpart, as Unicode says
//   - an ESC inside an OSC ends and applies it; ours drops it
//   - modes 12, 66, 67, 1007 and 1016, DECSTR's and RIS's treatment of the kitty stack,
//     and the sequences that we remove for viewers (see the package comment)
func (g *generator) xtermOutput(v *Screen, n int) []string {
	s := &v.model
	var pieces []string
	for range n {
		p := g.next()
		lastColumn := s.cur.x == s.width-1
		margin := s.cur.wrap || lastColumn && !s.modes.has(modeWrap) ||
			s.line(s.cur.y)[s.cur.x]&cellTail != 0
		moves := p[0] == esc && !strings.HasSuffix(p, "m") &&
			(!strings.HasSuffix(p, "H") || p == "\x1bH")
		if margin && (moves || p == "\t") {
			p = "\r" + p
		}
		if lastColumn && strings.HasSuffix(p, "1J") || v.AltScreen() && strings.HasSuffix(p, "3J") {
			continue
		}
		switch last := p[len(p)-1]; {
		case last == '7', p == "\x1b8", p == "\r\x1b8", strings.Contains(p, "\x1b8"),
			strings.HasSuffix(p, "[s"), strings.HasSuffix(p, "[u"), strings.HasSuffix(p, "1048h"):
			p = "\r\x1b[24m\x1b7\x1b[1;1H\x1b[1;31;44msaved\x1b8"
		case strings.HasSuffix(p, "49l") && !v.AltScreen(),
			last == 'g' && g.cols%2 == 0, strings.HasSuffix(p, "\x1bH") && g.cols%2 == 0,
			v.AltScreen() && strings.Contains(p, "?6"),
			s.cur.originMode && strings.Contains(p, "?1049"),
			// One of these two, for 1049 restores what 47 does not save.
			strings.Contains(p, "?47") && g.cols%4 != 2,
			strings.Contains(p, "?1049") && g.cols%4 != 0:
			continue
		case last == 'p':
			p = "\x1b[?1000;1004;1006;2004l\x1b[0 q" + p
		case last == 'b':
			p = g.pick([]string{"x", "─", "漢"}) + fmt.Sprintf("\x1b[%db", 1+g.IntN(g.cols/2))
		case last == '8':
			p = "\x1b[m\x1b[?6l\x1b[r" + p
		case strings.Contains(p, "?1049"):
			p = "\x1b[24m\x1b(B\x1b)B\x0f\x1b]8;;\x1b\\" + p
		case strings.Contains(p, "\x1b[") && last == 'T':
			p = "\x1b[m" + p
		case s.cur.originMode && strings.Contains(p, "\x1b[") &&
			strings.IndexByte("ABCDEFGIZae`d", last) >= 0:
			continue
		}
		if !s.modes.has(modeWrap) && strings.ContainsAny(p, "漢日ｆ") {
			continue
		}
		v.Feed([]byte(p), nil)
		pieces = append(pieces, p)
	}
	return pieces
}
