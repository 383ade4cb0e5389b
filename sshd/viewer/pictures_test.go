package viewer

import (
	"strconv"
	"testing"

	"termhost/ahp/host"
	"termhost/ptypool/vt"
)

// A program prints the text of a box wherever there is room for it, and sends large pictures.
func TestWhatIsDrawnAtOnceIsBounded(t *testing.T) {
	var one, many host.Boxes
	for i := range 10_000 {
		one.All = append(one.All, vt.Box{ID: "same", Cols: 1, Rows: 1})
		many.All = append(many.All, vt.Box{ID: strconv.Itoa(i), Cols: 1, Rows: 1})
	}
	const largest = mostPixels / 2
	decoded := 0
	png := func(_ string, most int) ([]byte, int) {
		if largest > most {
			return nil, 0
		}
		decoded++
		return make([]byte, 1<<20), largest
	}
	for _, form := range []pictureForm{kittyPicture, itermPicture} {
		var p pictures
		if n := len(p.draw(form, one, png)); n < 1<<20 || n > mostDrawn+1<<20 {
			t.Errorf("one picture in all places is %d bytes", n)
		}
		decoded = 0
		p = pictures{}
		if p.draw(form, many, png); decoded != 2 {
			t.Errorf("%d large pictures are decoded", decoded)
		}
	}
}
