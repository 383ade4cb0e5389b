package keyboard

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"
)

// The encodings of mouse reports (xterm ctlseqs, "Extended coordinates"), by their modes. That
// without a mode is X10's.
const (
	mouseX10   = 0
	mouseUTF8  = 1005
	mouseURXVT = 1015
	mousePixel = 1016
)

// MoveMouse returns p with the positions of its mouse reports moved by dx and dy cells. encoding is
// the mode in which the terminal reports. A report in pixels stays, because the size of a cell is
// not known, as does one whose encoding has no room for its position. What is pasted stays.
func MoveMouse(p []byte, encoding, dx, dy int) []byte {
	if encoding == mousePixel || !bytes.Contains(p, []byte("\x1b[")) {
		return p
	}
	var out []byte
	for rest := p; len(rest) > 0; {
		i := bytes.Index(rest, []byte("\x1b["))
		if i < 0 || bytes.HasPrefix(rest[i:], []byte("\x1b[200~")) {
			return append(out, rest...)
		}
		out, rest = append(out, rest[:i]...), rest[i:]
		n, moved := moveReport(rest, encoding, dx, dy)
		out, rest = append(out, moved...), rest[n:]
	}
	return out
}

// moveReport returns the length of what p, which begins with CSI, begins with, and that with its
// position moved if it is a mouse report.
func moveReport(p []byte, encoding, dx, dy int) (n int, moved []byte) {
	if len(p) > 2 && p[2] == 'M' && (encoding == mouseX10 || encoding == mouseUTF8) {
		return moveX10(p, encoding == mouseUTF8, dx, dy)
	}
	i := 2
	for i < len(p) && (p[i] >= '0' && p[i] <= '9' || p[i] == ';' || i == 2 && p[i] == '<') {
		i++
	}
	sgr := i > 2 && p[2] == '<'
	f := bytes.Split(bytes.TrimPrefix(p[2:i], []byte("<")), []byte(";"))
	ends := i < len(p) && (p[i] == 'M' || sgr && p[i] == 'm')
	if !ends || len(f) != 3 || !sgr && encoding != mouseURXVT {
		return 2, p[:2]
	}
	x, errX := strconv.Atoi(string(f[1]))
	y, errY := strconv.Atoi(string(f[2]))
	if errX != nil || errY != nil {
		return 2, p[:2]
	}
	moved = slices.Clone(p[:i-len(f[1])-len(f[2])-1])
	moved = append(strconv.AppendInt(moved, int64(x+dx), 10), ';')
	return i + 1, append(strconv.AppendInt(moved, int64(y+dy), 10), p[i])
}

// moveX10 is moveReport for CSI M, behind which the button and the position stand as characters,
// each 32 larger than it is.
func moveX10(p []byte, wide bool, dx, dy int) (n int, moved []byte) {
	n, moved = 3, slices.Clone(p[:3])
	for _, by := range []int{0, dx, dy} {
		if n >= len(p) {
			return 2, p[:2] // its end is missing
		}
		c, size := rune(p[n]), 1
		if wide {
			c, size = utf8.DecodeRune(p[n:])
		}
		n += size
		switch c += rune(by); {
		case wide:
			moved = utf8.AppendRune(moved, c)
		case c > 0xff:
			return 2, p[:2]
		default:
			moved = append(moved, byte(c))
		}
	}
	return n, moved
}
