package width

import "unicode/utf8"

// The variation selectors that choose between a pictograph as text, one cell wide, and as an emoji,
// two cells wide.
const (
	textStyle  = 0xfe0e
	emojiStyle = 0xfe0f
)

// State says which characters may join the text so far. The zero value is that of no text.
type State uint8

const (
	begin      State = iota // of the text, or after a control: nothing joins
	plain                   // what extends joins, as it does in all that follow
	prepended               // everything joins but a control
	leading                 // a Hangul syllable may go on
	vowel                   // a vowel or a trailing consonant may follow
	trailing                // a trailing consonant may follow
	halfFlag                // another regional indicator joins
	pictograph              // as plain, but ...
	tied                    // ... after ZWJ another pictograph joins

	States = iota // how many there are
)

// Next returns the state after a character of class c, and whether that joins the cluster before it
// (Unicode annex 29, rules GB4 to GB13).
func (s State) Next(c Class) (next State, joins bool) {
	joins = s == prepended
	switch c {
	case Control:
		return begin, false
	case Extend, ZWJ, Spacing, WideSpacing, Modifier:
		return s.afterExtend(c), s != begin
	case Prepended:
		next = prepended
	case Picto, WidePicto:
		next, joins = pictograph, joins || s == tied
	case Flag:
		if s == halfFlag {
			return plain, true
		}
		next = halfFlag
	case Leading:
		next, joins = leading, joins || s == leading
	case Open:
		next, joins = vowel, joins || s == leading
	case Closed:
		next, joins = trailing, joins || s == leading
	case Vowel:
		next, joins = vowel, joins || s == leading || s == vowel
	case Trailing:
		next, joins = trailing, joins || s == vowel || s == trailing
	default:
		next = plain
	}
	return next, joins
}

// afterExtend returns the state after a character of class c that joins the cluster before it.
func (s State) afterExtend(c Class) State {
	switch {
	case s == pictograph && (c == Extend || c == Modifier):
		return pictograph
	case s == pictograph && c == ZWJ:
		return tied
	}
	return plain
}

// MayJoin reports whether a character of class c can join text that ends with one of class last. It
// is a quick test before Cluster, which is exact.
func (c Class) MayJoin(last Class) bool {
	switch c {
	case Narrow, Wide, Prepended:
		return last == Prepended
	case Picto, WidePicto:
		return last == ZWJ || last == Prepended
	case Flag:
		return last == Flag || last == Prepended
	}
	return c != Control // what extends, and of Hangul nearly all
}

// Cluster returns the length of the first grapheme cluster of p, which must not be empty, and how
// many cells it takes: as many as its characters together, but at most two. A pictograph at its
// beginning decides alone, unless a variation selector follows, and so do a regional indicator and
// a Hangul leading consonant. CR LF counts as two clusters.
func Cluster(p []byte) (n, cells int) {
	r, n := utf8.DecodeRune(p)
	first := Of(r)
	cells = first.InCluster()
	s, _ := begin.Next(first)
	for n < len(p) {
		r, size := utf8.DecodeRune(p[n:])
		c := Of(r)
		next, joins := s.Next(c)
		if !joins {
			break
		}
		switch first {
		case Picto, WidePicto:
			if r == textStyle || r == emojiStyle {
				cells = int(r-textStyle) + 1
			}
		case Flag, Leading:
		default:
			cells += c.Cells()
		}
		s, n = next, n+size
	}
	return n, min(cells, 2)
}

// String returns how many cells s takes on one line, with each character by itself: a terminal that
// measures clusters needs no more. Escape sequences count as text.
func String(s string) int {
	total := 0
	for _, r := range s {
		total += Of(r).Cells()
	}
	return total
}

// Cut returns s if it takes at most most cells, or else as much of its beginning as fits together
// with end, followed by end. It cuts no cluster. Without room for end it returns "".
func Cut(s string, most int, end string) string {
	room := most - String(end)
	if room < 0 {
		end = ""
	}
	total, fits := 0, 0
	for p := []byte(s); len(p) > 0; {
		n, _ := Cluster(p)
		total += String(string(p[:n]))
		if p = p[n:]; total <= room {
			fits = len(s) - len(p)
		}
		if total > most {
			return s[:fits] + end
		}
	}
	return s
}
