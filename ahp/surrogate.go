package ahp

import (
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Surrogates are the lone surrogates (Unicode 3.9 D91) at the ends of a string that
// was cut within characters beyond U+FFFF. JSON can carry them as escapes (RFC 8259
// section 8.2), but UTF-8 has no form for them, and encoding/json makes U+FFFD of
// them.
type Surrogates struct {
	Low  rune // before the text: the second half of a character; 0: none
	High rune // behind the text: the first half of a character; 0: none
}

// Join returns what p, with these surrogates at its ends, prints after output that
// ended in the surrogate high (0: in none). Two that belong together become their
// character, and any other U+FFFD. The one at the end of p waits for what follows and
// is returned as left. p is neither kept nor changed; joined may be p.
func (s Surrogates) Join(high rune, p []byte) (joined []byte, left rune) {
	if s == (Surrogates{}) && high == 0 {
		return p, 0
	}
	if s.Low == 0 && len(p) == 0 && s.High == 0 {
		return nil, high // nothing came that could complete it
	}
	if high != 0 || s.Low != 0 {
		joined = utf8.AppendRune(joined, utf16.DecodeRune(high, s.Low))
	}
	return append(joined, p...), s.High
}

// Text returns the output regardless of what precedes and follows it: each lone surrogate is
// U+FFFD.
func (o TerminalOutput) Text() []byte {
	p, left := o.Surrogates.Join(0, o.Data)
	if left != 0 {
		p = utf8.AppendRune(p[:len(p):len(p)], utf8.RuneError)
	}
	return p
}

// appendJSON appends the JSON string that has p between the surrogates.
func (s Surrogates) appendJSON(dst, p []byte) []byte {
	dst = append(dst, '"')
	if s.Low != 0 {
		dst = fmt.Appendf(dst, `\u%04x`, s.Low)
	}
	dst = appendEscaped(dst, p)
	if s.High != 0 {
		dst = fmt.Appendf(dst, `\u%04x`, s.High)
	}
	return append(dst, '"')
}

// cutString returns the text of a JSON string. If it may have been cut within characters, the
// surrogates at its ends are taken off first. ok is false for another value.
func cutString(b []byte, cut bool) (text []byte, s Surrogates, ok bool) {
	if cut && len(b) >= escapeLen+2 && b[0] == '"' {
		in := b[1 : len(b)-1]
		if r := escaped(in); isLow(r) {
			s.Low = r
			in = in[escapeLen:]
		}
		if n := len(in) - escapeLen; n >= 0 && begins(in, n) {
			if r := escaped(in[n:]); isHigh(r) {
				s.High = r
				in = in[:n]
			}
		}
		if s != (Surrogates{}) {
			b = append(append([]byte{'"'}, in...), '"')
		}
	}
	text, ok = unquote(b)
	return text, s, ok
}

// escaped returns the UTF-16 unit of the escape \uXXXX at the beginning of in, which is
// the inside of a JSON string; 0 if there is none.
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

// begins reports whether an escape can begin at i. It cannot behind an odd number of
// backslashes, the last of which begins an escape itself.
func begins(in []byte, i int) bool {
	n := 0
	for n < i && in[i-1-n] == '\\' {
		n++
	}
	return n%2 == 0
}

func isHigh(r rune) bool { return r >= 0xd800 && r < 0xdc00 }
func isLow(r rune) bool  { return r >= 0xdc00 && r < 0xe000 }
