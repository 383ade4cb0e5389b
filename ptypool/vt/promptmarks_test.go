package vt

import (
	"fmt"
	"strings"
	"testing"
)

func TestViewersGetTheMarksOfPromptsWithoutTheSecret(t *testing.T) {
	t.Parallel()
	const a = "\x1b]133;A;redraw=0\a"
	for name, c := range map[string]struct{ in, data, marks string }{
		"our own": {"\x1b]633;D;3;n0nce\a\x1b]633;P;Cwd=/;n0nce\a\x1b]633;A;n0nce\a$ \x1b]133;B\als\r\n" +
			"\x1b]633;E;ls;n0nce\a\x1b]633;C;n0nce\ax", "$ ls\r\nx",
			"\x1b]133;D;3\a" + a + "\x1b]133;B\a\x1b]133;C\a"},
		"forged ones of ours": {"\x1b]633;A\a\x1b]633;A;guess\a\x1b]633;C\a\x1b]633;D;0\a", "", ""},
		"a program's": {"\x1b]133;A;cl=m;redraw=1;aid=7\x1b\\\x1b]133;A;k=s\a\x1b]133;P;k=i\a\x1b]133;B\a\x1b]133;C;cmdline=x\a",
			"", "\x1b]133;A;cl=m;aid=7;redraw=0\a\x1b]133;A;k=s;redraw=0\a\x1b]133;P;k=i\a\x1b]133;B\a\x1b]133;C;cmdline=x\a"},
		"with the secret":         {"\x1b]133;A;n0nce\a\x1b]133;D;n0\x01nce\a", "", a},
		"no marks":                {"\x1b]133;L\a\x1b]133;N\a\x1b]133;AA\a\x1b]133\a\x1b]133;\a", "", ""},
		"controls":                {"\x1b]133;A;a\x01b=\x9b1\a", "", "\x1b]133;A;ab=1;redraw=0\a"},
		"too long":                {"\x1b]133;C;" + strings.Repeat("x", maxMark+1) + "\a", "", "\x1b]133;C\a"},
		"behind text":             {"abc\x1b]633;A;n0nce\a", "abc", "\r" + a + "\x1b[4G"},
		"where a wrap is pending": {strings.Repeat("x", 20) + "\x1b]633;A;n0nce\a", strings.Repeat("x", 20), ""},
		"the alternate screen":    {"\x1b[?1049h\x1b]133;A\a", "\x1b[?1049h", ""},
	} {
		var r recorder
		newTest().Feed([]byte(c.in), &r)
		if got := string(r.marks); got != c.marks || r.data.String() != c.data {
			t.Errorf("%s: viewers get %q and %q, want %q and %q", name, got, r.data.String(), c.marks, c.data)
		}
	}
}

// marksOf writes down the marks of the scrollback and of the screen, with the text of their rows.
func marksOf(s *Screen) string {
	var b strings.Builder
	note := func(m rowMarks, text string) {
		if m.set != 0 {
			fmt.Fprintf(&b, "%s: %q%v\n", strings.TrimRight(text, " "), m.head(nil), m.inner())
		}
	}
	for l := range s.model.history.newest(s.model.history.lines) {
		var text []byte
		line := readLine(l)
		marks := line.marks
		for p, _, ok := line.next(); ok; p, _, ok = line.next() {
			text = append(text, p...)
		}
		note(marks, string(text))
	}
	for y := range s.model.main.rows {
		r := &s.model.main.rows[y]
		var text []byte
		for _, c := range r.cells {
			text = s.model.table.text(text, c)
		}
		note(r.marks, string(text))
	}
	return b.String()
}

// session is what a shell prints for some commands: one that is wrapped, one without output, one
// whose output does not end with its line, and one that has scrolled away by itself.
const session = "\x1b]633;A;n0nce\a漢$ \x1b]133;B\aecho a long line\r\n\x1b]633;C;n0nce\aa long line\r\n\x1b]633;D;0;n0nce\a" +
	"\x1b]633;A;n0nce\a$ \x1b]133;B\atrue\r\n\x1b]633;C;n0nce\a\x1b]633;D;1;n0nce\a" +
	"\x1b]633;A;n0nce\a$ \x1b]133;B\a\x1b[31mprintf\x1b[m x\r\n\x1b]633;C;n0nce\ax\x1b]633;D;300;n0nce\a" +
	"\x1b]633;A;n0nce\a$ \x1b]133;B\aseq\r\n\x1b]633;C;n0nce\a1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\n\x1b]633;D;0;n0nce\a" +
	"\x1b]633;A;n0nce\a$ \x1b]133;B\a"

func TestARedrawBringsTheMarksOfTheScrollback(t *testing.T) {
	t.Parallel()
	s := newTest()
	s.Feed([]byte(session), nil)
	const a = `\x1b]133;A;redraw=0\a`
	want := "漢$ echo a long line: \"" + a + "\"[{4 B}]\n" +
		"a long line: \"\\x1b]133;C\\a\"[]\n" +
		"$ true: \"\\x1b]133;D;0\\a" + a + "\"[{2 B}]\n" +
		"$ printf x: \"\\x1b]133;C\\a\\x1b]133;D;1\\a" + a + "\"[{2 B}]\n" +
		"x$ seq: \"\\x1b]133;C\\a\\x1b]133;D\\a" + a + "\"[{3 B}]\n" +
		"1: \"\\x1b]133;C\\a\"[]\n" +
		"$: \"\\x1b]133;D;0\\a" + a + "\"[{2 B}]\n"
	if got := marksOf(s); got != want {
		t.Fatalf("the marks are\n%s\nwant\n%s", got, want)
	}
	viewer := newTest()
	drawn := s.AppendRedraw(nil, Redraw{Scrollback: -1, Marks: true})
	viewer.Feed(drawn, nil)
	if got := marksOf(viewer); got != want {
		t.Errorf("a redraw brings\n%s\nwant\n%s", got, want)
	}
	if strings.Contains(string(drawn), "n0nce") {
		t.Error("a redraw has the secret")
	}
	for name, r := range map[string]Redraw{"without marks": {Scrollback: -1},
		"another window": {Scrollback: -1, Marks: true, Cols: 30, Rows: 5}} {
		if drawn := s.AppendRedraw(nil, r); strings.Contains(string(drawn), "\x1b]133") {
			t.Errorf("%s: a redraw has marks", name)
		}
	}
	// Lines that are wrapped anew keep them, those that are pulled back from the scrollback, too.
	s.Resize(9, 20)
	narrow := strings.NewReplacer(" a long line:", ":", "a long line:", "a long li:", "printf x:", "printf:")
	if got := marksOf(s); got != narrow.Replace(want) {
		t.Errorf("in a narrow window they are\n%s", got)
	}
	s.Resize(20, 5)
	if got := marksOf(s); got != want {
		t.Errorf("after two changes of the size they are\n%s\nwant\n%s", got, want)
	}
	s.Feed([]byte("\x1b[H\x1b[2J\x1b[3J"), nil)
	if got := marksOf(s); got != "" {
		t.Errorf("a screen that was cleared has %s", got)
	}
}

// A flood of lines, which is not drawn, keeps the mark of the line at which it began.
func TestAFloodKeepsTheMarkOfItsBeginning(t *testing.T) {
	t.Parallel()
	s := newTest()
	s.Feed([]byte(strings.Repeat("\r\n", 9)+"\x1b]633;C;n0nce\a"+strings.Repeat("line\r\n", 50)), nil)
	if got := marksOf(s); got != "line: \"\\x1b]133;C\\a\"[]\n" {
		t.Errorf("the marks are %q", got)
	}
}
