package viewer

import (
	"fmt"
	"strings"
	"time"

	"termhost/ptypool/vt/width"
)

// draw returns what draws the screen, and the progress line below it.
func (r *replay) draw() []byte {
	w := r.s.Window()
	if w.Cols <= 0 || w.Rows <= 0 {
		w = Window{Cols: 80, Rows: 24}
	}
	if r.reader != nil {
		o := r.reader.draw(w, w)
		return appendCopied(append(o.appendTo(nil, w), hideCursor...), r.reader)
	}
	screen := r.p.Screen().AppendPicture(nil, w.Cols, max(w.Rows-1, 1))
	o := overlay{lines: []string{r.progress(lineRoom(w))}, table: true}
	return o.appendTo(screen, w)
}

// barCells is how long the bar is, if there is room for it.
const barCells = 20

// progress returns the progress line.
func (r *replay) progress(room int) string {
	if r.asking {
		return "/" + r.text + "_"
	}
	if r.note != "" {
		return r.note
	}
	state, at := "playing", r.now()
	switch {
	case r.ended():
		state, at = "end", r.p.Length()
	case r.paused:
		state = "paused"
	}
	text := fmt.Sprintf("%-7s %s / %s", state, clock(at), clock(r.p.Length()))
	if room >= width.String(text)+2*barCells {
		text += " " + bar(at, r.p.Length())
	}
	if r.speed != 1 {
		text += fmt.Sprintf(" x%g", r.speed)
	}
	if c := r.p.Command(); c != "" {
		text += "  $ " + c
	}
	const keys = "  ? keys, q quits"
	if width.String(text)+len(keys) <= room {
		text += strings.Repeat(" ", room-width.String(text)-len(keys)) + keys
	}
	return text
}

// bar returns a bar that is filled as far as at is in length.
func bar(at, length time.Duration) string {
	filled := barCells
	if length > 0 {
		filled = int(float64(at) / float64(length) * barCells)
	}
	return "[" + strings.Repeat("=", filled) + strings.Repeat("-", barCells-filled) + "]"
}

// clock writes a time as minutes and seconds, and hours if need be.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
