package man

import (
	"strings"

	"termhost/ptypool/vt/width"
	"termhost/sshd/verbs/helptext"
)

// Style is how a text to read shows what is bold.
type Style int

const (
	// Plain shows nothing as bold.
	Plain Style = iota
	// Overstrike writes bold characters twice, with a backspace between. All pagers know it, such
	// as less(1) and more(1), and other programs show the characters once. man(1) does the same.
	Overstrike
	// SGR switches bold on and off as terminals know it (ECMA-48, SGR 1 and 0).
	SGR
)

// Within a text, bold begins and ends with these characters, which take no cell. No text has them.
const (
	boldOn  = '\x0e'
	boldOff = '\x0f'
)

// The indents of a text, in cells: of text below a heading, and of the explanation of a word.
const (
	textIndent = 4
	hangIndent = 8
)

// layout sets a text in lines.
type layout struct {
	style Style
	cols  int // of the window

	out    strings.Builder
	bold   bool
	headed bool // what is above is a heading
}

// emphasized returns text in bold.
func emphasized(text string) string { return string(boldOn) + text + string(boldOff) }

// blanks returns an indent.
func blanks(n int) string { return strings.Repeat(" ", n) }

// gap adds one blank line, unless a heading is above.
func (l *layout) gap() {
	if s := l.out.String(); s != "" && !l.headed && !strings.HasSuffix(s, "\n\n") {
		l.out.WriteByte('\n')
	}
}

// heading writes a heading.
func (l *layout) heading(text string) {
	l.gap()
	l.paragraph("", textIndent, emphasized(text))
	l.headed = true
}

// paragraph sets a text. Its first line begins with first, the others with an indent.
func (l *layout) paragraph(first string, indent int, text string) {
	l.write(helptext.Fill(first, blanks(indent), strings.Fields(text), l.cols))
}

// entry writes a word, and behind or below it what explains it.
func (l *layout) entry(indent int, word, text string) {
	first := blanks(indent) + word
	if room := hangIndent - 2; width.String(word) <= room && text != "" {
		first += blanks(hangIndent - width.String(word))
	} else {
		l.paragraph(blanks(indent), indent+hangIndent, word)
		first = blanks(indent + hangIndent)
	}
	if text != "" {
		l.paragraph(first, indent+hangIndent, text)
	}
}

// write writes lines, with what is bold in the layout's style.
func (l *layout) write(text string) {
	l.headed = false
	for _, r := range text {
		switch {
		case r == boldOn, r == boldOff:
			l.bold = r == boldOn
			l.sgr(l.bold)
		case r == '\n' && l.bold:
			l.sgr(false)
			l.out.WriteRune(r)
			l.sgr(true)
		case l.bold && l.style == Overstrike && r != ' ':
			l.out.WriteString(string(r) + "\b" + string(r))
		default:
			l.out.WriteRune(r)
		}
	}
}

func (l *layout) sgr(bold bool) {
	switch {
	case l.style != SGR:
	case bold:
		l.out.WriteString("\x1b[1m")
	default:
		l.out.WriteString("\x1b[0m")
	}
}
