package ahp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Halves are the halves of characters beyond U+FFFF (surrogates, Unicode 3.9
// D91) at the ends of a string that was cut within them. JSON can escape a half
// that stands alone (RFC 8259 section 8.2); UTF-8 has none, and encoding/json
// makes U+FFFD of it.
type Halves struct {
	Low  rune // the second half of a character, before the text; 0: none
	High rune // the first half of one, behind the text; 0: none
}

// Join returns what is printed by p, which has halves at its ends, after output
// that ended in the half high (0: in none): the character that the halves make,
// or U+FFFD for each half that has found no other. The half at p's end waits for
// what follows and is returned as left. p is neither kept nor changed, and may be
// what is returned.
func (h Halves) Join(high rune, p []byte) (joined []byte, left rune) {
	if h == (Halves{}) && high == 0 {
		return p, 0
	}
	if h.Low == 0 && len(p) == 0 && h.High == 0 {
		return nil, high // nothing came that could answer it
	}
	if high != 0 || h.Low != 0 {
		joined = utf8.AppendRune(joined, utf16.DecodeRune(high, h.Low))
	}
	return append(joined, p...), h.High
}

// Text returns the output as it is without what comes before and after it: a half
// that stands alone is U+FFFD.
func (o TerminalOutput) Text() []byte {
	p, left := o.Halves.Join(0, o.Data)
	if left != 0 {
		p = utf8.AppendRune(p[:len(p):len(p)], utf8.RuneError)
	}
	return p
}

// appendJSON appends the JSON string that has p between the halves.
func (h Halves) appendJSON(dst, p []byte) []byte {
	dst = append(dst, '"')
	if h.Low != 0 {
		dst = fmt.Appendf(dst, `\u%04x`, h.Low)
	}
	dst = appendEscaped(dst, p)
	if h.High != 0 {
		dst = fmt.Appendf(dst, `\u%04x`, h.High)
	}
	return append(dst, '"')
}

// halvedString is a JSON string that may have been cut within characters.
type halvedString struct {
	text   string
	halves Halves
}

// escapeLen is the length of \uXXXX.
const escapeLen = 6

// UnmarshalJSON takes the halves off the ends before encoding/json sees them.
func (s *halvedString) UnmarshalJSON(b []byte) error {
	if len(b) >= escapeLen+2 && b[0] == '"' {
		in := b[1 : len(b)-1]
		if r := escaped(in); isLow(r) {
			s.halves.Low = r
			in = in[escapeLen:]
		}
		if n := len(in) - escapeLen; n >= 0 && begins(in, n) {
			if r := escaped(in[n:]); isHigh(r) {
				s.halves.High = r
				in = in[:n]
			}
		}
		if s.halves != (Halves{}) {
			b = append(append([]byte{'"'}, in...), '"')
		}
	}
	return json.Unmarshal(b, &s.text)
}

// escaped returns the UTF-16 unit that the escape \uXXXX at the beginning of a JSON
// string's inside stands for; 0 if there is none.
func escaped(in []byte) rune {
	if len(in) < escapeLen || in[0] != '\\' || in[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(in[2:escapeLen]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}

// begins reports whether an escape begins at i: a backslash behind an odd number
// of others is the second half of \\.
func begins(in []byte, i int) bool {
	n := 0
	for n < i && in[i-1-n] == '\\' {
		n++
	}
	return n%2 == 0
}

func isHigh(r rune) bool { return r >= 0xd800 && r < 0xdc00 }
func isLow(r rune) bool  { return r >= 0xdc00 && r < 0xe000 }
