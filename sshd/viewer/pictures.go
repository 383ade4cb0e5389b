package viewer

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"termhost/ahp/host"
	"termhost/ptypool/vt"
)

// pictureForm is how a person's own terminal takes pictures.
type pictureForm int32

const (
	noPictures   pictureForm = iota // its boxes are seen
	kittyPicture                    // kitty's graphics protocol
	itermPicture                    // iTerm2's inline images
)

// pictureForms are terminals known to draw pictures, by the beginning of their answer to XTVERSION.
// Sixels have no size in cells, so that terminals that know nothing else show boxes.
var pictureForms = []struct {
	name string
	form pictureForm
}{
	{"kitty", kittyPicture}, {"ghostty", kittyPicture}, {"konsole", kittyPicture},
	{"iterm2", itermPicture}, {"wezterm", itermPicture}, {"mintty", itermPicture},
}

// pictureFormOf returns how the terminal of a name takes pictures.
func pictureFormOf(name string) pictureForm {
	for _, f := range pictureForms {
		if strings.HasPrefix(strings.ToLower(name), f.name) {
			return f.form
		}
	}
	return noPictures
}

// pictureSign begins the text in a picture's box: see package vt.
var pictureSign = []byte("\u25a3")

// pictures draws the pictures of the screen over their boxes, in a terminal that takes them. Those
// that were drawn scroll with the text. The loop uses it, but for form.
type pictures struct {
	form atomic.Int32 // a pictureForm

	due    bool              // there may be a box without a picture, or the other way round
	placed map[string]placed // by ID
}

// placed is a picture that has been drawn.
type placed struct {
	n    int    // how many times it is on the screen
	line uint64 // the line of its last box, since the terminal's first
}

// wanted reports whether the viewer's terminal takes pictures.
func (p *pictures) wanted() bool { return pictureForm(p.form.Load()) != noPictures }

// printed notes output that the viewer gets.
func (p *pictures) printed(out []byte) {
	if p.wanted() && !p.due {
		p.due = len(p.placed) > 0 || bytes.Contains(out, pictureSign)
	}
}

// redrawn notes that the viewer's screen was drawn anew, without its pictures.
func (p *pictures) redrawn() { p.placed, p.due = nil, true }

// drawPictures draws what is due, once the viewer has got all output.
func (w *viewer) drawPictures() error {
	p := &w.pictures
	form := pictureForm(p.form.Load())
	if !p.due || form == noPictures || !w.draws {
		return nil
	}
	items, boxes, ok := w.a.PullBoxes(w.items[:0])
	w.items = items
	if err := w.print(items); err != nil || !ok || w.lost {
		return err // what comes next makes it due again, or it still is
	}
	p.due = false
	out := p.draw(form, boxes, w.a.PicturePNG)
	if len(out) == 0 {
		return nil
	}
	_, err := w.out.Write(out)
	return err
}

// What is drawn at once is bounded: a program can show one picture in as many places as the screen
// has cells, and many pictures that are large. Boxes stay of those that are left out.
const (
	mostDrawn  = 16 << 20 // bytes
	mostPixels = 16 << 20 // of different pictures: two of the largest
)

// draw returns what draws the pictures of boxes that have none, and takes away those that have no
// box any more. The cursor is where it was then. png is [host.Attach.PicturePNG].
func (p *pictures) draw(form pictureForm, boxes host.Boxes,
	png func(id string, most int) (data []byte, pixels int)) (out []byte) {
	now, files, left := map[string]placed{}, map[string][]byte{}, mostPixels
	for _, b := range boxes.All { // of equal ones the last are new: others move up
		now[b.ID] = placed{now[b.ID].n + 1, boxes.Scrolled + uint64(b.Y)}
	}
	for id, was := range p.placed {
		erased := now[id].n == 0 && was.line >= boxes.Scrolled // or it has left with its line
		if erased && form == kittyPicture {
			out = fmt.Appendf(out, "\x1b_Ga=d,d=I,i=%d,q=2\x1b\\", kittyNumber(id))
		}
	}
	seen := map[string]int{}
	for _, b := range boxes.All {
		if seen[b.ID]++; seen[b.ID] <= p.placed[b.ID].n {
			continue
		}
		file, ok := files[b.ID]
		if !ok {
			var pixels int
			file, pixels = png(b.ID, left)
			files[b.ID], left = file, left-pixels
		}
		if file != nil && len(out)+base64.StdEncoding.EncodedLen(len(file)) <= mostDrawn {
			out = appendPicture(out, form, b, file)
		}
	}
	p.placed = now
	if len(out) > 0 {
		out = fmt.Appendf(out, "\x1b[%d;%dH", boxes.Y+1, boxes.X+1)
	}
	return out
}

// kittyNumber returns the number of a picture in kitty's protocol.
func kittyNumber(id string) uint64 {
	n, _ := strconv.ParseUint(id, 36, 32) // letters and digits only
	return n + 1
}

// kittyPiece bounds what kitty takes in one command, in bytes of base64.
const kittyPiece = 4096

// appendPicture appends what draws a picture over its box.
func appendPicture(dst []byte, form pictureForm, b vt.Box, file []byte) []byte {
	data := base64.StdEncoding.AppendEncode(nil, file)
	dst = fmt.Appendf(dst, "\x1b[%d;%dH", b.Y+1, b.X+1)
	if form == itermPicture {
		dst = fmt.Appendf(dst, "\x1b]1337;File=inline=1;size=%d;width=%d;height=%d;"+
			"preserveAspectRatio=0;doNotMoveCursor=1:", len(file), b.Cols, b.Rows)
		return append(append(dst, data...), '\a')
	}
	keys := fmt.Sprintf("a=T,f=100,i=%d,c=%d,r=%d,C=1,q=2,", kittyNumber(b.ID), b.Cols, b.Rows)
	for len(data) > 0 {
		piece := data[:min(kittyPiece, len(data))]
		data = data[len(piece):]
		more := 0
		if len(data) > 0 {
			more = 1
		}
		dst = fmt.Appendf(dst, "\x1b_G%sm=%d;%s\x1b\\", keys, more, piece)
		keys = ""
	}
	return dst
}
