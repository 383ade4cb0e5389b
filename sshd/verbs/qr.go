package verbs

import (
	"strings"

	"rsc.io/qr"
)

// quietZone is how many light modules stand around a QR code (ISO/IEC 18004 demands four; readers
// of screens do with two).
const quietZone = 2

// qrCode returns a QR code of a text, drawn with half blocks, two rows of modules a line: dark on
// light whatever the terminal's colours are.
func qrCode(text string) (string, error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for y := -quietZone; y < code.Size+quietZone; y += 2 {
		b.WriteString("\x1b[30;107m")
		for x := -quietZone; x < code.Size+quietZone; x++ {
			switch upper, lower := code.Black(x, y), code.Black(x, y+1); {
			case upper && lower:
				b.WriteRune('\u2588')
			case upper:
				b.WriteRune('\u2580')
			case lower:
				b.WriteRune('\u2584')
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteString("\x1b[m\n")
	}
	return b.String(), nil
}
