package vt

import (
	"strconv"
	"unicode/utf8"

	"termhost/ptypool/vt/width"
)

// writer appends sequences that draw cells on a viewer's terminal.
type writer struct {
	tb        *table
	dst       []byte
	st        style     // the present style of the viewer's terminal, without hyperlink
	hyperlink hyperlink // its hyperlink
	last      uint32    // the index of that style, plus 1; 0 if it may have none
	over      bool      // drawing over what the terminal shows
	aligned   bool      // exact columns matter more than whole clusters: see fitsSpread
	marks     bool      // the marks of prompts are drawn: see Redraw.Marks
}

// csi appends CSI, the numbers and the final bytes.
func (w *writer) csi(final string, nums ...int) {
	w.dst = append(w.dst, esc, '[')
	for i, n := range nums {
		if i > 0 {
			w.dst = append(w.dst, ';')
		}
		w.dst = strconv.AppendInt(w.dst, int64(n), 10)
	}
	w.dst = append(w.dst, final...)
}

func (w *writer) str(s string) { w.dst = append(w.dst, s...) }

// style makes st, with the hyperlink l, the style of the following text.
func (w *writer) style(st style, l hyperlink) {
	st.hyperlink = 0
	w.last = 0
	if l != w.hyperlink {
		w.str("\x1b]8;")
		if l.id != "" {
			w.str("id=" + l.id)
		}
		w.str(";" + l.uri + "\x1b\\")
		w.hyperlink = l
	}
	if st == w.st {
		return
	}
	if change := st.attrs ^ w.st.attrs; change&attrProtected != 0 {
		w.csi("\"q", int(st.attrs&attrProtected/attrProtected))
		w.st.attrs ^= attrProtected
	}
	if st != w.st {
		w.dst = append(w.dst, esc, '[')
		w.dst = appendSGR(w.dst, &st)
		w.dst = append(w.dst, 'm')
		w.st = st
	}
}

// styleOf makes the style of a cell the style of the following text.
func (w *writer) styleOf(c cell) {
	if w.last == c.style()+1 {
		return
	}
	st := w.tb.at(c.style())
	w.style(*st, w.tb.hyperlinkOf(st))
	w.last = c.style() + 1
}

// appendSGR appends the parameters of CSI m that set st, whatever the style before.
func appendSGR(dst []byte, st *style) []byte {
	dst = append(dst, '0')
	for i, code := range [...]string{";1", ";2", ";3", ";5", ";7", ";8", ";9", ";53"} {
		if st.attrs&(1<<i) != 0 {
			dst = append(dst, code...)
		}
	}
	switch n := st.underline(); n {
	case 0:
	case 1:
		dst = append(dst, ";4"...)
	default:
		dst = append(dst, ";4:"...)
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	dst = appendColor(dst, st.fg, 30)
	dst = appendColor(dst, st.bg, 40)
	return appendColor(dst, st.ul, 50)
}

// appendColor appends a colour for foreground (base 30), background (40) or underline (50).
func appendColor(dst []byte, c color, base int64) []byte {
	v := int64(c & colorValue)
	switch tag := c & colorTag; {
	case tag == 0:
		return dst
	case tag == colorIndexed && v < 8 && base < 50:
		dst = strconv.AppendInt(append(dst, ';'), base+v, 10)
	case tag == colorIndexed && v < 16 && base < 50:
		dst = strconv.AppendInt(append(dst, ';'), base+60+v-8, 10)
	case tag == colorIndexed && base < 50:
		dst = strconv.AppendInt(append(dst, ';'), base+8, 10)
		dst = strconv.AppendInt(append(dst, ";5;"...), v, 10)
	case tag == colorIndexed:
		dst = strconv.AppendInt(append(dst, ";58:5:"...), v, 10)
	case base == 50: // with colons: terminals without it would read semicolons as other attributes
		dst = append(dst, ";58:2:"...)
		dst = appendRGB(dst, v, ':', ':')
	default:
		dst = strconv.AppendInt(append(dst, ';'), base+8, 10)
		dst = appendRGB(append(dst, ";2"...), v, ';', ';')
	}
	return dst
}

// appendRGB appends first and the components with sep between them.
func appendRGB(dst []byte, v int64, first, sep byte) []byte {
	dst = strconv.AppendInt(append(dst, first), v>>16, 10)
	dst = strconv.AppendInt(append(dst, sep), v>>8&255, 10)
	return strconv.AppendInt(append(dst, sep), v&255, 10)
}

// cells draws cells from column x0, where the cursor must be. Trailing blanks are left out unless
// full.
func (w *writer) cells(cells []cell, x0 int, full bool) {
	n := len(cells)
	if !full {
		n = (&row{cells: cells}).used()
	}
	whole := !full && w.fitsSpread(cells, n)
	spread, gap := 0, 0 // by how many cells a terminal may be ahead; blank cells before this one
	for x := 0; x < n; x++ {
		c := cells[x]
		if !c.blank() {
			if gap > spread && spread > 0 {
				w.csi("G", x0+x+1)
				spread = 0
			}
			gap = -1
		}
		gap++
		if c&(cellRune|cellCluster|cellTail) == 0 && !full {
			end := x + 1
			for end < n && (cells[end]^c)&^cellFill == 0 {
				end++
			}
			w.blanks(c, end-x, end == n)
			gap += end - x - 1
			x = end - 1
			continue
		}
		w.styleOf(c)
		switch {
		case c&cellTail != 0, c&cellWide != 0 && x+1 >= len(cells): // half of a clipped character
			w.str(" ")
			continue
		case c&cellCluster != 0:
			w.cluster(w.tb.clusters[c&cellRune], c&cellWide != 0)
		case halfFlag(c):
			w.cluster(string(rune(c&cellRune)), true)
		default:
			w.dst = w.tb.text(w.dst, c)
		}
		if c&cellWide != 0 {
			x++
		}
		if whole {
			spread += w.spreadOf(c)
		}
		if x+1 < len(cells) && (spread == 0 && disputed(c) || w.wouldJoin(c, cells[x+1])) {
			w.csi("G", x0+x+2)
			spread = 0
		}
	}
}

// fitsSpread reports whether the first n cells of a row fit in it in a terminal without grapheme
// clusters. There, moving the cursor to the column after a cluster would overwrite the end of the
// cluster, such as the skin tone of an emoji. So the text after a cluster is moved to its column
// only if that overwrites nothing but blanks, as in a terminal that was attached when it was
// printed.
func (w *writer) fitsSpread(cells []cell, n int) bool {
	if w.aligned {
		return false
	}
	need := n
	for _, c := range cells[:n] {
		need += w.spreadOf(c)
	}
	return need <= len(cells)
}

// spreadOf returns how many additional cells c takes in a terminal without grapheme clusters.
func (w *writer) spreadOf(c cell) int {
	if c&cellCluster == 0 {
		return 0
	}
	own := 1
	if c&cellWide != 0 {
		own = 2
	}
	return spread(w.tb.clusters[c&cellRune], own)
}

// spread is spreadOf for a cluster's text, which takes own cells.
func spread(text string, own int) int { return max(0, width.String(text)-own) }

// disputed reports whether terminals disagree on how wide a cell's text is.
func disputed(c cell) bool {
	return c&cellCluster != 0 || disputedRune(rune(c&cellRune))
}

// disputedRune reports whether terminals disagree on how wide a character is, or on whether the
// next one joins it.
func disputedRune(r rune) bool {
	switch width.Of(r) {
	case width.Narrow:
		return r >= 0x20000 // the planes for private use, where fonts have icons
	case width.Wide, width.Open, width.Closed:
		return false
	}
	return true
}

// halfFlag reports whether a cell has a regional indicator alone that was printed in mode 2027.
func halfFlag(c cell) bool {
	return c&(cellCluster|cellWide) == cellWide && width.Of(rune(c&cellRune)) == width.Flag
}

// leaveColumn blanks the last column, where the cursor is, before a wide character that wraps to
// the next line: not every terminal does so by itself. The first character of a cluster might fit
// in the column, so for what shares a cell in mode 2027 only the column is filled with a space.
func (w *writer) leaveColumn(cluster bool) {
	if cluster {
		w.str(" ")
		return
	}
	w.str("\x1b[K")
}

// cluster draws several characters that share a cell. Mode 2027 is off while drawing, except for
// what its characters would not draw by themselves.
func (w *writer) cluster(text string, wide bool) {
	if onlyCluster(text, wide) {
		w.str(clustersOn + text + clustersOff)
		return
	}
	w.str(text)
}

// onlyCluster reports whether text, which shares a cell, does so in mode 2027 only.
func onlyCluster(text string, wide bool) bool {
	first, n := utf8.DecodeRuneInString(text)
	return width.String(text[n:]) > 0 || width.Of(first).Cells() > 1 != wide
}

// separate prevents the next character from joining the one before in the last column, where moving
// the cursor would lose the pending wrap.
func (w *writer) separate() {
	w.str("\x1b[0m")
	w.st, w.last = style{attrs: w.st.attrs & attrProtected}, 0
}

// wouldJoin reports whether a terminal might make one cluster of two neighbours. Here they are two,
// because mode 2027 is off, or the program did not print one right after the other.
func (w *writer) wouldJoin(a, b cell) bool {
	last, first := rune(a&cellRune), rune(b&cellRune)
	if a&cellCluster != 0 {
		last, _ = utf8.DecodeLastRuneInString(w.tb.clusters[last])
	}
	if b&cellCluster != 0 {
		first, _ = utf8.DecodeRuneInString(w.tb.clusters[first])
	}
	if !width.Of(first).MayJoin(width.Of(last)) {
		return false
	}
	var buf [2 * maxCluster]byte
	text := w.tb.text(buf[:0], a)
	n := len(text)
	text = w.tb.text(text, b)
	joined, _ := width.Cluster(text)
	return joined > n
}

// blanks draws n erased cells, the last ones of the row if end. A cell that ECH erases keeps only
// the background.
func (w *writer) blanks(c cell, n int, end bool) {
	st := w.tb.at(c.style())
	switch {
	case *st == style{} && n >= 4 && !w.over:
		w.csi("C", n)
	case *st == style{bg: st.bg} && n >= 4:
		w.styleOf(c)
		w.csi("X", n)
		if !end || w.over {
			w.csi("C", n)
		}
	default:
		w.styleOf(c)
		for range n {
			w.str(" ")
		}
	}
}
