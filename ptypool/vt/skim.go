package vt

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// Of a flood of lines, those that come and go within one chunk are never seen: skim
// writes them to the scrollback without drawing them, and leaves what drawing them would
// have left.

const (
	// skimScreens is how many screens of lines make it worth while: the one that is there
	// is scrolled away, and the last one is gone through again.
	skimScreens = 3
	// skimBytes is about how much scrollback is written before it is brought within its
	// limits again, in bytes.
	skimBytes = 256 << 10
	// maxSkimWait is the most lines that are drawn, after skimming has come to something
	// that it must leave to drawing, before it is tried again.
	maxSkimWait = 1 << 12
)

// skimmer writes lines as encodeRow does once they are drawn.
type skimmer struct {
	wait   int // line feeds until the next try
	missed int // how many that were after the last try, if it came to little

	line []byte // what of the row is written
	st   style  // of the text written last
	x    int    // the column; as many as the screen has: a wrap is pending
	gap  int    // blanks before it that are not written, as nothing may follow them
}

// lineStart is the state at the beginning of a line.
type lineStart struct {
	at    int // in the chunk
	pen   style
	lines int // of scrollback
}

// skim is called after a line feed, with in[i:] to come, and returns where drawing goes
// on.
func (t *Terminal) skim(i int) int {
	if t.skimmer.wait > 0 {
		t.skimmer.wait--
		return i
	}
	height := t.height()
	if !t.maySkim() || bytes.Count(t.in[i:], []byte{'\n'}) < skimScreens*height {
		return i
	}
	h := &t.history
	first, kind := h.lines, h.lastKind()
	for y := range height - 1 {
		h.add(&t.table, &t.grid.rows[y])
	}
	starts := make([]lineStart, height)
	n := t.skimLines(i, starts)
	from := starts[0]
	if n >= height-1 { // what follows the line height-1 lines ago fills the screen
		from = starts[(n+1)%height]
		for y := range t.grid.rows {
			t.grid.blank(&t.grid.rows[y])
		}
		t.cur.y = 0
		h.truncate(from.lines)
	} else {
		h.truncate(first)
		h.setLastKind(kind)
	}
	h.trim()
	t.setPen(from.pen)
	t.skimmer.tried(n, height)
	return from.at
}

// tried decides when to try again after n lines.
func (sk *skimmer) tried(n, height int) {
	if sk.missed = min(2*sk.missed+height, maxSkimWait); n >= skimScreens*height {
		sk.missed = 0
	}
	sk.wait = max(height, sk.missed)
}

// maySkim reports whether the screen is where a flood of lines brings it: at the
// beginning of a blank last line, with nothing out of the ordinary.
func (t *Terminal) maySkim() bool {
	g, last := t.grid, t.height()-1
	return g == &t.main && g.top == 0 && g.bottom == last && t.cur.y == last && t.cur.x == 0 && g.rows[last].cells == nil &&
		t.plain && t.modes.has(modeWrap) && t.width > 1 && t.history.limit > 0 &&
		t.pen.link == 0 // which would make the scrollback much longer than the chunk
}

// skimLines skims whole lines from in[i] on and returns how many. The newest of the
// places where they began, and the next one will, are in starts, line n's at n modulo
// their number.
func (t *Terminal) skimLines(i int, starts []lineStart) (n int) {
	h := &t.history
	most := h.bytes + skimBytes
	for {
		starts[n%len(starts)] = lineStart{i, t.pen, h.lines}
		if h.bytes > most {
			return n
		}
		next, ok := t.skimLine(i)
		if !ok {
			return n
		}
		i = next
		n++
	}
}

// skimLine skims the line that begins at in[i] and returns where the next one begins. It
// reports false if the chunk ends before, or something is in it that needs drawing.
func (t *Terminal) skimLine(i int) (next int, ok bool) {
	sk, p := &t.skimmer, t.in
	sk.begin()
	for i < len(p) {
		switch b := p[i]; {
		case b-0x20 < del-0x20:
			if sk.x == t.width && !t.skimWrap(lineWrapped) {
				return i, false
			}
			n := asciiLen(p[i:min(len(p), i+t.width-sk.x)])
			t.skimText(p[i:i+n], n)
			i += n
		case b == esc:
			n := t.skimStyle(p[i:])
			if n == 0 {
				return i, false
			}
			i += n
		case b == '\t':
			t.cur.x = sk.x
			t.tab(1)
			sk.gap += t.cur.x - sk.x
			sk.x, t.cur.x = t.cur.x, 0
			i++
		case b == '\r':
			if i+1 == len(p) || p[i+1] != '\n' || !t.skimWrap(lineEnds) {
				return i, false
			}
			return i + 2, true
		default:
			n := t.skimRune(p[i:])
			if n == 0 {
				return i, false
			}
			i += n
		}
	}
	return i, false
}

// begin begins a row.
func (sk *skimmer) begin() {
	sk.line = append(sk.line[:0], lineEnds)
	sk.st = style{}
	sk.x, sk.gap = 0, 0
}

// skimWrap ends a row. It reports false if the next one would not be blank.
func (t *Terminal) skimWrap(kind byte) bool {
	sk := &t.skimmer
	sk.line[0] = kind
	t.history.append(sk.line)
	sk.begin()
	return t.eraseID == 0
}

// skimText writes text of some columns, which fit in the row.
func (t *Terminal) skimText(text []byte, width int) {
	sk := &t.skimmer
	t.skimGap()
	if st := t.table.at(t.penID); *st != sk.st {
		sk.st = *st
		sk.line = t.table.appendStyle(append(sk.line, tokStyle), t.penID)
	}
	sk.line = append(sk.line, text...)
	sk.x += width
}

// skimGap writes the blanks that something follows.
func (t *Terminal) skimGap() {
	sk := &t.skimmer
	if sk.gap == 0 {
		return
	}
	if sk.st != (style{}) {
		sk.st = style{}
		sk.line = t.table.appendStyle(append(sk.line, tokStyle), 0)
	}
	for ; sk.gap > 0; sk.gap-- {
		sk.line = append(sk.line, ' ')
	}
}

// skimRune writes the character at the beginning of p and returns its length; 0 if it
// is none that stands by itself.
func (t *Terminal) skimRune(p []byte) int {
	sk := &t.skimmer
	r, n := utf8.DecodeRune(p)
	c := classOf(r)
	switch {
	case r < 0xa0 || r == utf8.RuneError || c != classNarrow && c != classWide:
		return 0
	case sk.x == t.width && !t.skimWrap(lineWrapped):
		return 0
	case c == classNarrow:
		t.skimText(p[:n], 1)
	default:
		if sk.x == t.width-1 {
			if t.skimGap(); !t.skimWrap(lineFilled) {
				return 0
			}
		}
		t.skimText(nil, 2)
		sk.line = append(append(sk.line, tokWide), p[:n]...)
	}
	return n
}

// skimStyle applies the change of style at the beginning of p and returns its length; 0
// if it is something else.
func (t *Terminal) skimStyle(p []byte) int {
	if len(p) < 3 || p[1] != '[' {
		return 0
	}
	n := 2
	for n < len(p) && p[n]-'0' <= ';'-'0' {
		n++
	}
	if n == len(p) || n >= maxCSI || p[n] != 'm' || !t.csi.parse(p[2:n+1]) {
		return 0
	}
	t.sgr(&t.csi)
	return n + 1
}

// asciiLen returns how much printable ASCII is at the beginning of p.
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
