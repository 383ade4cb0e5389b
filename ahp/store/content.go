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

// mark is a place in the content. preamble is what a fresh terminal needs
// before the output behind it.
type mark struct {
	at       int64
	preamble []byte
}

// partOverhead is what a part weighs besides what it carries, so that a million
// empty commands do not stay for ever.
const partOverhead = 128

func partWeight(p *ahp.Part) int { return partFixed(p) + p.Text.Len() }

// partFixed is what stays of a part's weight when its text is cut.
func partFixed(p *ahp.Part) int {
	if p.Command == nil {
		return partOverhead
	}
	return partOverhead + len(p.Command.ID) + len(p.Command.Line)
}

// size returns what the content weighs.
func (c *content) size() int { return int(c.end - c.start) }

// apply reduces an action into the state and trims what is then too much.
func (c *content) apply(st *ahp.TerminalState, a ahp.Action, limit int) {
	parts := len(st.Content)
	st.Apply(a)
	grown := 0
	switch a := a.(type) {
	case ahp.TerminalCleared:
		c.start, c.marks, c.sinceMark = c.end, nil, 0
		return
	case ahp.TerminalData:
		grown = len(a.Data)
	case ahp.TerminalOutput:
		grown = len(a.Data)
	}
	if n := len(st.Content); n > parts {
		grown = partWeight(&st.Content[n-1])
	}
	c.end += int64(grown)
	c.sinceMark += grown
	c.trim(st, limit)
}

// trim cuts at the oldest mark behind which is no more than the limit, or at
// the newest one there is.
func (c *content) trim(st *ahp.TerminalState, limit int) {
	if c.size() <= limit {
		return
	}
	cut := -1
	for i, m := range c.marks {
		if m.at == c.end || cut >= 0 && c.end-c.marks[cut].at <= int64(limit) {
			break
		}
		cut = i
	}
	if cut >= 0 {
		c.cut(st, c.marks[cut])
		clear(c.marks[:cut+1])
		c.marks = c.marks[cut+1:]
	}
}

// cut drops what is before m and puts its preamble in its place. Clones of the
// state have lists of their own and keep what they have.
func (c *content) cut(st *ahp.TerminalState, m mark) {
	excess := int(m.at - c.start)
	n := 0
	for n < len(st.Content)-1 && excess >= partWeight(&st.Content[n]) {
		excess -= partWeight(&st.Content[n])
		n++
	}
	clear(st.Content[:n])
	st.Content = st.Content[n:]
	head := &st.Content[0]
	c.start = m.at
	if excess > 0 { // the mark is within head: what it weighs besides its text stays
		fixed := partFixed(head)
		head.Text.Drop(excess - fixed)
		c.start -= int64(fixed)
	}
	head.Text.Prepend(m.preamble)
	c.start -= int64(len(m.preamble))
}

// mark notes that the content may be cut at its end.
func (c *content) mark(preamble []byte) {
	if n := len(c.marks); n > 0 && c.marks[n-1].at == c.end {
		c.marks = c.marks[:n-1]
	}
	c.marks = append(c.marks, mark{at: c.end, preamble: preamble})
	c.sinceMark = 0
}
