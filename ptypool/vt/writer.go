package vt

import "strconv"

// writer appends what draws cells on a viewer's terminal.
type writer struct {
	tb  *table
	dst []byte
	st  style // the style that the viewer's terminal has now
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

// style makes st the style of what follows.
func (w *writer) style(st *style) {
	if *st == w.st {
		return
	}
	if st.link != w.st.link {
		w.link(st.link)
	}
	now := *st
	now.link = w.st.link
	if now != w.st {
		w.dst = append(w.dst, esc, '[')
		w.dst = appendSGR(w.dst, st)
		w.dst = append(w.dst, 'm')
		if (st.attrs^w.st.attrs)&attrProtected != 0 {
			w.str("\x1b[" + map[bool]string{true: "1", false: "0"}[st.attrs&attrProtected != 0] + "\"q")
		}
	}
	w.st = *st
}

func (w *writer) link(id uint32) {
	w.str("\x1b]8;")
	if id != 0 {
		l := w.tb.links[id]
		if l.id != "" {
			w.str("id=" + l.id)
		}
		w.str(";" + l.uri)
	} else {
		w.str(";")
	}
	w.str("\x1b\\")
}

// appendSGR appends the parameters of CSI m that give st from any other style.
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

// appendColor appends a colour for foreground (base 30), background (40) or
// underline (50).
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

// cells draws cells from the cursor on, onto blanks. A run of blanks at the end is
// not drawn unless full is set.
func (w *writer) cells(cells []cell, full bool) {
	n := len(cells)
	if !full {
		r := row{cells: cells}
		n = r.used()
	}
	for x := 0; x < n; {
		c := cells[x]
		if c&(cellRune|cellCluster|cellTail) == 0 && !full {
			run := x + 1
			for run < n && cells[run]&^cellFill == c&^cellFill {
				run++
			}
			w.blanks(c, run-x, run == n)
			x = run
			continue
		}
		w.style(w.tb.at(c.style()))
		switch {
		case c&cellTail != 0, c&cellWide != 0 && x+1 >= len(cells): // half of a clipped character
			w.dst = append(w.dst, ' ')
		case c&cellWide != 0:
			w.dst = w.tb.text(w.dst, c)
			x++
		default:
			w.dst = w.tb.text(w.dst, c)
		}
		x++
	}
}

// blanks draws n erased cells.
func (w *writer) blanks(c cell, n int, end bool) {
	if c.style() == 0 {
		if n < 4 {
			w.style(&style{})
			w.dst = append(w.dst, "   "[:n]...)
			return
		}
		w.csi("C", n)
		return
	}
	w.style(w.tb.at(c.style()))
	w.csi("X", n)
	if !end {
		w.csi("C", n)
	}
}
