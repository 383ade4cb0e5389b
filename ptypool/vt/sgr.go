package vt

// sgr applies CSI m, the style of the following text (ECMA-48 8.3.117, xterm ctlseqs, ITU T.416 for
// colours with colons, kitty's underline styles).
func (m *model) sgr(c *csiSeq) {
	st := &m.pen // changed in place: copying what has just been written in parts is slow
	bg := st.bg
	if c.n == 0 {
		st.reset()
	}
	for i := 0; i < c.n; i++ {
		if c.isSub(i) {
			continue // a subparameter of an unknown parameter
		}
		p := c.arg(i, 0)
		switch {
		case p >= 30 && p <= 37:
			st.fg = colorIndexed | color(p-30)
		case p >= 40 && p <= 47:
			st.bg = colorIndexed | color(p-40)
		case p >= 90 && p <= 97:
			st.fg = colorIndexed | color(p-90+8)
		case p >= 100 && p <= 107:
			st.bg = colorIndexed | color(p-100+8)
		case p == 38 || p == 48 || p == 58:
			col, used, ok := c.color(i)
			i += used
			if ok {
				*st.color(p) = col
			}
		case p == 4 && i+1 < c.n && c.isSub(i+1):
			if n := c.arg(i+1, 1); n <= 5 {
				st.setUnderline(n)
			}
		default:
			st.apply(p)
		}
	}
	m.penChanged(bg)
}

// reset is SGR 0, which does not change hyperlink and protection.
func (st *style) reset() {
	*st = style{hyperlink: st.hyperlink, attrs: st.attrs & attrProtected}
}

// color returns the field that SGR 38, 48 or 58 sets.
func (st *style) color(p int) *color {
	switch p {
	case 38:
		return &st.fg
	case 48:
		return &st.bg
	}
	return &st.ul
}

// apply handles the SGR parameters without further values.
func (st *style) apply(p int) {
	switch p {
	case 0:
		st.reset()
	case 1:
		st.attrs |= attrBold
	case 2:
		st.attrs |= attrFaint
	case 3:
		st.attrs |= attrItalic
	case 4:
		st.setUnderline(1)
	case 5, 6:
		st.attrs |= attrBlink
	case 7:
		st.attrs |= attrInverse
	case 8:
		st.attrs |= attrInvisible
	case 9:
		st.attrs |= attrStrike
	case 21:
		st.setUnderline(2)
	case 22:
		st.attrs &^= attrBold | attrFaint
	case 23:
		st.attrs &^= attrItalic
	case 24:
		st.setUnderline(0)
	case 25:
		st.attrs &^= attrBlink
	case 27:
		st.attrs &^= attrInverse
	case 28:
		st.attrs &^= attrInvisible
	case 29:
		st.attrs &^= attrStrike
	case 39:
		st.fg = 0
	case 49:
		st.bg = 0
	case 53:
		st.attrs |= attrOverline
	case 55:
		st.attrs &^= attrOverline
	case 59:
		st.ul = 0
	}
}

// color reads the colour after parameter i (38, 48 or 58), as 5;n, 2;r;g;b, 5:n, 2:r:g:b or
// 2:space:r:g:b. It returns how many further parameters that took.
func (c *csiSeq) color(i int) (col color, used int, ok bool) {
	if i+1 < c.n && c.isSub(i+1) {
		n := 1
		for i+1+n < c.n && c.isSub(i+1+n) {
			n++
		}
		at := i + 2
		if c.arg(i+1, 0) == 2 && n >= 5 {
			at++ // the colour space
		}
		col, ok = c.colorAt(c.arg(i+1, 0), at, i+1+n)
		return col, n, ok
	}
	kind := c.arg(i+1, 0)
	switch kind {
	case 5:
		col, ok = c.colorAt(kind, i+2, c.n)
		return col, 2, ok
	case 2:
		col, ok = c.colorAt(kind, i+2, c.n)
		return col, 4, ok
	}
	return 0, 1, false
}

// colorAt reads the values of a colour from parameters [at,end).
func (c *csiSeq) colorAt(kind, at, end int) (color, bool) {
	switch {
	case kind == 5 && at < end:
		if n := c.arg(at, 0); n < 256 {
			return colorIndexed | color(n), true
		}
	case kind == 2 && at+2 < end:
		r, g, b := c.arg(at, 0), c.arg(at+1, 0), c.arg(at+2, 0)
		if r < 256 && g < 256 && b < 256 {
			return colorRGB | color(r<<16|g<<8|b), true
		}
	}
	return 0, false
}
