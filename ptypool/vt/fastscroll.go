package vt

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"termhost/ptypool/vt/width"
)

// In a flood of lines, those that scroll in and out within one chunk are never seen: fastScroll
// writes them to the scrollback without drawing them, with the same result as drawing them.

const (
	// fastScreens is how many screens of lines make it worth while: the present screen is scrolled
	// away, and the last one is read a second time to draw it.
	fastScreens = 3
	// fastBytes is about how much scrollback is written, in bytes, before it is trimmed to its
	// limits.
	fastBytes = 256 << 10
	// maxFastWait is the most lines that are drawn between a try that ended at something that must
	// be drawn and the next try.
	maxFastWait = 1 << 12
)

// fastScroll writes lines to the scrollback in the form that encodeRow gives to drawn ones.
type fastScroll struct {
	wait   int // line feeds until the next try
	missed int // how many these were after the last try, if that achieved little

	line []byte // the part of the row that is written
	st   style  // of the text written last
	x    int    // the column; if it equals the width, a wrap is pending
	gap  int    // blanks before x that are not written, because they may be trailing ones

	csi csiSeq // the change of style that is being applied
}

// lineStart is the state at the beginning of a line.
type lineStart struct {
	at    int // in the chunk
	pen   style
	lines int // of scrollback
}

// scroll is called after a line feed, before in[i:], and returns where drawing continues.
func (f *fastScroll) scroll(s *model, in []byte, i int) int {
	if f.wait > 0 {
		f.wait--
		return i
	}
	height := s.height()
	if !s.mayScrollFast() || bytes.Count(in[i:], []byte{'\n'}) < fastScreens*height {
		return i
	}
	h := &s.history
	first, kind := h.lines, h.lastKind()
	for y := range height - 1 {
		h.add(&s.table, &s.grid.rows[y])
	}
	starts := make([]lineStart, height)
	n := f.lines(s, in, i, starts)
	from := starts[0]
	if n >= height-1 { // the last height-1 lines fill the screen
		from = starts[(n+1)%height]
		for y := range s.grid.rows {
			s.grid.blank(&s.grid.rows[y])
		}
		s.cur.y = 0
		h.truncate(from.lines)
	} else {
		h.truncate(first)
		h.setLastKind(kind)
	}
	h.trim()
	s.setPen(from.pen)
	f.tried(n, height)
	return from.at
}

// tried decides when to try again after n lines.
func (f *fastScroll) tried(n, height int) {
	if f.missed = min(2*f.missed+height, maxFastWait); n >= fastScreens*height {
		f.missed = 0
	}
	f.wait = max(height, f.missed)
}

// mayScrollFast reports whether the screen is in the usual state of a flood of lines: the cursor at
// the beginning of a blank last line, and nothing out of the ordinary set.
func (m *model) mayScrollFast() bool {
	g, last := m.grid, m.height()-1
	return g == &m.main && g.top == 0 && g.bottom == last &&
		m.cur.y == last && m.cur.x == 0 && g.rows[last].cells == nil &&
		m.plain && m.modes.has(modeWrap) && m.width > 1 && m.history.limit > 0 &&
		m.pen.hyperlink == 0 // which would make the scrollback much longer than the chunk
}

// lines writes complete lines from in[i] on and returns their number. starts gets where the newest
// of them, and the next one, begin: line n's place is at n modulo len(starts).
func (f *fastScroll) lines(s *model, in []byte, i int, starts []lineStart) (n int) {
	h := &s.history
	most := h.bytes + fastBytes
	for {
		starts[n%len(starts)] = lineStart{i, s.pen, h.lines}
		if h.bytes > most {
			return n
		}
		next, ok := f.oneLine(s, in, i)
		if !ok {
			return n
		}
		i = next
		n++
	}
}

// oneLine writes the line that begins at p[i] and returns where the next one begins. It reports
// false if the chunk ends before that, or if the line must be drawn.
func (f *fastScroll) oneLine(s *model, p []byte, i int) (next int, ok bool) {
	f.begin()
	for i < len(p) {
		switch b := p[i]; {
		case b-0x20 < del-0x20:
			if f.x == s.width && !f.endRow(s, lineWrapped) {
				return i, false
			}
			n := asciiLen(p[i:min(len(p), i+s.width-f.x)])
			f.text(s, p[i:i+n], n)
			i += n
		case b == esc:
			n := f.changeStyle(s, p[i:])
			if n == 0 {
				return i, false
			}
			i += n
		case b == '\t':
			s.cur.x = f.x
			s.tab(1)
			f.gap += s.cur.x - f.x
			f.x, s.cur.x = s.cur.x, 0
			i++
		case b == '\r':
			if i+1 == len(p) || p[i+1] != '\n' || !f.endRow(s, lineEnds) {
				return i, false
			}
			return i + 2, true
		default:
			n := f.char(s, p[i:])
			if n == 0 {
				return i, false
			}
			i += n
		}
	}
	return i, false
}

// begin begins a row.
func (f *fastScroll) begin() {
	f.line = append(f.line[:0], lineEnds)
	f.st = style{}
	f.x, f.gap = 0, 0
}

// endRow ends a row. It reports false if the next one would not be blank.
func (f *fastScroll) endRow(s *model, kind byte) bool {
	f.line[0] = kind
	s.history.append(f.line)
	f.begin()
	return s.eraseID == 0
}

// text writes text of some columns, which fit in the row.
func (f *fastScroll) text(s *model, text []byte, columns int) {
	f.fillGap(s)
	if st := s.table.at(s.penID); *st != f.st {
		f.st = *st
		f.line = s.table.appendStyle(append(f.line, tokStyle), s.penID)
	}
	f.line = append(f.line, text...)
	f.x += columns
}

// fillGap writes blanks that are not trailing.
func (f *fastScroll) fillGap(s *model) {
	if f.gap == 0 {
		return
	}
	if f.st != (style{}) {
		f.st = style{}
		f.line = s.table.appendStyle(append(f.line, tokStyle), 0)
	}
	for ; f.gap > 0; f.gap-- {
		f.line = append(f.line, ' ')
	}
}

// char writes the character at the beginning of p and returns its length; 0 if it must be drawn,
// because it may join others.
func (f *fastScroll) char(s *model, p []byte) int {
	r, n := utf8.DecodeRune(p)
	c := width.Of(r)
	switch {
	case r < 0xa0 || r == utf8.RuneError || c != width.Narrow && c != width.Wide:
		return 0
	case f.x == s.width && !f.endRow(s, lineWrapped):
		return 0
	case c == width.Narrow:
		f.text(s, p[:n], 1)
	default:
		if f.x == s.width-1 {
			if f.fillGap(s); !f.endRow(s, lineFilled) {
				return 0
			}
		}
		f.text(s, nil, 2)
		f.line = append(append(f.line, tokWide), p[:n]...)
	}
	return n
}

// changeStyle applies the change of style at the beginning of p and returns its length; 0 if it is
// something else.
func (f *fastScroll) changeStyle(s *model, p []byte) int {
	if len(p) < 3 || p[1] != '[' {
		return 0
	}
	n := 2
	for n < len(p) && p[n]-'0' <= ';'-'0' {
		n++
	}
	if n == len(p) || n >= maxCSI || p[n] != 'm' || !f.csi.parse(p[2:n+1]) || f.csi.reduced {
		return 0
	}
	s.sgr(&f.csi)
	return n + 1
}

// asciiLen returns how many bytes of printable ASCII p begins with.
func asciiLen(p []byte) int {
	const ones = 0x0101010101010101
	n := 0
	for ; len(p)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(p[n:])
		if (w-0x20*ones|w+ones|w)&(0x80*ones) != 0 { // a byte is below 0x20, or above 0x7e
			break
		}
	}
	for n < len(p) && p[n]-0x20 < del-0x20 {
		n++
	}
	return n
}
