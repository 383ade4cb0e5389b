// Package visible is the one rule for showing people a text that somebody else wants to type: in
// the dialogs of ssh and of the page, in `asks`, and in messages about it.
//
// What is shown acts on no terminal, hides nothing and does not look like another text. So each
// byte of the text is shown: as itself, or as a sign if it would be invisible, look like something
// else, or act. A sign differs from the same characters meant literally: it is a part of its own
// ([ahp.AskPart]), and is shown in another style.
//
// What is left out deliberately: letters of different alphabets that look alike, and letters that
// are written from right to left, whose order some terminals change. Both can be seen.
//
// For text that models read the rule is [Clean]: what people would not see is left out.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"termhost/ahp"
	"termhost/ptypool/vt"
	"termhost/ptypool/vt/width"
)

const (
	// maxBlanks is how many spaces in a row are shown as themselves: as many as programs are
	// indented by. More could push what follows out of the window.
	maxBlanks = 16
	// maxMarks is how many marks may combine with one character: as many as Thai and Vietnamese
	// need. More are written over each other.
	maxMarks = 2
)

// Lines returns a text as lines of parts. The end of a line is a sign at its end: ^M, ^J or ^M^J. A
// text without one is one line; an empty text is a line without parts. hidden is how many signs
// there are besides ends of lines.
func Lines(text string) (lines [][]ahp.AskPart, hidden int) {
	w := writer{line: []ahp.AskPart{}}
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case strings.HasPrefix(text, "\r\n"):
			n = 2
			w.end("^M^J")
		case r == '\r' || r == '\n':
			w.end(control(r))
		case r == ' ':
			n = len(text) - len(strings.TrimLeft(text, " "))
			w.spaces(n, endsLine(text[n:]))
		default:
			w.add(r, text[:n])
		}
		text = text[n:]
	}
	if len(w.line) > 0 || len(w.lines) == 0 {
		w.lines = append(w.lines, w.line)
	}
	return w.lines, w.hidden
}

// endsLine reports whether the line ends here.
func endsLine(rest string) bool { return rest == "" || rest[0] == '\r' || rest[0] == '\n' }

// writer makes the lines of one text.
type writer struct {
	lines  [][]ahp.AskPart
	line   []ahp.AskPart
	hidden int
	marks  int // how many more marks may combine with what is before them
}

func (w *writer) end(sign string) {
	w.lines = append(w.lines, append(w.line, ahp.AskPart{Sign: sign}))
	w.line, w.marks = nil, 0
}

func (w *writer) sign(sign string) {
	w.line = append(w.line, ahp.AskPart{Sign: sign})
	w.hidden++
	w.marks = 0
}

func (w *writer) literal(text string) {
	if n := len(w.line); n > 0 && w.line[n-1].Sign == "" {
		w.line[n-1].Text += text
		return
	}
	w.line = append(w.line, ahp.AskPart{Text: text})
}

// spaces adds n spaces; last: they are at the end of the line, where nobody sees them.
func (w *writer) spaces(n int, last bool) {
	switch {
	case n > maxBlanks, last && n > 1:
		w.sign(fmt.Sprintf("<%d spaces>", n))
	case last:
		w.sign("<space>")
	default:
		w.literal(strings.Repeat(" ", n))
		w.marks = 0 // a mark on a space could be taken for one on nothing
	}
}

// add adds a character, which is written as raw.
func (w *writer) add(r rune, raw string) {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		w.sign(fmt.Sprintf("<%02X>", raw[0]))
	case r < 0x20 || r == 0x7f:
		w.sign(control(r))
	case unseen(r):
		w.sign(number(r))
	case width.Of(r).Cells() > 0 || unicode.Is(unicode.Hangul, r): // parts of syllables
		w.literal(raw)
		w.marks = maxMarks
	case w.marks > 0 && unicode.Is(unicode.M, r):
		w.literal(raw)
		w.marks--
	default:
		w.sign(number(r))
	}
}

func control(r rune) string { return "^" + string(r^0x40) }

func number(r rune) string { return fmt.Sprintf("<U+%04X>", r) }

// unseen reports whether a character, other than an ASCII control character, is not shown as what
// it is: it is invisible, looks like a blank, or changes the look of another one. A character that
// this program does not know may be any of these.
func unseen(r rune) bool {
	return vt.Invisible(r) || !unicode.IsPrint(r) || unicode.Is(unicode.Inherited, r) || blank(r)
}

// blank reports whether a character that Unicode has among the visible ones is empty all the same.
func blank(r rune) bool {
	switch r {
	case 0x2800, // the pattern of Braille without dots
		0x2d7f, 0x1107f, // joiners
		0x1039, 0x17d2, 0x1a60, 0x1bab, 0xaaf6, 0x10a3f, 0x11133, 0x113d0, 0x1193e, 0x11a47,
		0x11a99, 0x11f42, // Indic_Syllabic_Category=Invisible_Stacker
		0x13441, 0x13442, // hieroglyphs
		0x16fe4, // a filler
		0x1d159, // a note without a head
		0xfffc,  // stands for an object that is not there
		0xfffd:  // stands for unreadable bytes, and is left out of text that is shown elsewhere
		return true
	}
	return false
}

// Plain returns a line as text, in which a sign looks like the same characters meant literally.
func Plain(line []ahp.AskPart) string {
	var b strings.Builder
	for _, p := range line {
		b.WriteString(p.Text)
		b.WriteString(p.Sign)
	}
	return b.String()
}

// editing are the control characters that edit a line in shells and end none: ^A ^B ^E ^F ^H ^K ^L
// ^N ^P ^T ^U ^W ^Y and DEL. A tab may run what completes words.
const editing = "\x01\x02\x05\x06\x08\x0b\x0c\x0e\x10\x14\x15\x17\x19\x7f"

// Does returns the effect of typing a text into a line: [ahp.AskRuns] if it has an Enter, or
// anything else that can end a line or act by itself in a usual shell or editor, such as ^O, ^D, a
// tab, Escape and bytes that are not UTF-8; else [ahp.AskTypes].
func Does(text string) string {
	acts := func(r rune) bool {
		return unicode.IsControl(r) && !strings.ContainsRune(editing, r) ||
			unicode.In(r, unicode.Zl, unicode.Zp)
	}
	if strings.ContainsFunc(text, acts) || !utf8.ValidString(text) {
		return ahp.AskRuns
	}
	return ahp.AskTypes
}

// Editable returns a text as a person may type it into a line to edit it: without the end of the
// line, with blanks for ends of lines within, and without other characters that show nothing but
// tabs, which could do something.
func Editable(text string) []byte {
	text = strings.TrimRight(text, "\r\n")
	text = strings.NewReplacer("\r\n", " ", "\r", " ", "\n", " ").Replace(text)
	return []byte(strings.Map(func(r rune) rune {
		if r != '\t' && (r == utf8.RuneError || vt.Invisible(r) || blank(r)) {
			return -1
		}
		return r
	}, text))
}
