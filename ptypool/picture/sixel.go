package picture

import (
	"image"
	"image/color"
)

// sixelColors is how many colour registers there are. Others count modulo that, as on terminals
// with few.
const sixelColors = 256

// sixels reads a sixel picture: its data are what follows the q of the device control string.
type sixels struct {
	in  []byte
	at  int
	arg [8]int // of the present command
	n   int    // how many of them there are
}

// args reads the parameters of a command, of which those that are too large or too many are cut.
func (s *sixels) args() {
	s.n, s.arg = 0, [8]int{}
	some := false
	for ; s.at < len(s.in); s.at++ {
		switch c := s.in[s.at]; {
		case c >= '0' && c <= '9':
			if some = true; s.n < len(s.arg) {
				s.arg[s.n] = min(s.arg[s.n]*10+int(c-'0'), 1<<16)
			}
		case c == ';':
			s.n++
			some = true
		default:
			if some {
				s.n++
			}
			s.n = min(s.n, len(s.arg))
			return
		}
	}
	s.n = min(s.n+1, len(s.arg))
}

// walk calls draw for each sixel, or for equal ones at once: at column x, in pixels, of the band
// whose first pixel is y. set is called for what a command sets about colours: a register's number,
// and its value if that is given.
func (s *sixels) walk(raster func(w, h int), draw func(x, y, n int, bits byte),
	set func(register int, value color.Color)) {
	x, y := 0, 0
	for s.at < len(s.in) {
		c := s.in[s.at]
		s.at++
		switch {
		case c == '"':
			if s.args(); s.n >= 4 {
				raster(s.arg[2], s.arg[3])
			}
		case c == '#':
			s.args()
			set(s.arg[0]%sixelColors, s.color())
		case c == '!':
			s.args()
			n := max(1, s.arg[0])
			if s.at < len(s.in) && s.in[s.at] >= '?' && s.in[s.at] <= '~' {
				draw(x, y, n, s.in[s.at]-'?')
				x = min(x+n, 1<<16)
			}
			s.at++
		case c == '$':
			x = 0
		case c == '-':
			x, y = 0, min(y+6, 1<<16)
		case c >= '?' && c <= '~':
			draw(x, y, 1, c-'?')
			x = min(x+1, 1<<16)
		}
	}
}

// color returns the value that the present command gives a register; nil: none.
func (s *sixels) color() color.Color {
	if s.n < 5 {
		return nil
	}
	a, b, c := s.arg[2], s.arg[3], s.arg[4]
	switch s.arg[1] {
	case 1:
		return hls(a%360, min(b, 100), min(c, 100))
	case 2:
		part := func(percent int) uint8 { return uint8(min(percent, 100) * 255 / 100) }
		return color.NRGBA{part(a), part(b), part(c), 0xff}
	}
	return nil
}

// hls returns a colour by its hue, lightness and saturation. Blue is at 0 degrees (VT340 manual).
func hls(hue, lightness, saturation int) color.Color {
	l, s := float64(lightness)/100, float64(saturation)/100
	m := l + s*min(l, 1-l)
	low := 2*l - m
	part := func(degrees int) uint8 {
		degrees = (degrees%360 + 360) % 360
		v := low
		switch {
		case degrees < 60:
			v = low + (m-low)*float64(degrees)/60
		case degrees < 180:
			v = m
		case degrees < 240:
			v = low + (m-low)*float64(240-degrees)/60
		}
		return uint8(v*255 + 0.5)
	}
	red := hue + 240 // where red is at 0
	return color.NRGBA{part(red + 120), part(red), part(red - 120), 0xff}
}

// sixelSize returns a picture's size in pixels: the larger of its raster attributes and its drawn
// extent.
func sixelSize(data []byte) (width, height int) {
	s := sixels{in: data}
	s.walk(func(w, h int) { width, height = max(width, w), max(height, h) },
		func(x, y, n int, bits byte) {
			if bits == 0 {
				return
			}
			width = max(width, x+n)
			rows := 6
			for bits>>(rows-1) == 0 {
				rows--
			}
			height = max(height, y+rows)
		}, func(int, color.Color) {})
	return width, height
}

// mostSet is how many pixels are set at most: as many as the largest picture has, in eight layers.
// A picture can say in a few bytes that a whole line is set, and again.
const mostSet = 8 * MaxPixels

// decodeSixel draws a picture of a size within the bounds. What is not drawn is transparent.
func decodeSixel(data []byte, width, height int) image.Image {
	palette := make([]color.Color, sixelColors)
	for i := range palette {
		palette[i] = initialColor(i)
	}
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	index, left := 1, mostSet
	s := sixels{in: data}
	s.walk(func(int, int) {}, func(x, y, n int, bits byte) {
		if left -= 6 * max(0, min(n, width-x)); bits == 0 || left < 0 {
			return
		}
		c, _ := palette[index].(color.NRGBA)
		for bit := range 6 {
			if bits>>bit&1 == 0 || y+bit >= height {
				continue
			}
			for i := x; i < min(x+n, width); i++ {
				img.SetNRGBA(i, y+bit, c)
			}
		}
	}, func(register int, value color.Color) {
		if index = register; value != nil {
			palette[register] = value
		}
	})
	return img
}

// initialColor returns what a register has before a program sets it: the VT340's 16 colours, and
// black.
func initialColor(register int) color.Color {
	vt340 := [...][3]uint8{
		{0, 0, 0}, {20, 20, 80}, {80, 13, 13}, {20, 80, 20}, {80, 20, 80}, {20, 80, 80},
		{80, 80, 20},
		{53, 53, 53}, {26, 26, 26}, {33, 33, 60}, {60, 26, 26}, {33, 60, 33}, {60, 33, 60},
		{33, 60, 60}, {60, 60, 33}, {80, 80, 80},
	}
	if register >= len(vt340) {
		return color.NRGBA{A: 0xff}
	}
	c := vt340[register]
	part := func(percent uint8) uint8 { return uint8(int(percent) * 255 / 100) }
	return color.NRGBA{part(c[0]), part(c[1]), part(c[2]), 0xff}
}
