package ahp

import (
	"unicode/utf8"
)

// Text is terminal output: a list of immutable chunks of bytes, so that the cost of
// appending does not depend on the length. The zero Text is empty.
//
// The JSON of a Text is that of its pieces, one after the other: if a piece ended
// within a rune, both parts of that stay U+FFFD. So a peer that was sent the pieces
// and one that is sent the Text read the same.
//
// A Text is not safe for concurrent use, but what [Text.Clone] returns may be read
// while the original grows: bytes are never changed once they are appended.
type Text struct {
	chunks [][]byte
	size   int
}

// NewText returns a Text of p, which must not be modified after the call.
func NewText(p []byte) Text {
	var t Text
	t.Append(p)
	return t
}

// Append adds p, which must not be modified after the call. If p lies in memory right
// behind the last chunk and within its capacity, that chunk grows and no new one is
// made, unless that would join a rune that the pieces have split.
func (t *Text) Append(p []byte) {
	if len(p) == 0 {
		return
	}
	t.size += len(p)
	if n := len(t.chunks); n > 0 {
		last := t.chunks[n-1]
		if follows(last, p) && !joinsRune(last, p) {
			t.chunks[n-1] = last[:len(last)+len(p)]
			return
		}
	}
	t.chunks = append(t.chunks, p)
}

// follows reports whether p begins where a ends, in one allocation.
func follows(a, p []byte) bool {
	return cap(a)-len(a) >= len(p) && &a[:len(a)+1][len(a)] == &p[0]
}

// joinsRune reports whether b may complete a rune whose beginning is at the end of a.
func joinsRune(a, b []byte) bool {
	if utf8.RuneStart(b[0]) {
		return false
	}
	i := len(a) - 1
	for i > 0 && len(a)-i < utf8.UTFMax && !utf8.RuneStart(a[i]) {
		i--
	}
	return !utf8.FullRune(a[i:])
}

// Len returns the length in bytes.
func (t Text) Len() int { return t.size }

// Chunks returns the chunks, oldest first. Neither they nor the slice may be
// modified.
func (t Text) Chunks() [][]byte { return t.chunks }

// Clone returns a Text that later appends to t do not change. It shares the bytes.
func (t Text) Clone() Text {
	return Text{chunks: append([][]byte(nil), t.chunks...), size: t.size}
}

// Drop removes the n oldest bytes, or all if there are fewer.
func (t *Text) Drop(n int) {
	i := 0
	for i < len(t.chunks) && n >= len(t.chunks[i]) {
		n -= len(t.chunks[i])
		t.size -= len(t.chunks[i])
		i++
	}
	t.chunks = append([][]byte(nil), t.chunks[i:]...)
	if n > 0 && len(t.chunks) > 0 {
		t.chunks[0] = t.chunks[0][n:]
		t.size -= n
	}
}

// Prepend puts p, which must not be modified after the call, before the rest.
func (t *Text) Prepend(p []byte) {
	if len(p) == 0 {
		return
	}
	t.chunks = append([][]byte{p}, t.chunks...)
	t.size += len(p)
}

// AppendTo appends the bytes to dst.
func (t Text) AppendTo(dst []byte) []byte {
	for _, c := range t.chunks {
		dst = append(dst, c...)
	}
	return dst
}

// String returns the bytes, which need not be valid UTF-8.
func (t Text) String() string { return string(t.AppendTo(make([]byte, 0, t.size))) }

// AppendJSON appends the text as one JSON string; see [AppendJSONString].
func (t Text) AppendJSON(dst []byte) []byte {
	dst = append(dst, '"')
	for _, c := range t.chunks {
		dst = appendEscaped(dst, c)
	}
	return append(dst, '"')
}

// UnmarshalJSON sets t to the bytes of a JSON string.
func (t *Text) UnmarshalJSON(b []byte) error {
	var s string
	if err := unmarshal(b, &s); err != nil {
		return err
	}
	*t = NewText([]byte(s))
	return nil
}
