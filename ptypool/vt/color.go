package vt

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// RGB is a colour as 0xRRGGBB.
type RGB uint32

// setColor is set in a value of colors that the program has set.
const setColor = 1 << 24

// colors are what OSC 4 and 10 to 12 changed: 0, or setColor and the value.
type colors struct {
	dynamic [3]uint32        // foreground, background, cursor
	palette map[uint8]uint32 // changed entries only
	theme   [3]uint32        // those of the viewer's terminal; see Screen.SetTheme
	touched bool             // the program has changed some, so viewers' are reset with the rest
}

// reset undoes the program's changes.
func (cs *colors) reset() { *cs = colors{theme: cs.theme, touched: cs.touched} }

// SetTheme sets the colours of the claim holder's terminal, with which OSC 10 to 12 are answered
// unless the program has set its own. Before the first call they are light grey on black. The
// result is the report for a program that has asked to be told when dark becomes light or light
// dark (mode 2031); "": there is none.
func (s *Screen) SetTheme(fg, bg, cursor RGB) (report string) {
	before := s.colors.scheme()
	for i, c := range [...]RGB{fg, bg, cursor} {
		s.colors.theme[i] = setColor | uint32(c)
	}
	if now := s.colors.scheme(); now != before && s.model.modes.has(modeTheme) {
		return now
	}
	return ""
}

// scheme returns the answer to CSI ? 996 n, which says whether the terminal's own background is
// dark (Contour's "Dark and Light Mode Detection"). What the program has set does not count.
func (cs *colors) scheme() string {
	bg := cs.theme[1]
	if luma := 299*(bg>>16&0xff) + 587*(bg>>8&0xff) + 114*(bg&0xff); luma < 128*1000 {
		return "\x1b[?997;1n"
	}
	return "\x1b[?997;2n"
}

// AppendReports appends a sequence that has a new Screen report the theme as this one does (mode
// 2031), of which a redraw says nothing.
func (s *Screen) AppendReports(dst []byte) []byte {
	if s.model.modes.has(modeTheme) {
		dst = append(dst, modeString(true, 2031)...)
	}
	return dst
}

// oscPalette is OSC 4: pairs of index and colour, or "?" as a query.
func (cs *colors) oscPalette(o *output, seq, rest []byte) verdict {
	v := keep
	o.repl = append(o.repl[:0], "\x1b]4"...)
	kept := len(o.repl)
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
			o.replyColor("4;"+strconv.Itoa(int(i)), cs.paletteColor(i), seq)
			continue
		}
		c, ok := ParseColor(spec)
		if !ok {
			v = drop
			continue
		}
		if cs.palette == nil {
			cs.palette = make(map[uint8]uint32)
		}
		cs.palette[i] = setColor | uint32(c)
		cs.touched = true
		o.repl = append(append(append(append(o.repl, ';'), num...), ';'), spec...)
	}
	if v == drop && len(o.repl) > kept {
		o.repl = append(o.repl, esc, '\\')
		return replace
	}
	return v
}

// resetPalette is OSC 104.
func (cs *colors) resetPalette(rest []byte) {
	if len(rest) == 0 {
		cs.palette = nil
		return
	}
	for num := range bytes.SplitSeq(rest, []byte{';'}) {
		if n, err := strconv.ParseUint(string(num), 10, 8); err == nil {
			delete(cs.palette, uint8(n))
		}
	}
}

// oscDynamic is OSC 10, 11 and 12; further values go to the following numbers.
func (cs *colors) oscDynamic(o *output, n int, seq, rest []byte) verdict {
	v := keep
	o.repl = o.repl[:0]
	for spec := range bytes.SplitSeq(rest, []byte{';'}) {
		if n > 12 {
			v = drop
			break
		}
		c, ok := ParseColor(spec)
		switch {
		case string(spec) == "?":
			v = drop
			o.replyColor(strconv.Itoa(n), cs.dynamicColor(n-10), seq)
		case ok:
			cs.dynamic[n-10] = setColor | uint32(c)
			cs.touched = true
			o.repl = appendDynamic(o.repl, n, spec)
		default:
			v = drop
		}
		n++
	}
	if v == drop && len(o.repl) > 0 {
		return replace
	}
	return v
}

// appendDynamic appends OSC n, of the foreground, background or cursor colour.
func appendDynamic(dst []byte, n int, spec []byte) []byte {
	dst = append(dst, "\x1b]"...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	dst = append(append(dst, ';'), spec...)
	return append(dst, esc, '\\')
}

// replyColor answers a colour query, with the terminator it came with.
func (o *output) replyColor(name string, c RGB, query []byte) {
	end := "\x1b\\"
	if query[len(query)-1] == bel {
		end = "\a"
	}
	r, g, b := c>>16&0xff*0x101, c>>8&0xff*0x101, c&0xff*0x101
	o.reply(fmt.Sprintf("\x1b]%s;rgb:%04x/%04x/%04x%s", name, r, g, b, end))
}

// draw sets the colours that the program has changed on a viewer's terminal.
func (cs *colors) draw(w *writer) {
	hex := func(c uint32) string {
		s := strconv.FormatUint(uint64(c|setColor), 16)
		return "#" + s[len(s)-6:]
	}
	for _, i := range slices.Sorted(maps.Keys(cs.palette)) {
		w.str("\x1b]4;" + strconv.Itoa(int(i)) + ";" + hex(cs.palette[i]) + "\x1b\\")
	}
	for i, c := range cs.dynamic {
		if c != 0 {
			w.dst = appendDynamic(w.dst, 10+i, []byte(hex(c)))
		}
	}
}

// ParseColor reads an X11 colour specification: rgb:R/G/B with 1 to 4 digits each, or #RGB,
// #RRGGBB, #RRRGGGBBB, #RRRRGGGGBBBB. Names are not known.
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
func (cs *colors) paletteColor(i uint8) RGB {
	if c, ok := cs.palette[i]; ok {
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

// cube returns the n-th of the six values of each component in the palette's cube.
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
func (cs *colors) dynamicColor(i int) RGB {
	for _, c := range [...]uint32{cs.dynamic[i], cs.theme[i]} {
		if c != 0 {
			return RGB(c &^ setColor)
		}
	}
	if i == 1 {
		return ansiColors[0]
	}
	return ansiColors[7]
}
