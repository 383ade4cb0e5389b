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
	mouseSGR   = 1006
	mouseURXVT = 1015
)

// MoveMouse returns p with the positions of its mouse reports moved by dx and dy cells. encoding is
// the mode in which the terminal reports. A report whose encoding has no room for its position
// stays. What is pasted stays.
func MoveMouse(p []byte, encoding, dx, dy int) []byte {
	return changeMouse(p, encoding, moves(func(x, y int) (int, int) { return x + dx, y + dy }))
}

// ChangeMouse returns p with other positions in its mouse reports, which are those of mode 1006, or
// of 1016 where they are in pixels. What is pasted stays.
func ChangeMouse(p []byte, to func(x, y int) (int, int)) []byte {
	return changeMouse(p, mouseSGR, moves(to))
}

// KeepMouse returns p with its mouse reports within the first rows of a terminal, or of its pixels:
// what is further down, which is not the program's, is left out if it presses a button, and
// otherwise comes to the last row. encoding is as for MoveMouse. What is pasted stays.
func KeepMouse(p []byte, encoding, rows int) []byte {
	return changeMouse(p, encoding, func(x, y int, presses bool) (int, int, bool) {
		return x, min(y, rows), y <= rows || !presses
	})
}

// mouseChange returns the position that a report at x, y is to have; keep: it is not left out.
type mouseChange func(x, y int, presses bool) (toX, toY int, keep bool)

// moves is a change of the position only.
func moves(to func(x, y int) (int, int)) mouseChange {
	return func(x, y int, _ bool) (int, int, bool) {
		x, y = to(x, y)
		return x, y, true
	}
}

// The bits of a report's button (xterm ctlseqs, "Mouse Tracking").
const (
	mouseMotion  = 32
	mouseRelease = 3 // in encodings other than mode 1006
)

func changeMouse(p []byte, encoding int, to mouseChange) []byte {
	if !bytes.Contains(p, []byte("\x1b[")) {
		return p
	}
	var out []byte
	for rest := p; len(rest) > 0; {
		i := bytes.Index(rest, []byte("\x1b["))
		if i < 0 || bytes.HasPrefix(rest[i:], []byte("\x1b[200~")) {
			return append(out, rest...)
		}
		out, rest = append(out, rest[:i]...), rest[i:]
		n, moved := moveReport(rest, encoding, to)
		out, rest = append(out, moved...), rest[n:]
	}
	return out
}

// moveReport returns the length of what p, which begins with CSI, begins with, and that with its
// position changed if it is a mouse report.
func moveReport(p []byte, encoding int, to mouseChange) (n int, moved []byte) {
	if len(p) > 2 && p[2] == 'M' && (encoding == mouseX10 || encoding == mouseUTF8) {
		return moveX10(p, encoding == mouseUTF8, to)
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
	button, err := strconv.Atoi(string(f[0]))
	if errX != nil || errY != nil || err != nil {
		return 2, p[:2]
	}
	presses := button&mouseMotion == 0 && p[i] == 'M'
	if !sgr {
		presses = pressesX10(button)
	}
	x, y, keep := to(x, y, presses)
	if !keep {
		return i + 1, nil
	}
	moved = slices.Clone(p[:i-len(f[1])-len(f[2])-1])
	moved = append(strconv.AppendInt(moved, int64(x), 10), ';')
	return i + 1, append(strconv.AppendInt(moved, int64(y), 10), p[i])
}

// moveX10 is moveReport for CSI M, behind which the button and the position stand as characters,
// each 32 larger than it is.
func moveX10(p []byte, wide bool, to mouseChange) (n int, moved []byte) {
	n = 3
	var is [3]rune // the button, and the position
	for i := range is {
		if n >= len(p) {
			return 2, p[:2] // its end is missing
		}
		size := 1
		if is[i] = rune(p[n]); wide {
			is[i], size = utf8.DecodeRune(p[n:])
		}
		n += size
	}
	x, y, keep := to(int(is[1])-32, int(is[2])-32, pressesX10(int(is[0])))
	if !keep {
		return n, nil
	}
	is[1], is[2] = rune(x+32), rune(y+32)
	moved = slices.Clone(p[:3])
	for _, c := range is {
		switch {
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

// pressesX10 reports whether a button is pressed by a report in an encoding other than that of mode
// 1006, in which 32 is added to what it is.
func pressesX10(button int) bool {
	button -= 32
	return button&mouseMotion == 0 && button&mouseRelease != mouseRelease
}
