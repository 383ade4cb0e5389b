package vt

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"termhost/ptypool/picture"
)

// A picture takes cells: on the screen, and so for every viewer and in the log, there is a box in
// its place, with its size and an ID. A viewer that draws pictures asks for the one of that ID, and
// draws it over the box as long as the box stands there. So a screen means the same to all,
// whatever the size of their cells in pixels is, and a viewer that comes later sees the pictures
// that are there.

const (
	// maxPicture bounds what is held of a sequence that is a picture, and of the parts of one, in
	// bytes: a screen full of sixels, or a photograph in base64.
	maxPicture = 4 << 20
	// keptPictures bounds the pictures of a terminal that can be asked for, in bytes. The newest
	// one is always there.
	keptPictures = 8 << 20
	mostPictures = 256

	pictureSign = '\u25a3' // begins the text in a box
	pictureID   = 4        // characters of base32
)

// Image is a picture that the program has drawn.
type Image struct {
	picture.Picture
	Cols, Rows int // of its box, in cells

	sum [sha256.Size]byte
}

// pictures are those of a screen, and what has come of the next one.
type pictures struct {
	keeps bool             // the pictures themselves; otherwise there are boxes only
	kept  map[string]Image // by ID
	order []string         // their IDs, oldest first
	bytes int              // of all

	sent    map[string]kitty // by kitty's number, to be shown later
	parts   kitty            // what has come of a picture in parts
	partial bool             // there are such
	file    []byte           // what has come of iTerm2's MultipartFile
	about   []byte           // its arguments
}

// Image returns the picture of a box that the program has drawn, by its ID, if it is still kept.
// Its data must not be changed.
func (s *Screen) Image(id string) (Image, bool) {
	p, ok := s.pictures.kept[id]
	return p, ok && p.Data != nil
}

// keep keeps a picture, and returns its ID: equal pictures of the same size have the same, so that
// a box from before the host was restarted never gets another one.
func (ps *pictures) keep(p Image) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d %d %d %v ", p.Kind, p.Width, p.Height, p.Cols, p.Rows, p.Deflated)
	_, _ = h.Write(p.Data) // which never fails
	p.sum = [sha256.Size]byte(h.Sum(nil))
	id := ps.freeID(p.sum)
	if !ps.keeps {
		p.Data = nil
	}
	if old, ok := ps.kept[id]; ok {
		ps.bytes -= len(old.Data)
	} else {
		ps.order = append(ps.order, id)
	}
	if ps.kept == nil {
		ps.kept = map[string]Image{}
	}
	ps.kept[id] = p
	ps.bytes += len(p.Data)
	for len(ps.order) > 1 && (ps.bytes > keptPictures || len(ps.order) > mostPictures) {
		ps.bytes -= len(ps.kept[ps.order[0]].Data)
		delete(ps.kept, ps.order[0])
		ps.order = ps.order[1:]
	}
	return id
}

// freeID returns the ID of a picture by its sum. Where another one has it already, it is a later
// part of the sum.
func (ps *pictures) freeID(sum [sha256.Size]byte) (id string) {
	text := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))
	for at := 0; at+pictureID <= len(text); at += pictureID {
		id = text[at : at+pictureID]
		if old, ok := ps.kept[id]; !ok || old.sum == sum {
			break
		}
	}
	return id
}

// memory returns about how much memory the pictures take, in bytes.
func (ps *pictures) memory() int {
	n := ps.bytes + cap(ps.file) + cap(ps.parts.data)
	for _, k := range ps.sent {
		n += len(k.data)
	}
	return n
}

// after says where the cursor goes once a picture is drawn.
type after uint8

const (
	belowLeft after = iota // sixel: to the picture's first column, in its last row
	behind                 // the others: behind its last row
	stays                  // kitty's C=1
)

// size is what a program wants a picture's box to be, in cells; 0: as large as the picture.
type size struct{ cols, rows int }

// showPicture draws a picture's box at the cursor, for viewers as well, with its ID if it can be
// drawn, and returns the ID.
func (s *Screen) showPicture(p picture.Picture, want size, then after) (id string) {
	m := &s.model
	cols, rows := s.boxSize(p, want)
	if p.Drawable() && m.cur.x+cols <= m.width {
		id = s.pictures.keep(Image{Picture: p, Cols: cols, Rows: rows})
	}
	text := string(pictureSign) + id
	if p.Width > 0 {
		text += fmt.Sprintf(" %d\u00d7%d", p.Width, p.Height)
	} else {
		text += " picture"
	}
	x, y := m.cur.x, m.cur.y
	var b strings.Builder
	for i, line := range boxLines(text, cols, rows) {
		if i > 0 {
			b.WriteString("\x1bD") // IND, which scrolls where it has to
			fmt.Fprintf(&b, "\x1b[%dG", x+1)
		}
		b.WriteString(line)
	}
	switch {
	case then == belowLeft:
		fmt.Fprintf(&b, "\x1b[%dG", x+1)
	case then == stays:
		fmt.Fprintf(&b, "\x1b[%dG", x+1)
		if up := min(rows-1, y+rows-1); up > 0 {
			fmt.Fprintf(&b, "\x1b[%dA", up)
		}
	}
	s.draw(b.String())
	return id
}

// Box is where a picture is on the screen, in cells from 0.
type Box struct {
	ID               string
	X, Y, Cols, Rows int
}

// Boxes returns the boxes of pictures that begin on the screen.
func (s *Screen) Boxes() (all []Box) {
	m := &s.model
	for y := range m.grid.rows {
		cells := m.grid.rows[y].cells
		for x := range cells {
			if cells[x]&(cellRune|cellCluster) != cell(pictureSign) {
				continue
			}
			var text []byte
			for _, c := range cells[x+1 : min(x+1+pictureID, len(cells))] {
				text = m.table.text(text, c)
			}
			p, ok := s.pictures.kept[string(text)]
			if !ok {
				continue
			}
			left := x
			if isFramed(p.Cols, p.Rows) {
				left--
			}
			all = append(all, Box{string(text), max(left, 0), y, p.Cols, p.Rows})
		}
	}
	return all
}

// MayMove reports whether a viewer's terminal, which shows the screen, can be given another cursor
// position and this one back by CUP alone: it is not in the middle of a sequence, nor at a right
// margin behind which it has yet to wrap, and rows count from the top.
func (s *Screen) MayMove() bool {
	return !s.InSequence() && !s.model.cur.wrap && !s.model.cur.originMode
}

// eraseBoxes erases the boxes of a picture that are on the screen; "": of all.
func (s *Screen) eraseBoxes(id string) {
	m := &s.model
	if m.cur.originMode {
		return
	}
	var b strings.Builder
	for _, box := range s.Boxes() {
		if id != "" && id != box.ID {
			continue
		}
		for i := range min(box.Rows, m.height()-box.Y) {
			fmt.Fprintf(&b, "\x1b[%d;%dH\x1b[%dX", box.Y+i+1, box.X+1, box.Cols)
		}
	}
	if b.Len() > 0 {
		fmt.Fprintf(&b, "\x1b[%d;%dH", m.cur.y+1, m.cur.x+1)
		s.draw(b.String())
	}
}

// boxSize returns the size of a picture's box in cells. It fits between the cursor and the right
// margin, and on the screen; a picture that is larger is drawn smaller, as a whole.
func (s *Screen) boxSize(p picture.Picture, want size) (cols, rows int) {
	m := &s.model
	cellWidth, cellHeight := s.cellSize()
	cells := func(pixels, cell int) int { return max(1, (pixels+cell-1)/cell) }
	cols, rows = want.cols, want.rows
	switch {
	case p.Width <= 0 || p.Height <= 0:
		cols, rows = max(cols, 12), max(rows, 3)
	case cols <= 0 && rows <= 0:
		cols, rows = cells(p.Width, cellWidth), cells(p.Height, cellHeight)
	case cols <= 0:
		cols = cells(p.Width*rows*cellHeight/p.Height, cellWidth)
	case rows <= 0:
		rows = cells(p.Height*cols*cellWidth/p.Width, cellHeight)
	}
	mostCols, mostRows := m.width-m.cur.x, max(1, m.grid.bottom-m.grid.top+1)
	if cols > mostCols {
		cols, rows = mostCols, max(1, rows*mostCols/cols)
	}
	if rows > mostRows {
		cols, rows = max(1, cols*mostRows/rows), mostRows
	}
	return cols, rows
}

// isFramed reports whether the first row of a box has corners: there is room for its ID between
// them.
func isFramed(cols, rows int) bool { return rows > 1 && cols >= 3+pictureID }

// boxLines returns the rows of a box. A text that does not fit is left out, but for the sign: half
// of an ID would be another one's.
func boxLines(text string, cols, rows int) []string {
	label := func(room int) string {
		n := len([]rune(text))
		if first, _, _ := strings.Cut(text, " "); n > room && len([]rune(first)) <= room {
			text, n = first, len([]rune(first))
		}
		if n > room {
			text, n = string(pictureSign), 1
		}
		return text + strings.Repeat("\u2500", room-n)
	}
	if rows == 1 || cols < 3 {
		side := []string{strings.Repeat("\u2502", cols)}
		return append([]string{label(cols)}, slices.Repeat(side, rows-1)...)
	}
	lines := []string{label(cols)}
	if isFramed(cols, rows) {
		lines[0] = "\u256d" + label(cols-2) + "\u256e"
	}
	for len(lines) < rows-1 {
		lines = append(lines, "\u2502"+strings.Repeat(" ", cols-2)+"\u2502")
	}
	return append(lines, "\u2570"+strings.Repeat("\u2500", cols-2)+"\u256f")
}

// draw draws text and complete sequences of our own in the place of the sequence that is being
// applied, on the screen and for viewers.
func (s *Screen) draw(text string) {
	s.output.flush(s.output.at)
	for p := []byte(text); len(p) > 0; {
		if p[0] == esc {
			n, _ := s.parser.scan(p)
			s.apply(p[:n])
			p = p[n:]
			continue
		}
		r, n := rune(p[0]), 1
		if r >= 0x80 {
			r, n = utf8.DecodeRune(p)
		}
		s.model.printRune(r)
		p = p[n:]
	}
	s.output.data([]byte(text))
}

// sixel applies a device control string that is a sixel picture.
func (s *Screen) sixel(body []byte) {
	_, data, _ := strings.Cut(string(body), "q")
	p := picture.Picture{Kind: picture.Sixel, Data: []byte(data)}
	p.Measure()
	if p.Width > 0 && p.Height > 0 {
		s.showPicture(p, size{}, belowLeft)
	}
}

// tooLarge applies the beginning of a picture of more than maxPicture: its box is there all the
// same.
func (s *Screen) tooLarge(head []byte) {
	var p picture.Picture
	then := behind
	switch head[1] {
	case 'P':
		then = belowLeft
		_, data, _ := strings.Cut(string(head[2:]), "q")
		if raster, ok := strings.CutPrefix(data, "\""); ok {
			var a [4]int
			for i, field := range strings.SplitN(raster, ";", 4) {
				a[i], _ = strconv.Atoi(leadingDigits(field))
			}
			p.Width, p.Height = min(a[2], picture.MaxSide+1), min(a[3], picture.MaxSide+1)
		}
	case '_':
		k := parseKitty(head[3:])
		p.Width, p.Height = k.width, k.height
	}
	s.showPicture(picture.Picture{Width: p.Width, Height: p.Height}, size{}, then)
}

// showLarge draws the box of a picture that has just outgrown its bound before in[end].
func (s *Screen) showLarge(end int) {
	if head := s.parser.large; head != nil {
		s.parser.large = nil
		s.output.at = end
		s.tooLarge(head)
	}
}

func leadingDigits(s string) string {
	n := 0
	for n < len(s) && n < 6 && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n]
}

// isPicture reports whether the beginning of a sequence is a picture's.
func isPicture(held []byte) bool {
	if len(held) < 3 {
		return false
	}
	switch held[1] {
	case 'P': // parameters, then q
		for _, b := range held[2:] {
			if (b < '0' || b > '9') && b != ';' {
				return b == 'q'
			}
		}
	case '_':
		return held[2] == 'G'
	case ']':
		return strings.HasPrefix(string(held[2:min(len(held), 2+len(itermPrefix))]), itermPrefix)
	}
	return false
}
