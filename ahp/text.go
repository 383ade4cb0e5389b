package ahp

import (
	"io"
	"slices"
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
//
// Chunks may be out of memory, see [Text.Spill]: they are read when they are needed, and
// not kept.
type Text struct {
	chunks []chunk
	size   int
}

// chunk is bytes that are in memory, or that have been spilled.
type chunk struct {
	b       []byte
	spilled *spilled // nil: they are in b
}

// spilled is where the bytes of a chunk are.
type spilled struct {
	from io.ReaderAt
	at   int64
	n    int
}

// Unreadable is what spilled bytes that cannot be read are replaced with, as far as there
// is room; the rest are blanks.
const Unreadable = "[termhost: this could not be read from the disk]"

func (c chunk) len() int {
	if c.spilled != nil {
		return c.spilled.n
	}
	return len(c.b)
}

// bytes returns the bytes, which must not be modified.
func (c chunk) bytes() []byte { return c.in(new([]byte)) }

// in is bytes, for as long as buf is not used again: that is where spilled bytes are read to.
func (c chunk) in(buf *[]byte) []byte {
	s := c.spilled
	if s == nil {
		return c.b
	}
	*buf = slices.Grow((*buf)[:0], s.n)
	b := (*buf)[:s.n]
	if _, err := s.from.ReadAt(b, s.at); err != nil {
		for i := copy(b, Unreadable); i < len(b); i++ {
			b[i] = ' '
		}
	}
	return b
}

// drop returns the chunk without its n oldest bytes.
func (c chunk) drop(n int) chunk {
	if s := c.spilled; s != nil {
		return chunk{spilled: &spilled{s.from, s.at + int64(n), s.n - n}}
	}
	return chunk{b: c.b[n:]}
}

// Spill returns the Text with all bytes moved out of memory that save accepts: save returns a
// reader, and the offset from which the bytes can be read as long as the reader is in use. The Text
// itself does not change. If save fails, Spill returns its error, and the bytes stay where they
// are.
func (t Text) Spill(save func(p []byte) (from io.ReaderAt, at int64, err error)) (Text, error) {
	moved := t.Clone()
	for i, c := range moved.chunks {
		if c.spilled != nil {
			continue
		}
		from, at, err := save(c.b)
		if err != nil {
			return moved, err
		}
		moved.chunks[i] = chunk{spilled: &spilled{from, at, len(c.b)}}
	}
	return moved, nil
}

// Resident returns how many bytes are in memory.
func (t Text) Resident() int {
	n := 0
	for _, c := range t.chunks {
		n += len(c.b)
	}
	return n
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
		last := t.chunks[n-1].b // nil: spilled
		if follows(last, p) && !joinsRune(last, p) {
			t.chunks[n-1].b = last[:len(last)+len(p)]
			return
		}
	}
	t.chunks = append(t.chunks, chunk{b: p})
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

// WholeRunes returns the length of the beginning of p that has at most n bytes and does not end
// within a rune: text of its own. What is not UTF-8 there is cut at n, which is utf8.UTFMax at
// least.
func WholeRunes[T string | []byte](p T, n int) int {
	if len(p) <= n {
		return len(p)
	}
	for i := n; i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(p[i]) {
			return i
		}
	}
	return n
}

// Len returns the length in bytes.
func (t Text) Len() int { return t.size }

// Chunks returns the chunks, oldest first, which must not be modified.
func (t Text) Chunks() [][]byte {
	list := make([][]byte, len(t.chunks))
	for i, c := range t.chunks {
		list[i] = c.bytes()
	}
	return list
}

// Split returns a Text for each of the chunks, oldest first, and reads none.
func (t Text) Split() []Text {
	list := make([]Text, len(t.chunks))
	for i, c := range t.chunks {
		list[i] = Text{chunks: []chunk{c}, size: c.len()}
	}
	return list
}

// Clone returns a Text that later appends to t do not change. It shares the bytes.
func (t Text) Clone() Text {
	return Text{chunks: append([]chunk(nil), t.chunks...), size: t.size}
}

// Drop removes the n oldest bytes, or all if there are fewer.
func (t *Text) Drop(n int) {
	i := 0
	for i < len(t.chunks) && n >= t.chunks[i].len() {
		n -= t.chunks[i].len()
		t.size -= t.chunks[i].len()
		i++
	}
	t.chunks = append([]chunk(nil), t.chunks[i:]...)
	if n > 0 && len(t.chunks) > 0 {
		t.chunks[0] = t.chunks[0].drop(n)
		t.size -= n
	}
}

// Prepend puts x, which must not be modified after the call, before the rest.
func (t *Text) Prepend(x Text) {
	if x.size == 0 {
		return
	}
	t.chunks = append(x.Clone().chunks, t.chunks...)
	t.size += x.size
}

// AppendTo appends the bytes to dst.
func (t Text) AppendTo(dst []byte) []byte {
	for _, c := range t.chunks {
		rest := dst[len(dst):]
		dst = append(dst, c.in(&rest)...)
	}
	return dst
}

// String returns the bytes, which need not be valid UTF-8.
func (t Text) String() string { return string(t.AppendTo(make([]byte, 0, t.size))) }

// AppendJSON appends the text as one JSON string; see [AppendJSONString].
func (t Text) AppendJSON(dst []byte) []byte {
	dst = append(dst, '"')
	var buf []byte
	for _, c := range t.chunks {
		dst = appendEscaped(dst, c.in(&buf))
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
