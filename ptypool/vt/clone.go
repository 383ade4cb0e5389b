package vt

import (
	"maps"
	"slices"
)

// Clone returns a Terminal that is as t is now, in the middle of a sequence too, and goes on by
// itself. The scrollback that is in memory is copied; both read what has been spilled (see
// [Terminal.SpillHistory]) from where it is.
func (t *Terminal) Clone() *Terminal {
	c := *t
	c.flood.line = nil
	c.parser.held = slices.Clone(t.parser.held)
	c.output.repl = nil
	c.titles.stack = slices.Clone(t.titles.stack)
	c.colors.palette = maps.Clone(t.colors.palette)
	c.screen.copyParts()
	if t.screen.altShown() {
		c.screen.grid = &c.screen.alt
	} else {
		c.screen.grid = &c.screen.main
	}
	return &c
}

// Memory returns about how much memory t takes, in bytes.
func (t *Terminal) Memory() int {
	const (
		base      = 8 << 10 // of the Terminal itself, with some of the smaller parts
		styleSize = 96      // of a style, with its place in the index
		textSize  = 64      // of a cluster, besides its text
		blockSize = 64      // of a block of scrollback, besides its lines
	)
	s := &t.screen
	n := base + cap(t.parser.held) + s.table.hyperlinkBytes + styleSize*len(s.table.styles) +
		textSize*len(s.table.clusters) + blockSize*len(s.history.blocks) + t.HistoryMemory()
	s.eachRow(func(cells []cell) { n += 8 * len(cells) })
	return n
}

// copyParts has a copied screen share nothing that changes with the one it is a copy of.
func (s *screen) copyParts() {
	s.main.copyParts()
	s.alt.copyParts()
	s.tabs = slices.Clone(s.tabs)
	tb := &s.table
	tb.styles, tb.styleIndex = slices.Clone(tb.styles), maps.Clone(tb.styleIndex)
	tb.clusters, tb.clusterIndex = slices.Clone(tb.clusters), maps.Clone(tb.clusterIndex)
	tb.hyperlinks = slices.Clone(tb.hyperlinks)
	tb.hyperlinkIndex = maps.Clone(tb.hyperlinkIndex)
	s.history.copyParts()
}

func (g *grid) copyParts() {
	rows := g.rows
	g.buf, g.off, g.free = make([]row, 2*len(rows)), 0, nil
	g.rows = g.buf[:len(rows)]
	for y := range rows {
		g.rows[y] = row{slices.Clone(rows[y].cells), rows[y].wrapped}
	}
	g.kitty = slices.Clone(g.kitty)
}

func (h *history) copyParts() {
	h.spare, h.line = block{}, nil
	h.blocks = slices.Clone(h.blocks)
	for i := range h.blocks {
		b := &h.blocks[i]
		b.buf, b.ends = slices.Clone(b.buf), slices.Clone(b.ends)
	}
}
