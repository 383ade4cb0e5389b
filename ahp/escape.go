package ahp

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Terminal output is the bulk of what is encoded and decoded, and most of it is ASCII. So the
// insides of its JSON strings are handled eight bytes at a time: a word without a byte that needs
// care is copied whole.

const (
	wordBytes = 8
	lowBits   = 0x0101010101010101 // the lowest bit of each byte of a word
	highBits  = 0x8080808080808080 // the highest
)

// needCare marks, by its highest bit, each byte of a word that is not to be copied as it is:
// control characters, quotes, backslashes, and all beyond ASCII. Bytes behind the first that is
// marked may be marked wrongly.
func needCare(word uint64) (marks uint64) {
	return (word | (word - ' '*lowBits) | ((word ^ '"'*lowBits) - lowBits) |
		((word ^ '\\'*lowBits) - lowBits)) & highBits
}

// firstMarked returns the index of the first byte that is marked.
func firstMarked(marks uint64) int { return bits.TrailingZeros64(marks) / 8 }

// escapeLen is the length of \uXXXX, the longest escape.
const escapeLen = 6

// escape is how a byte below utf8.RuneSelf is written inside a JSON string: the first n bytes of
// the word text.
type escape struct {
	text uint64
	n    int
}

var escapes = func() (t [utf8.RuneSelf]escape) {
	const hexDigits = "0123456789abcdef"
	short := map[byte]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r',
		'\t': 't'}
	for b := range byte(utf8.RuneSelf) {
		text := []byte{b}
		if c, ok := short[b]; ok {
			text = []byte{'\\', c}
		} else if b < ' ' {
			text = []byte{'\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&15]}
		}
		var word [wordBytes]byte
		copy(word[:], text)
		t[b] = escape{binary.LittleEndian.Uint64(word[:]), len(text)}
	}
	return t
}()

// escapePiece is how many bytes are escaped at a time, of which each may become escapeLen bytes.
const escapePiece = 256

// appendEscaped appends the content of a JSON string, between the quotes, as AppendJSONString does.
func appendEscaped(dst, p []byte) []byte {
	var scratch [escapePiece*escapeLen + wordBytes]byte
	for len(p) > 0 {
		piece := p[:WholeRunes(p, escapePiece)]
		p = p[len(piece):]
		if room := dst[len(dst):cap(dst)]; len(room) >= len(piece)*escapeLen+wordBytes {
			dst = dst[:len(dst)+escapeInto(room, piece)]
			continue
		}
		dst = append(dst, scratch[:escapeInto(scratch[:], piece)]...)
	}
	return dst
}

// copyPlain copies the words at the beginning of p up to the first byte that needs care, and
// returns how many bytes those are. It may write a word beyond them. Of less than a word it copies
// nothing.
func copyPlain(dst, p []byte) (n int) {
	for ; n+wordBytes <= len(p); n += wordBytes {
		word := binary.LittleEndian.Uint64(p[n:])
		binary.LittleEndian.PutUint64(dst[n:], word)
		if marks := needCare(word); marks != 0 {
			return n + firstMarked(marks)
		}
	}
	return n
}

// escapeInto escapes p into dst, which has room for escapeLen bytes for each byte, and a word, and
// returns how many bytes it has written.
func escapeInto(dst, p []byte) (n int) {
	for i := 0; i < len(p); {
		plain := copyPlain(dst[n:], p[i:])
		i, n = i+plain, n+plain
		if i == len(p) {
			break
		}
		if b := p[i]; b < utf8.RuneSelf {
			e := escapes[b]
			binary.LittleEndian.PutUint64(dst[n:], e.text)
			i, n = i+1, n+e.n
			continue
		}
		run := beyondASCII(p[i:])
		i += len(run)
		if utf8.Valid(run) {
			n += copy(dst[n:], run)
		} else {
			n += len(appendValid(dst[n:n], run))
		}
	}
	return n
}

// beyondASCII returns the beginning of p up to its first byte of ASCII.
func beyondASCII(p []byte) []byte {
	n := 0
	for n+wordBytes <= len(p) && binary.LittleEndian.Uint64(p[n:])&highBits == highBits {
		n += wordBytes
	}
	for n < len(p) && p[n] >= utf8.RuneSelf {
		n++
	}
	return p[:n]
}

// appendValid appends p with U+FFFD in place of each byte that is not UTF-8.
func appendValid(dst, p []byte) []byte {
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		dst = utf8.AppendRune(dst, r)
		p = p[n:]
	}
	return dst
}

// unquote returns the text of a JSON string; ok is false for another value. Half of a surrogate
// pair becomes U+FFFD.
func unquote(value []byte) (text []byte, ok bool) {
	if len(value) == 0 || value[0] != '"' {
		return nil, false
	}
	text = make([]byte, 0, len(value)+wordBytes)
	if n := len(value) - 1; n > 0 && value[n] == '"' {
		if text, ok := appendUnescaped(text, value[1:n]); ok {
			return text, true
		}
	}
	// An error means half of a pair.
	text, _ = jsontext.AppendUnquote(text, value)
	return text, true
}

// appendUnescaped appends the text that is escaped in the content of a JSON string. ok is false if
// that has anything that appendEscaped and other encoders never write for output: faults of JSON or
// UTF-8, and escapes of surrogates.
func appendUnescaped(dst, in []byte) (text []byte, ok bool) {
	dst = slices.Grow(dst, len(in)+wordBytes)
	n := len(dst)
	dst = dst[:cap(dst)]
	for i := 0; i < len(in); {
		plain := copyPlain(dst[n:], in[i:])
		i, n = i+plain, n+plain
		if i == len(in) {
			break
		}
		switch b := in[i]; {
		case b >= utf8.RuneSelf:
			run := beyondASCII(in[i:])
			if !utf8.Valid(run) {
				return nil, false
			}
			n += copy(dst[n:], run)
			i += len(run)
		case b == '\\':
			r, size := unescape(in[i:])
			if size == 0 {
				return nil, false
			}
			n += utf8.EncodeRune(dst[n:], r)
			i += size
		case b < ' ' || b == '"':
			return nil, false
		default:
			dst[n] = b
			i, n = i+1, n+1
		}
	}
	return dst[:n], true
}

// unescape returns the character of the escape at the beginning of in, and the escape's length; 0:
// it is a surrogate's or none.
func unescape(in []byte) (r rune, size int) {
	if len(in) < 2 {
		return 0, 0
	}
	switch in[1] {
	case '"', '\\', '/':
		return rune(in[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		if len(in) < escapeLen {
			return 0, 0
		}
		for _, c := range in[2:escapeLen] {
			d := hexValues[c]
			if d < 0 {
				return 0, 0
			}
			r = r<<4 | rune(d)
		}
		if !isHigh(r) && !isLow(r) {
			return r, escapeLen
		}
	}
	return 0, 0
}

// hexValues has the values of hexadecimal digits; -1: it is none.
var hexValues = func() (t [256]int8) {
	for b := range t {
		t[b] = -1
	}
	for d := range int8(10) {
		t['0'+d] = d
	}
	for d := range int8(6) {
		t['a'+d], t['A'+d] = 10+d, 10+d
	}
	return t
}()
