package vt

// history is the scrollback: lines that have left the top of the main screen, as text with style
// changes, in blocks without pointers.
type history struct {
	limit  int // lines
	most   int // bytes
	lines  int
	pushed uint64 // lines ever added
	bytes  int    // of the lines in blocks, with a lineBreak for each
	blocks []block
	skip   int    // lines of blocks[0] that have been dropped
	cut    bool   // lines have been dropped at the beginning
	spare  block  // an empty block, for reuse
	line   []byte // scratch
}

// block holds consecutive lines; line i is buf[ends[i-1]:ends[i]]. It may have been spilled: see
// spill.
type block struct {
	buf     []byte
	ends    []uint32
	spilled *spilledBlock // nil: the lines are in memory
}

// lineBreak is added to each line's length. With the byte that a line begins with, a line of plain
// text then counts as many bytes as were printed for it, with CR LF. Its four bytes in ends are not
// counted.
const lineBreak = 1

// at returns line i of the block.
func (b *block) at(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = b.ends[i-1]
	}
	return b.buf[from:b.ends[i]]
}

// push adds a row at the end, and drops the oldest lines beyond the limits.
func (h *history) push(tb *table, r *row) {
	if h.limit > 0 {
		h.add(tb, r)
		h.trim()
	}
}

// add is push without dropping lines.
func (h *history) add(tb *table, r *row) {
	if !printsFirst(r) {
		h.breakLine() // the last line was wrapped, but its continuation was erased
	}
	h.line = encodeRow(h.line[:0], tb, r)
	h.append(h.line)
	if cap(h.line) > historyBlock {
		h.line = nil
	}
}

// append adds a line in the format of encodeRow.
func (h *history) append(line []byte) {
	n := len(line)
	last := len(h.blocks) - 1
	if last < 0 || h.blocks[last].spilled != nil ||
		cap(h.blocks[last].buf)-len(h.blocks[last].buf) < n {
		h.blocks = append(h.blocks, h.newBlock(n))
		last++
	}
	b := &h.blocks[last]
	b.buf = append(b.buf, line...)
	b.ends = append(b.ends, uint32(len(b.buf)))
	h.lines++
	h.pushed++
	h.bytes += n + lineBreak
}

// trim drops the oldest lines beyond the limits.
func (h *history) trim() {
	for h.lines > h.limit || h.bytes > h.most && h.lines > 0 {
		h.dropOldest()
	}
}

// truncate removes the newest lines, as if they had never been added.
func (h *history) truncate(lines int) {
	for h.lines > lines {
		h.pop()
		h.pushed--
	}
}

// lastKind returns how the newest line ends; setLastKind sets it.
func (h *history) lastKind() byte {
	if h.lines == 0 {
		return lineEnds
	}
	return h.last()[0]
}

func (h *history) setLastKind(kind byte) {
	if h.lines > 0 {
		h.last()[0] = kind
	}
}

// newBlock returns an empty block with room for n bytes. The first is small: most terminals never
// scroll far.
func (h *history) newBlock(n int) block {
	if n <= cap(h.spare.buf) {
		b := h.spare
		h.spare = block{}
		return b
	}
	last := len(h.blocks) - 1
	if last < 0 {
		return block{buf: make([]byte, 0, max(historyBlock/8, n))}
	}
	// Lines are likely to be as long as those before them.
	lines := len(h.blocks[last].ends) * historyBlock / max(1, cap(h.blocks[last].buf))
	return block{buf: make([]byte, 0, max(historyBlock, n)),
		ends: make([]uint32, 0, lines+lines/8)}
}

// dropOldest drops the oldest line.
func (h *history) dropOldest() {
	h.cut = true
	b := h.block(0)
	h.bytes -= len(b.at(h.skip)) + lineBreak
	h.lines--
	h.skip++
	if h.skip < len(b.ends) {
		return
	}
	h.skip = 0
	if cap(b.buf) >= historyBlock && cap(b.buf) <= 2*historyBlock {
		h.spare = block{buf: b.buf[:0], ends: b.ends[:0]}
	}
	h.blocks[0] = block{}
	h.blocks = h.blocks[1:] // append frees the room of the first when it reallocates
}

// clear forgets every line.
func (h *history) clear() { *h = history{limit: h.limit, most: h.most, pushed: h.pushed} }

// last returns the newest line; it is valid until the next push.
func (h *history) last() []byte {
	b := h.block(len(h.blocks) - 1)
	return b.at(len(b.ends) - 1)
}

// breakLine ends the newest line, because its continuation has moved.
func (h *history) breakLine() { h.setLastKind(lineEnds) }

// pop removes the newest line and returns it; it is valid until the next push.
func (h *history) pop() []byte {
	line := h.last()
	i := len(h.blocks) - 1
	b := h.block(i)
	b.ends = b.ends[:len(b.ends)-1]
	b.buf = b.buf[:len(b.buf)-len(line)]
	h.lines--
	h.bytes -= len(line) + lineBreak
	if len(b.ends) == 0 || i == 0 && len(b.ends) == h.skip {
		h.blocks[i] = block{}
		h.blocks = h.blocks[:i]
		if i == 0 {
			h.skip = 0
		}
	}
	return line
}

// newest returns an iterator over the newest n lines, oldest first.
func (h *history) newest(n int) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		skip := h.skip + h.lines - min(n, h.lines)
		for _, b := range h.blocks {
			if n := b.lines(); skip >= n {
				skip -= n
				continue
			}
			b = b.read()
			for ; skip < len(b.ends); skip++ {
				if !yield(b.at(skip)) {
					return
				}
			}
			skip = 0
		}
	}
}

// skipLines skips whole blocks before the one in which the line after the first n lines begins. It
// returns how many lines end in the skipped blocks, and how many rows follow them.
func (h *history) skipLines(n int) (ended, rows int) {
	rows = h.lines
	for i := range h.blocks {
		b, skip := &h.blocks[i], 0
		if i == 0 {
			skip = h.skip
		}
		more := b.ended(skip)
		if ended+more >= n {
			break
		}
		ended, rows = ended+more, rows-b.lines()+skip
	}
	return ended, rows
}

// ended returns how many lines end in the block, without its first skip rows.
func (b *block) ended(skip int) (n int) {
	if b.spilled != nil && skip == 0 {
		return b.spilled.ended
	}
	r := b.read()
	for i := skip; i < len(r.ends); i++ {
		if r.at(i)[0] == lineEnds {
			n++
		}
	}
	return n
}
