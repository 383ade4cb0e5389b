package vt

import (
	"bytes"
	"strconv"
)

// RGB is a colour as 0xRRGGBB.
type RGB uint32

// setColor marks a value of colors as set by the program.
const setColor = 1 << 24

// colors are what OSC 4 and 10 to 12 changed: 0, or setColor and the value.
type colors struct {
	dynamic [3]uint32        // foreground, background, cursor
	palette map[uint8]uint32 // changed entries only
	theme   [3]uint32        // what the viewer's terminal has; see SetTheme
	touched bool             // the program has changed some, so viewers' are reset with the rest
}

// SetTheme tells the colours of the claim holder's terminal, with which OSC 10
// to 12 are answered unless the program has set its own. Until it is called they
// are light grey on black.
func (t *Terminal) SetTheme(fg, bg, cursor RGB) {
	t.colors.theme = [3]uint32{setColor | uint32(fg), setColor | uint32(bg), setColor | uint32(cursor)}
}

// oscPalette is OSC 4: pairs of index and colour, or "?" as a query.
func (t *Terminal) oscPalette(seq, rest []byte) verdict {
	v := keep
	t.repl = append(t.repl[:0], "\x1b]4"...)
	kept := len(t.repl)
	for len(rest) > 0 {
		var num, spec []byte
		num, rest, _ = bytes.Cut(rest, []byte{';'})
		spec, rest, _ = bytes.Cut(rest, []byte{';'})
		n, err := strconv.ParseUint(string(num), 10, 8)
		if err != nil {
			v = drop
			continue
		}
		i := uint8(n)
		if string(spec) == "?" {
			v = drop
			t.replyColor("4;"+strconv.Itoa(int(i)), t.paletteColor(i), seq)
			continue
		}
		c, ok := ParseColor(spec)
		if !ok {
			v = drop
			continue
		}
		if t.colors.palette == nil {
			t.colors.palette = make(map[uint8]uint32)
		}
		t.colors.palette[i] = setColor | uint32(c)
		t.colors.touched = true
		t.repl = append(append(append(append(t.repl, ';'), num...), ';'), spec...)
	}
	if v == drop && len(t.repl) > kept {
		t.repl = append(t.repl, esc, '\\')
		return replace
	}
	return v
}

// resetPalette is OSC 104.
func (t *Terminal) resetPalette(rest []byte) {
	if len(rest) == 0 {
		t.colors.palette = nil
		return
	}
	for num := range bytes.SplitSeq(rest, []byte{';'}) {
		if n, err := strconv.ParseUint(string(num), 10, 8); err == nil {
			delete(t.colors.palette, uint8(n))
		}
	}
}

// oscDynamic is OSC 10, 11 and 12; further values go to the following numbers.
func (t *Terminal) oscDynamic(n int, seq, rest []byte) verdict {
	v := keep
	t.repl = t.repl[:0]
	for spec := range bytes.SplitSeq(rest, []byte{';'}) {
		if n > 12 {
			v = drop
			break
		}
		c, ok := ParseColor(spec)
		switch {
		case string(spec) == "?":
			v = drop
			t.replyColor(strconv.Itoa(n), t.dynamicColor(n-10), seq)
		case ok:
			t.colors.dynamic[n-10] = setColor | uint32(c)
			t.colors.touched = true
			t.repl = appendDynamic(t.repl, n, spec)
		default:
			v = drop
		}
		n++
	}
	if v == drop && len(t.repl) > 0 {
		return replace
	}
	return v
}

func appendDynamic(dst []byte, n int, spec []byte) []byte {
	dst = append(dst, "\x1b]"...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	dst = append(append(dst, ';'), spec...)
	return append(dst, esc, '\\')
}

// ParseColor reads an X11 colour specification: rgb:R/G/B with 1 to 4 digits
// each, or #RGB, #RRGGBB, #RRRGGGBBB, #RRRRGGGGBBBB. Names are not known.
func ParseColor(spec []byte) (RGB, bool) {
	var parts [][]byte
	if s, ok := bytes.CutPrefix(spec, []byte("rgb:")); ok {
		parts = bytes.Split(s, []byte{'/'})
	} else if s, ok := bytes.CutPrefix(spec, []byte("#")); ok && len(s)%3 == 0 {
		n := len(s) / 3
		parts = [][]byte{s[:n], s[n : 2*n], s[2*n:]}
	}
	if len(parts) != 3 {
		return 0, false
	}
	var c RGB
	for _, p := range parts {
		v, err := strconv.ParseUint(string(p), 16, 16)
		if err != nil || len(p) > 4 {
			return 0, false
		}
		c = c<<8 | RGB(v*255/(1<<(4*len(p))-1))
	}
	return c, true
}

// paletteColor returns a colour of the palette.
func (t *Terminal) paletteColor(i uint8) RGB {
	if c, ok := t.colors.palette[i]; ok {
		return RGB(c &^ setColor)
	}
	switch {
	case i < 16:
		return ansiColors[i]
	case i < 232: // 6x6x6 cube
		n := RGB(i - 16)
		return cube(n/36)<<16 | cube(n/6%6)<<8 | cube(n%6)
	}
	return RGB(8+10*int(i-232)) * 0x010101
}

func cube(n RGB) RGB {
	if n == 0 {
		return 0
	}
	return 55 + 40*n
}

// ansiColors are xterm's first 16 colours.
var ansiColors = [16]RGB{
	0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
	0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
}

// dynamicColor returns the foreground, background or cursor colour.
func (t *Terminal) dynamicColor(i int) RGB {
	for _, c := range [...]uint32{t.colors.dynamic[i], t.colors.theme[i]} {
		if c != 0 {
			return RGB(c &^ setColor)
		}
	}
	if i == 1 {
		return ansiColors[0]
	}
	return ansiColors[7]
}
