package vt

import (
	"maps"
	"slices"
)

// Clone returns an independent copy of s, including a partial sequence. It copies the scrollback in
// memory; both read spilled scrollback (see [Screen.SpillHistory]) from the same place.
func (s *Screen) Clone() *Screen {
	c := *s
	c.flood.line = nil
	c.parser.held = slices.Clone(s.parser.held)
	c.output.repl = nil
	c.output.keys.held = slices.Clone(s.output.keys.held)
	c.titles.stack = slices.Clone(s.titles.stack)
	c.colors.palette = maps.Clone(s.colors.palette)
	c.pictures.copyParts()
	if s.frame.before != nil {
		c.frame.before = s.frame.before.still()
	}
	c.model.copyParts()
	if s.model.altShown() {
		c.model.grid = &c.model.alt
	} else {
		c.model.grid = &c.model.main
	}
	return &c
}

// Memory returns about how much memory s takes, in bytes.
func (s *Screen) Memory() int {
	const (
		base      = 8 << 10 // of the Screen itself, with some of the smaller parts
		styleSize = 96      // of a style, with its place in the index
		textSize  = 64      // of a cluster, besides its text
		blockSize = 64      // of a block of scrollback, besides its lines
	)
	m := &s.model
	n := base + cap(s.parser.held) + m.table.hyperlinkBytes + styleSize*len(m.table.styles) +
		textSize*len(m.table.clusters) + blockSize*len(m.history.blocks) + s.HistoryMemory() +
		s.pictures.memory() + len(s.copied)
	count := func(cells []cell) { n += 8 * len(cells) }
	m.eachRow(count)
	if s.frame.before != nil {
		s.frame.before.eachRow(count)
	}
	return n
}

// copyParts copies what a shallow copy of a screen must not share with the original.
func (m *model) copyParts() {
	m.main.copyParts()
	m.alt.copyParts()
	m.tabs = slices.Clone(m.tabs)
	tb := &m.table
	tb.styles, tb.styleIndex = slices.Clone(tb.styles), maps.Clone(tb.styleIndex)
	tb.clusters, tb.clusterIndex = slices.Clone(tb.clusters), maps.Clone(tb.clusterIndex)
	tb.hyperlinks = slices.Clone(tb.hyperlinks)
	tb.hyperlinkIndex = maps.Clone(tb.hyperlinkIndex)
	m.history.copyParts()
}

// copyParts copies all but the pictures themselves, which never change.
func (ps *pictures) copyParts() {
	ps.kept, ps.order, ps.sent = maps.Clone(ps.kept), slices.Clone(ps.order), maps.Clone(ps.sent)
	ps.parts.data, ps.file = slices.Clone(ps.parts.data), slices.Clone(ps.file)
}

func (g *grid) copyParts() {
	rows := g.rows
	g.buf, g.off, g.free = make([]row, 2*len(rows)), 0, nil
	g.rows = g.buf[:len(rows)]
	for y := range rows {
		g.rows[y] = row{slices.Clone(rows[y].cells), rows[y].wrapped, rows[y].marks}
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
