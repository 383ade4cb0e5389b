package vt

// NewestHistory returns how many lines of scrollback, of the newest ones and at most lines, take at
// most bytes, and how many bytes they take. That is about what a redraw writes for them. A negative
// number is no bound.
func (s *Screen) NewestHistory(lines, bytes int) (n, size int) {
	h := &s.model.history
	if lines < 0 || lines > h.lines {
		lines = h.lines
	}
	for i := len(h.blocks) - 1; i >= 0 && n < lines; i-- {
		b, first := h.blocks[i].read(), 0
		if i == 0 {
			first = h.skip
		}
		for k := len(b.ends) - 1; k >= first && n < lines; k-- {
			line := len(b.at(k)) + lineBreak
			if bytes >= 0 && size+line > bytes {
				return n, size
			}
			n, size = n+1, size+line
		}
	}
	return n, size
}
