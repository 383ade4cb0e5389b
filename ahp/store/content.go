package store

import "termhost/ahp"

// content keeps a terminal's output within its bound. Offsets count bytes of
// output, and what parts weigh besides, since the terminal began.
type content struct {
	arena     arena
	start     int64 // of the oldest byte still here
	end       int64
	marks     []mark // where the content may be cut, oldest first
	sinceMark int    // what came after the newest mark
}

// mark is a place at a chunk's and a part's edge. preamble is what a fresh
// terminal needs before the output behind the mark.
type mark struct {
	at       int64
	preamble []byte
}

// partOverhead is what a part weighs besides its text, so that a million empty
// commands do not stay for ever.
const partOverhead = 128

func partWeight(p *ahp.Part) int {
	n := partOverhead + p.Text.Len()
	if p.Command != nil {
		n += len(p.Command.Line)
	}
	return n
}

// apply reduces an action into the state and trims what is then too much.
func (c *content) apply(st *ahp.TerminalState, a ahp.Action, limit int) {
	parts := len(st.Content)
	st.Apply(a)
	if _, ok := a.(ahp.TerminalCleared); ok {
		c.start, c.marks, c.sinceMark = c.end, nil, 0
		return
	}
	grown := dataLen(a)
	if n := len(st.Content); n > parts {
		grown = partWeight(&st.Content[n-1])
	}
	c.end += int64(grown)
	c.sinceMark += grown
	cut := -1
	for i := range c.marks {
		if c.end-c.start <= int64(limit) || cut >= 0 && c.end-c.marks[cut].at <= int64(limit) {
			break
		}
		cut = i
	}
	if cut >= 0 && c.marks[cut].at < c.end {
		c.cut(st, c.marks[cut])
		c.marks = append([]mark(nil), c.marks[cut+1:]...)
	}
}

// cut drops what is before m and puts its preamble in its place.
func (c *content) cut(st *ahp.TerminalState, m mark) {
	excess := int(m.at - c.start)
	n := 0
	for n < len(st.Content)-1 && excess >= partWeight(&st.Content[n]) {
		excess -= partWeight(&st.Content[n])
		n++
	}
	st.Content = append([]ahp.Part(nil), st.Content[n:]...)
	head := &st.Content[0]
	if excess > 0 {
		excess -= partWeight(head) - head.Text.Len()
		head.Text.Drop(excess)
		// What the part weighs besides its text stays with it.
		c.start = m.at - int64(partWeight(head)-head.Text.Len())
	} else {
		c.start = m.at
	}
	head.Text.Prepend(m.preamble)
	c.start -= int64(len(m.preamble))
}

// mark notes that the content may be cut at its end.
func (c *content) mark(preamble []byte) {
	c.arena.seal()
	c.marks = append(c.marks, mark{at: c.end, preamble: preamble})
	c.sinceMark = 0
}

// arena hands out memory for output: chunks that are filled from the front and
// never written twice, so that readers of the front need no lock.
type arena struct {
	chunk []byte
	next  int // the size of the next chunk
}

// firstChunk is the size of a terminal's first chunk: an idle shell fits.
const firstChunk = 1 << 10

// chunkBytes is the size chunks grow to: a sixteenth of the content, so that
// trimming by chunks stays within some percent of the bound, at most 64 KiB,
// the most that one read of a pty gives.
func (s *Store) chunkBytes() int { return min(max(s.contentBytes/16, firstChunk), 64<<10) }

// copy returns a copy of p that is never written again.
func (a *arena) copy(p []byte, limit int) []byte {
	if cap(a.chunk)-len(a.chunk) < len(p) {
		a.next = min(max(a.next*2, firstChunk), limit)
		a.chunk = make([]byte, 0, max(a.next, len(p)))
	}
	n := len(a.chunk)
	a.chunk = append(a.chunk, p...)
	return a.chunk[n:len(a.chunk):len(a.chunk)]
}

// seal makes the next copy begin a chunk of its own.
func (a *arena) seal() { a.chunk = nil }
