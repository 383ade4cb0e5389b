package visible

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"termhost/ptypool/vt"
	"termhost/ptypool/vt/width"
)

// Clean returns a line as a model may read it: with nothing that people do not see on a terminal. A
// model reads every code point, so whoever prints text could hide sentences for it in those that
// show nothing. Cleaning a line again changes nothing.
//
// Control characters but tabs go, and so do line and paragraph separators, format characters, and
// all that Unicode lets a program ignore: Default_Ignorable_Code_Point, which
// DerivedCoreProperties.txt derives from format characters, variation selectors and
// Other_Default_Ignorable_Code_Point. Bytes that are not UTF-8 become U+FFFD. Where writing needs
// what is ignorable, it stays:
//
//   - one variation selector, directly behind a character of a kind that has variants with it:
//     StandardizedVariants.txt, emoji-variation-sequences.txt, and for ideographs UTS 37
//   - one zero width joiner or non-joiner, between two letters of a script that joins letters (the
//     Unicode Standard, section 23.2), or between two emoji (UTS 51, ED-16)
func Clean(line string) string {
	if printsASCII(line) {
		return line
	}
	c := cleaner{rest: line}
	for len(c.rest) > 0 {
		r, n := utf8.DecodeRuneInString(c.rest)
		c.rest = c.rest[n:]
		c.add(r)
	}
	return c.text.String()
}

// CleanOutput is [Clean] for what a program has printed, of any number of lines: the control
// characters of ASCII stay, and so do the escape sequences that they begin.
func CleanOutput(text string) string {
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	var clean strings.Builder
	for len(text) > 0 {
		n := strings.IndexFunc(text, control)
		if n < 0 {
			n = len(text)
		}
		clean.WriteString(Clean(text[:n]))
		rest := strings.TrimLeftFunc(text[n:], control)
		clean.WriteString(text[n : len(text)-len(rest)])
		text = rest
	}
	return clean.String()
}

// printsASCII reports whether a line consists of tabs and of ASCII characters that are printed.
func printsASCII(line string) bool {
	for i := range len(line) {
		if b := line[i]; b >= 0x7f || b < ' ' && b != '\t' {
			return false
		}
	}
	return true
}

// cleaner cleans one line.
type cleaner struct {
	text   strings.Builder
	rest   string // what comes
	base   rune   // the last character that stays and is no mark; 0: it joins nothing
	direct bool   // it is the last character of text, and of what was read
	joiner rune   // behind base, stays if the next character may be joined; 0: there is none
}

func (c *cleaner) add(r rune) {
	joiner := c.joiner
	c.joiner = 0
	switch {
	case r == '\t':
		c.base = 0
		c.text.WriteRune(r)
	case unicode.Is(unicode.Variation_Selector, r):
		if !c.direct || !varies(c.base, r, c.rest) {
			c.base = 0
			break
		}
		c.direct = false
		c.text.WriteRune(r)
	case r == zeroWidthJoiner, r == zeroWidthNonJoiner:
		if joiner != 0 {
			c.base = 0
		}
		if c.base != 0 {
			c.joiner = r
		}
	case vt.Invisible(r):
		c.base = 0
	case unicode.Is(unicode.M, r), isEmoji(c.base) && skinTone(r):
		c.direct = false
		c.text.WriteRune(r)
	default:
		if joiner != 0 && joins(c.base, joiner, r) {
			c.text.WriteRune(joiner)
		}
		c.base, c.direct = r, true
		c.text.WriteRune(r) // U+FFFD for a byte that is not UTF-8
	}
}

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'

	textStyle, emojiStyle = '\ufe0e', '\ufe0f'
	keycap                = "\u20e3" // combines with a digit and emojiStyle
)

// varies reports whether a character has a variant with a selector. rest is what follows.
func varies(base, selector rune, rest string) bool {
	switch {
	case base == 0:
		return false
	case selector == textStyle, selector == emojiStyle:
		return isEmoji(base) ||
			strings.ContainsRune("0123456789#*", base) && strings.HasPrefix(rest, keycap)
	case selector <= '\u180f':
		return unicode.Is(unicode.Mongolian, base)
	case selector >= 0xe0100:
		return unicode.Is(unicode.Han, base)
	}
	const last = '\ufe02' // no standardized variant has another selector
	return selector <= last && base >= utf8.RuneSelf && (unicode.In(base, unicode.S, unicode.P,
		unicode.Han, unicode.Myanmar, unicode.Phags_Pa, unicode.Manichaean))
}

// joins reports whether a joiner between two characters changes how they are written.
func joins(before, joiner, after rune) bool {
	return isEmoji(before) && joiner == zeroWidthJoiner && isEmoji(after) ||
		joinable(before) && joinable(after)
}

// joinable reports whether a character is a letter of a script that joins letters.
func joinable(r rune) bool {
	return unicode.IsLetter(r) && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic,
		unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Common)
}

func isEmoji(r rune) bool {
	class := width.Of(r)
	return class == width.Picto || class == width.WidePicto
}

// skinTone reports whether a character is one of the modifiers of an emoji.
func skinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// Blank reports whether a character is a space or looks like one.
func Blank(r rune) bool { return unicode.IsSpace(r) || blank(r) }
