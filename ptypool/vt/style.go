package vt

// color is a colour of a style: 0 is the default, else a tag and a value.
type color uint32

const (
	colorIndexed color = 1 << 24 // low 8 bits: palette index
	colorRGB     color = 2 << 24 // low 24 bits: 0xRRGGBB

	colorTag   color = 0xff << 24
	colorValue color = 1<<24 - 1
)

// attrs are the on/off properties of a style and, in the highest bits, the underline style of SGR
// 4:n.
type attrs uint16

const (
	attrBold attrs = 1 << iota
	attrFaint
	attrItalic
	attrBlink
	attrInverse
	attrInvisible
	attrStrike
	attrOverline
	attrProtected // DECSCA: spared by DECSED and DECSEL

	underlineShift       = 13
	attrUnderline  attrs = 7 << underlineShift
)

// style is all of a cell but its text.
type style struct {
	fg, bg, ul color
	attrs      attrs
	hyperlink  uint32 // index into table.hyperlinks; 0: none
}

// hash returns a number below 256, different for most of the styles of a screen.
func (s *style) hash() uint8 {
	rest := uint32(s.ul) ^ uint32(s.attrs)<<8 ^ s.hyperlink
	h := uint32(s.fg)*0x9e3779b1 ^ uint32(s.bg)*0x85ebca6b ^ rest*0xc2b2ae35
	return uint8(h >> 24)
}

// underline returns the underline style: 0 none, 1 single, 2 double, 3 curly, 4 dotted, 5 dashed.
func (s *style) underline() int { return int(s.attrs >> underlineShift) }

func (s *style) setUnderline(n int) {
	s.attrs = s.attrs&^attrUnderline | attrs(n)<<underlineShift
}

// hyperlink is what OSC 8 links text to.
type hyperlink struct{ id, uri string }
