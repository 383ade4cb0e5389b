package vt

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// Lines makes lines of plain text of output, in one pass and without a screen: for following
// output, and for searching more of it than a screen can hold. The zero value is ready for use.
//
// A line is what is shown when its line feed comes, after all overwriting, erasing and inserting.
// It is as long as the program made it, however wide the terminal is. The cursor stays in its line:
// if a program moves it to another one, a new line begins. The alternate screen is left out, as by
// [Screen.AppendHistoryText].
type Lines struct {
	state seqState
	seq   []byte // the sequence so far, without its ESC; of a string its beginning
	size  int    // of the sequence so far, in bytes
	rune  []byte // the beginning of a character
	alt   bool   // the program is on the alternate screen
	line  lineText
}

// maxLine bounds a line, in bytes: a longer one is cut in two. A line of more than MaxCols cells is
// cut where the cursor leaves its end, because on a screen the cursor would stay within a row.
const maxLine = 1 << 20

// Append appends to dst the lines that end in p, each with a line feed and without trailing blanks.
// Calls may split lines, sequences and characters.
func (l *Lines) Append(dst, p []byte) []byte {
	for len(p) > 0 {
		switch {
		case l.state == inRune:
			dst, p = l.resumeRune(dst, p)
		case l.state != inGround:
			dst, p = l.sequence(dst, p)
		case l.line.empty() && !l.alt:
			dst, p = l.wholeLines(dst, p)
			dst, p = l.text(dst, p)
		default:
			dst, p = l.text(dst, p)
		}
	}
	return l.line.takeHead(dst)
}

// AppendRest appends the unfinished line, with a line feed, if it shows something.
func (l *Lines) AppendRest(dst []byte) []byte {
	if n := len(dst); l.line.shows() {
		if dst = l.line.end(dst); len(dst) == n+1 {
			return dst[:n]
		}
	}
	return dst
}

// Between reports whether the output so far ends between characters and sequences, in none of them.
func (l *Lines) Between() bool { return l.state == inGround }

// Alternate reports whether the program is on the alternate screen.
func (l *Lines) Alternate() bool { return l.alt }

// Cut is AppendRest for an unfinished line of more than n bytes if what comes next can only make it
// longer: the cursor is behind its last character, which is no blank. It reports whether it has cut
// the line; the rest of it is a line of its own.
func (l *Lines) Cut(dst []byte, n int) ([]byte, bool) {
	text := l.line.text
	if l.alt || !l.Between() || l.line.moved || l.line.returned || len(text) <= n ||
		text[len(text)-1] == ' ' {
		return dst, false
	}
	return l.AppendRest(dst), true
}

// wholeLines takes complete lines of ASCII only at the beginning of p.
func (l *Lines) wholeLines(dst, p []byte) (_, rest []byte) {
	for {
		n := asciiRun(p)
		end := n
		for n < len(p) && p[n] == '\r' {
			n++
		}
		if n == len(p) || p[n] != '\n' || end > maxLine {
			return dst, p
		}
		dst = append(append(dst, bytes.TrimRight(p[:end], " ")...), '\n')
		p = p[n+1:]
	}
}

// asciiRun returns how many printable ASCII characters p begins with.
func asciiRun(p []byte) (n int) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; n+8 <= len(p); n += 8 {
		x := binary.LittleEndian.Uint64(p[n:])
		// A high bit says that its byte, or one before it, is below 0x20, is DEL, or is not ASCII.
		if d := x ^ ones*del; ((x-ones*0x20)&^x|(d-ones)&^d|x)&highs != 0 {
			break
		}
	}
	for n < len(p) && p[n]-0x20 < del-0x20 {
		n++
	}
	return n
}

// text takes p up to the next sequence.
func (l *Lines) text(dst, p []byte) (_, rest []byte) {
	for len(p) > 0 {
		if n := asciiRun(p); n > 0 {
			if !l.alt {
				dst = l.line.ascii(dst, p[:n])
			}
			p = p[n:]
			continue
		}
		b := p[0]
		switch {
		case b == esc:
			l.state, l.seq, l.size = inEsc, l.seq[:0], 0
			return dst, p[1:]
		case b < utf8.RuneSelf:
			dst, p = l.control(dst, b), p[1:]
			if l.line.empty() {
				return dst, p
			}
		case !utf8.FullRune(p):
			l.state, l.rune = inRune, append(l.rune[:0], p...)
			return dst, nil
		default:
			r, n := utf8.DecodeRune(p)
			if dst, p = l.char(dst, r), p[n:]; l.state != inGround {
				return dst, p
			}
		}
	}
	return dst, nil
}

// resumeRune takes the rest of a character.
func (l *Lines) resumeRune(dst, p []byte) (_, rest []byte) {
	had := len(l.rune)
	l.rune = append(l.rune, p[:min(utf8.UTFMax-had, len(p))]...)
	if !utf8.FullRune(l.rune) {
		return dst, nil
	}
	l.state = inGround
	r, n := utf8.DecodeRune(l.rune)
	if n < had { // it is malformed, and the bytes after its first one are read again
		kept := bytes.Clone(l.rune[n:had])
		return l.Append(l.char(dst, r), kept), p
	}
	return l.char(dst, r), p[n-had:]
}

// char takes a character beyond ASCII; U+0080 to U+009F are controls (ECMA-48 section 5.3).
func (l *Lines) char(dst []byte, r rune) []byte {
	switch {
	case r < 0xa0:
		next, o := step(inEsc, byte(r-0x40))
		l.seq = append(l.seq[:0], byte(r-0x40))
		if o == more {
			l.state = next
			return dst
		}
		return l.escape(dst)
	case l.alt:
		return dst
	}
	return l.line.char(dst, r)
}

// control takes a control character.
func (l *Lines) control(dst []byte, b byte) []byte {
	if l.alt {
		return dst
	}
	switch b {
	case '\n', '\v', '\f':
		return l.line.end(dst)
	case '\r':
		l.line.returned = true
	case '\b':
		l.line.move(-1)
	case '\t':
		l.line.tab()
	}
	return dst
}

// sequence takes the rest of a sequence, with control characters in it.
func (l *Lines) sequence(dst, p []byte) (_, rest []byte) {
	for i, b := range p {
		if l.size++; l.state >= inString && breaksOff(b, l.size) &&
			!mayBeLong(append([]byte{esc}, l.seq...)) {
			l.state = inGround
			return dst, p[i:]
		}
		next, o := step(l.state, b)
		switch o {
		case more:
			if l.state = next; len(l.seq) < maxCSI && next < inString || len(l.seq) < maxHead {
				l.seq = append(l.seq, b)
			}
		case done:
			short := l.state < inString
			l.state = inGround
			if short {
				l.seq = append(l.seq, b)
				dst = l.escape(dst)
			}
			return dst, p[i+1:]
		case cancel:
			l.state = inGround
			return dst, p[i+1:]
		case reparse:
			l.state = inGround
			return dst, p[i:]
		case reescape:
			l.state, l.seq, l.size = inEsc, l.seq[:0], 0
			return dst, p[i:]
		case execute:
			dst = l.control(dst, b)
		}
	}
	return dst, nil
}

// escape takes a complete sequence.
func (l *Lines) escape(dst []byte) []byte {
	var c csiSeq
	if l.seq[0] == '[' {
		if len(l.seq) > maxCSI || !c.parse(l.seq[1:]) {
			return dst
		}
		return l.csi(dst, &c)
	}
	if len(l.seq) == 1 && bytes.IndexByte([]byte("DEMc"), l.seq[0]) >= 0 {
		if l.seq[0] == 'c' {
			l.alt = false
		}
		return l.elsewhere(dst)
	}
	return dst
}

// elsewhere is called when the cursor has left its line.
func (l *Lines) elsewhere(dst []byte) []byte {
	if l.alt {
		return dst
	}
	return l.AppendRest(dst)
}

// csi applies a control sequence to the line (ctlseqs, "Functions using CSI").
func (l *Lines) csi(dst []byte, c *csiSeq) []byte {
	if c.prefix == '?' && c.inter == 0 && (c.final == 'h' || c.final == 'l') {
		for _, mode := range c.par[:c.n] {
			if mode == 47 || mode == 1047 || mode == 1049 {
				dst = l.elsewhere(dst)
				l.alt = c.final == 'h'
			}
		}
		return dst
	}
	if !c.plain() || l.alt {
		return dst
	}
	switch c.final {
	case 'A', 'B', 'E', 'F', 'H', 'f', 'd', 'e', 'S', 'T', 'L', 'M', 'r':
		return l.elsewhere(dst)
	case 'J':
		if c.arg(0, 0) == 0 { // the rest of the line, and the lines below
			l.line.erase(0)
			return dst
		}
		return l.elsewhere(dst)
	case 'b':
		return l.line.again(dst, c.count())
	}
	l.line.edit(c)
	return dst
}
