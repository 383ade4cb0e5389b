package verbs

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"termhost/ptypool/vt"
)

// visible returns a text that somebody else wants to type in a form that acts on no terminal, hides
// nothing and does not look like another text's: control characters as ^C, and by their number what
// shows nothing, what looks like a blank and is none, what combines with the character before it,
// and what is not UTF-8. The end of a line is shown where it is, and begins another line. hidden is
// how many such signs there are besides ends of lines: what is shown may also be meant literally.
func visible(text string) (lines []string, hidden int) {
	var line strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		sign := signOf(r, text[i:i+n])
		i += n
		if r == '\r' && strings.HasPrefix(text[i:], "\n") {
			sign, r = sign+"^J", '\n'
			i++
		}
		line.WriteString(sign)
		switch {
		case r == '\r' || r == '\n':
			lines = append(lines, line.String())
			line.Reset()
		case sign != string(r):
			hidden++
		}
	}
	if line.Len() > 0 || len(lines) == 0 {
		lines = append(lines, line.String())
	}
	return lines, hidden
}

// signOf returns how a character is shown, which is written as raw.
func signOf(r rune, raw string) string {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		return fmt.Sprintf("<%02X>", raw[0])
	case r < 0x20 || r == 0x7f:
		return "^" + string(r^0x40)
	case vt.Invisible(r), !unicode.IsPrint(r), unicode.Is(unicode.Inherited, r):
		return fmt.Sprintf("<U+%04X>", r)
	}
	return string(r)
}

// typeable returns a text as a person may type it into a line to edit it: without the end of the
// line, with blanks for ends of lines within, and without other characters that show nothing but
// tabs, which could do something.
func typeable(text string) []byte {
	text = strings.TrimRight(text, "\r\n")
	text = strings.NewReplacer("\r\n", " ", "\r", " ", "\n", " ").Replace(text)
	return []byte(strings.Map(func(r rune) rune {
		if r != '\t' && (r == utf8.RuneError || vt.Invisible(r)) {
			return -1
		}
		return r
	}, text))
}
