package store

import "termhost/ahp"

// content keeps the output in a terminal's state within a bound. start, end and a checkpoint's at
// are offsets: sums of the weights of all output and commands that ever came before.
type content struct {
	arena           arena
	start           int64        // of the retained part
	end             int64        // of the retained part
	trimmed         bool         // something has been cut since the content was cleared
	checkpoints     []checkpoint // oldest first
	sinceCheckpoint int          // weight added after
}

// checkpoint is a place where the content may be cut. preamble is what a fresh terminal must
// be sent before the output behind that place.
type checkpoint struct {
	at       int64
	preamble ahp.Text
}

// partOverhead is the weight of a part besides its bytes, so that a million empty commands do not
// stay for ever.
const partOverhead = 128

func partWeight(p *ahp.Part) int { return partFixed(p) + p.Text.Len() }

// partFixed returns the weight of a part without its text.
func partFixed(p *ahp.Part) int {
	if p.Command == nil {
		return partOverhead
	}
	return partOverhead + len(p.Command.ID) + len(p.Command.Line) + len(p.Command.By) +
		len(p.Command.Cwd)
}

// size returns the weight of the content.
func (c *content) size() int { return int(c.end - c.start) }

// apply reduces an action into the state and trims the content if it is then too large.
func (c *content) apply(st *ahp.TerminalState, a ahp.Action, limit int) {
	parts := len(st.Content)
	st.Apply(a)
	grown := 0
	switch a := a.(type) {
	case ahp.TerminalCleared:
		c.start, c.checkpoints, c.sinceCheckpoint, c.trimmed = c.end, nil, 0, false
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
	c.sinceCheckpoint += grown
	c.trim(st, limit)
}

// trim cuts at the oldest checkpoint that leaves no more than the limit, or if there is none, at
// the newest one that leaves anything.
func (c *content) trim(st *ahp.TerminalState, limit int) {
	if c.size() <= limit {
		return
	}
	cut := -1
	for i, cp := range c.checkpoints {
		if cp.at == c.end || cut >= 0 && c.end-c.checkpoints[cut].at <= int64(limit) {
			break
		}
		cut = i
	}
	if cut >= 0 {
		c.cut(st, c.checkpoints[cut])
		clear(c.checkpoints[:cut+1])
		c.checkpoints = c.checkpoints[cut+1:]
	}
}

// cut replaces what is before a checkpoint by its preamble. Clones of the state have lists
// of their own and are not changed.
func (c *content) cut(st *ahp.TerminalState, cp checkpoint) {
	c.trimmed = true
	excess := int(cp.at - c.start)
	n := 0
	for n < len(st.Content)-1 && excess >= partWeight(&st.Content[n]) {
		excess -= partWeight(&st.Content[n])
		n++
	}
	clear(st.Content[:n])
	st.Content = st.Content[n:]
	head := &st.Content[0]
	c.start = cp.at
	if excess > 0 { // the checkpoint is within head, which stays, with less text
		fixed := partFixed(head)
		head.Text.Drop(excess - fixed)
		c.start -= int64(fixed)
	}
	head.Text.Prepend(cp.preamble)
	c.start -= int64(cp.preamble.Len())
}

// checkpoint records that the content may be cut at its present end.
func (c *content) checkpoint(preamble []byte) {
	if n := len(c.checkpoints); n > 0 && c.checkpoints[n-1].at == c.end {
		c.checkpoints = c.checkpoints[:n-1]
	}
	c.checkpoints = append(c.checkpoints, checkpoint{c.end, ahp.NewText(preamble)})
	c.sinceCheckpoint = 0
}
