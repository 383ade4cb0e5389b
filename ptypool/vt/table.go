package vt

import "slices"

// The tables hold what cells refer to by number. They grow as a program uses new styles, clusters
// and hyperlinks. A table that has reached a certain size is swept: what the grids no longer show
// is dropped, and the size for the next sweep is twice what is left.
const (
	minStyles     = 512     // size for the first sweep: more than most programs ever use
	maxStyles     = 1 << 18 // half a maximal screen, all different; beyond it the default is shown
	minClusters   = 256     // size for the first sweep
	maxClusters   = 1 << 16 // beyond it combining characters are left out of the screen
	minHyperlinks = 1 << 18 // size for the first sweep, in bytes
	maxHyperlinks = 1 << 20 // bytes of hyperlinks at once; beyond it text is not linked

	// sweepPause is how many entries a full table refuses before it is swept again, so that the
	// work stays in proportion to the output.
	sweepPause = 1000
)

// quota decides when a table is swept. If a sweep does not help, the table is full, and new entries
// are refused for a while.
type quota struct {
	sweepAt int // entries, or bytes of hyperlinks, at which to sweep
	refuse  int // entries still to be refused
}

// refuses reports whether a table of size n has no room. It sweeps the table first if that is due;
// sweep returns the size that is left.
func (q *quota) refuses(n, limit int, sweep func() int) bool {
	switch {
	case n < q.sweepAt:
		return false
	case q.refuse > 0:
		q.refuse--
		return true
	case sweep() < limit:
		return false
	}
	q.refuse = sweepPause
	return true
}

// swept decides when to sweep next, after a sweep that left n, and returns n.
func (q *quota) swept(n, first, limit int) int {
	q.sweepAt = min(max(first, 2*n), limit)
	return n
}

// table interns styles, grapheme clusters and hyperlinks. Number 0 of styles and hyperlinks is the
// default and stays.
type table struct {
	styles     []style
	styleIndex map[style]uint32
	styleQuota quota
	recent     [256]uint32 // styles by hash, in front of styleIndex; an entry may be stale

	clusters     []string
	clusterIndex map[string]uint32
	clusterQuota quota

	hyperlinks     []hyperlink
	hyperlinkIndex map[hyperlink]uint32
	hyperlinkBytes int
	hyperlinkQuota quota

	sweeps int // how often numbers of styles and clusters have changed
}

// init makes empty tables.
func (tb *table) init() {
	*tb = table{
		sweeps:         tb.sweeps + 1,
		styles:         make([]style, 1, 8),
		styleQuota:     quota{sweepAt: minStyles},
		clusterQuota:   quota{sweepAt: minClusters},
		hyperlinkQuota: quota{sweepAt: minHyperlinks},
	}
}

// at returns the style with a number.
func (tb *table) at(id uint32) *style { return &tb.styles[id] }

// text appends the characters of a cell; a blank is a space.
func (tb *table) text(dst []byte, c cell) []byte {
	r := c & cellRune
	switch {
	case c&cellTail != 0:
		return dst
	case c&cellCluster != 0:
		return append(dst, tb.clusters[r]...)
	case r == 0:
		return append(dst, ' ')
	case r < 0x80:
		return append(dst, byte(r))
	}
	return appendRune(dst, rune(r))
}

// styleID returns the number of st, which it adds if it is new. It may sweep, which changes the
// numbers in the screen, so callers must not hold another number meanwhile.
func (m *model) styleID(st *style) uint32 {
	if *st == (style{}) {
		return 0
	}
	tb := &m.table
	slot := &tb.recent[st.hash()]
	if int(*slot) < len(tb.styles) && tb.styles[*slot] == *st {
		return *slot
	}
	if id, ok := tb.styleIndex[*st]; ok {
		*slot = id
		return id
	}
	if tb.styleQuota.refuses(len(tb.styles), maxStyles, m.sweepStyles) {
		return 0
	}
	if tb.styleIndex == nil {
		tb.styleIndex = make(map[style]uint32)
	}
	id := uint32(len(tb.styles))
	tb.styles = append(tb.styles, *st)
	tb.styleIndex[*st] = id
	*slot = id
	return id
}

// eachRow calls f with every allocated row's cells.
func (m *model) eachRow(f func([]cell)) {
	for _, g := range [...]*grid{&m.main, &m.alt} {
		for i := range g.rows {
			if g.rows[i].cells != nil {
				f(g.rows[i].cells)
			}
		}
	}
}

// sweepStyles drops the styles that neither a cell nor the pen has.
func (m *model) sweepStyles() int {
	tb := &m.table
	to := make([]uint32, len(tb.styles))
	m.eachRow(func(cells []cell) {
		for _, c := range cells {
			to[c.style()] = 1
		}
	})
	to[m.penID], to[m.eraseID] = 1, 1
	n := uint32(1)
	tb.styles = slices.Clone(tb.styles) // a still may have the old ones
	clear(tb.styleIndex)
	to[0] = 0
	for id := 1; id < len(to); id++ {
		if to[id] == 0 {
			continue
		}
		tb.styles[n] = tb.styles[id]
		tb.styleIndex[tb.styles[n]] = n
		to[id] = n
		n++
	}
	tb.styles = tb.styles[:n]
	m.eachRow(func(cells []cell) {
		for i, c := range cells {
			cells[i] = c.withStyle(to[c.style()])
		}
	})
	m.penID, m.eraseID = to[m.penID], to[m.eraseID]
	tb.sweeps++
	return tb.styleQuota.swept(int(n), minStyles, maxStyles)
}

// clusterID returns the number of a cluster, or false if there are too many.
func (m *model) clusterID(text []byte) (uint32, bool) {
	tb := &m.table
	if id, ok := tb.clusterIndex[string(text)]; ok {
		return id, true
	}
	if tb.clusterQuota.refuses(len(tb.clusters), maxClusters, m.sweepClusters) {
		return 0, false
	}
	if tb.clusterIndex == nil {
		tb.clusterIndex = make(map[string]uint32)
	}
	id := uint32(len(tb.clusters))
	str := string(text)
	tb.clusters = append(tb.clusters, str)
	tb.clusterIndex[str] = id
	return id, true
}

// sweepClusters drops the clusters that no cell shows.
func (m *model) sweepClusters() int {
	tb := &m.table
	const unused = ^uint32(0)
	to := make([]uint32, len(tb.clusters))
	for i := range to {
		to[i] = unused
	}
	kept := tb.clusters[:0:0]
	clear(tb.clusterIndex)
	m.eachRow(func(cells []cell) {
		for i, c := range cells {
			if c&cellCluster == 0 {
				continue
			}
			id := c & cellRune
			if to[id] == unused {
				to[id] = uint32(len(kept))
				kept = append(kept, tb.clusters[id])
				tb.clusterIndex[tb.clusters[id]] = to[id]
			}
			cells[i] = c&^cellRune | cell(to[id])
		}
	})
	tb.clusters = kept
	tb.sweeps++
	return tb.clusterQuota.swept(len(kept), minClusters, maxClusters)
}

// hyperlinkID returns the number of a hyperlink, or 0 if there are too many.
func (m *model) hyperlinkID(l hyperlink) uint32 {
	tb := &m.table
	if id, ok := tb.hyperlinkIndex[l]; ok {
		return id
	}
	if tb.hyperlinkQuota.refuses(tb.hyperlinkBytes, maxHyperlinks, m.sweepHyperlinks) {
		return 0
	}
	if tb.hyperlinkIndex == nil {
		tb.hyperlinkIndex = make(map[hyperlink]uint32)
		tb.hyperlinks = make([]hyperlink, 1, 4)
	}
	id := uint32(len(tb.hyperlinks))
	tb.hyperlinks = append(tb.hyperlinks, l)
	tb.hyperlinkIndex[l] = id
	tb.hyperlinkBytes += l.size()
	return id
}

// size is what a hyperlink counts against maxHyperlinks, in bytes.
func (l hyperlink) size() int { return len(l.id) + len(l.uri) + 64 }

// sweepHyperlinks drops the hyperlinks that no style has that is in use.
func (m *model) sweepHyperlinks() int {
	m.sweepStyles()
	tb := &m.table
	to := make([]uint32, len(tb.hyperlinks))
	kept := make([]hyperlink, 1, 16)
	clear(tb.hyperlinkIndex)
	tb.hyperlinkBytes = 0
	keep := func(id uint32) uint32 {
		if id == 0 {
			return 0
		}
		if to[id] == 0 {
			l := tb.hyperlinks[id]
			to[id] = uint32(len(kept))
			kept = append(kept, l)
			tb.hyperlinkIndex[l] = to[id]
			tb.hyperlinkBytes += l.size()
		}
		return to[id]
	}
	clear(tb.styleIndex)
	for i := range tb.styles {
		st := &tb.styles[i]
		st.hyperlink = keep(st.hyperlink)
		if i > 0 {
			tb.styleIndex[*st] = uint32(i)
		}
	}
	m.pen.hyperlink = keep(m.pen.hyperlink)
	tb.hyperlinks = kept
	return tb.hyperlinkQuota.swept(tb.hyperlinkBytes, minHyperlinks, maxHyperlinks)
}
