package vt

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// titles are the title that the program has set, and those that it has pushed (XTWINOPS 22 and 23).
type titles struct {
	current string
	set     bool // the program has set a title, perhaps an empty one
	stack   []string
}

// change makes title the current one.
func (ts *titles) change(title string) { ts.current, ts.set = title, true }

// push pushes the current title.
func (ts *titles) push() {
	if len(ts.stack) == maxTitleStack {
		ts.stack = append(ts.stack[:0], ts.stack[1:]...)
	}
	ts.stack = append(ts.stack, ts.current)
}

// pop restores the title that was pushed last, if there is one, and returns it.
func (ts *titles) pop() (title string, ok bool) {
	n := len(ts.stack) - 1
	if n < 0 {
		return "", false
	}
	title = ts.stack[n]
	ts.stack = ts.stack[:n]
	ts.change(title)
	return title, true
}

// appendTitle appends OSC n, of a title or an icon name.
func appendTitle(dst []byte, n int, title string) []byte {
	dst = append(dst, esc, ']')
	dst = strconv.AppendInt(dst, int64(n), 10)
	dst = append(dst, ';')
	dst = append(dst, title...)
	return append(dst, esc, '\\')
}

// CleanTitle returns s without [Invisible] characters, which include control characters, and
// without invalid UTF-8, cut to MaxTitle bytes at a rune boundary. The result is safe to write to
// any terminal.
func CleanTitle(s string) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = s[i] >= 0x20 && s[i] < del
	}
	if clean && len(s) <= MaxTitle {
		return s
	}
	var b strings.Builder
	for i, n := 0, 0; i < len(s); i += n {
		var r rune
		r, n = utf8.DecodeRuneInString(s[i:])
		if Invisible(r) || r == utf8.RuneError && n == 1 {
			continue
		}
		if b.Len()+n > MaxTitle {
			break
		}
		b.WriteString(s[i : i+n])
	}
	return b.String()
}

// Invisible reports whether r shows nothing by itself: control characters, line and paragraph
// separators, and characters that Unicode lets a terminal ignore, such as zero-width characters,
// directions and tags. Such characters can hide text in a title, or make two titles look the same.
// The two variation selectors for emoji and text do not count: common titles have them.
func Invisible(r rune) bool {
	switch {
	case r < 0xa0:
		return r < 0x20 || r >= del
	case r == 0xfe0e || r == 0xfe0f:
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point)
}
