package host

import (
	"errors"

	"termhost/ahp/store"
	"termhost/authz"
	"termhost/ptypool/vt"
)

// ErrNoPicture says that a terminal has no picture of an ID any more, or that it cannot be drawn.
var ErrNoPicture = errors.New("there is no such picture any more")

// PictureFile is a picture that a program has drawn: see package vt.
type PictureFile struct {
	Cols, Rows int    // of its box
	Type       string // of Data, as a media type
	Data       []byte // not to be changed
}

// Picture returns the picture of a box on a terminal's screen, by its ID. It returns *authz.Denied,
// [ErrNoPicture] or the cause of the work's end.
func (c *Conn) Picture(w *Work, t *Terminal, id string) (PictureFile, error) {
	if err := authz.Check(w.principal, authz.Read, t.seen()); err != nil {
		return PictureFile{}, err
	}
	defer w.Rest()
	if err := w.Step(); err != nil {
		return PictureFile{}, err
	}
	t.term.Lock()
	t.kept.loadLocked()
	image, ok := t.term.Screen().Image(id)
	t.term.Unlock()
	if !ok {
		return PictureFile{}, ErrNoPicture
	}
	mediaType, data, err := image.Encode()
	if err != nil {
		return PictureFile{}, ErrNoPicture
	}
	return PictureFile{image.Cols, image.Rows, mediaType, data}, nil
}

// DrawsPictures says that the viewer draws pictures.
func (a *Attach) DrawsPictures() { a.sub.WantPictures() }

// Boxes are where the pictures are on the screen that a viewer shows.
type Boxes struct {
	All      []vt.Box
	X, Y     int    // the cursor, from 0
	Scrolled uint64 // how many lines are above the screen: see [vt.Screen.Scrolled]
}

// PullBoxes appends to dst all output that has not been pulled yet, and returns where the pictures
// are on the screen then. ok is false if the viewer cannot draw over its screen now: it has fallen
// behind, or the cursor could not be put back.
func (a *Attach) PullBoxes(dst []store.Item) (missed []store.Item, boxes Boxes, ok bool) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	for more := true; more; {
		dst, more = a.pullLocked(dst)
	}
	screen := a.t.term.Screen()
	boxes.X, boxes.Y, _ = screen.Cursor()
	boxes.All, boxes.Scrolled = screen.Boxes(), screen.Scrolled()
	return dst, boxes, a.sub.Lag(a.t.ch) == 0 && screen.MayMove()
}

// PicturePNG returns a picture of the screen's as PNG, with how many pixels it has; nil: there is
// none, it has more than most pixels, or it cannot be drawn.
func (a *Attach) PicturePNG(id string, most int) (data []byte, pixels int) {
	a.t.term.Lock()
	image, ok := a.t.term.Screen().Image(id)
	a.t.term.Unlock()
	pixels = image.Width * image.Height
	if !ok || pixels > most {
		return nil, 0
	}
	data, err := image.EncodePNG()
	if err != nil {
		return nil, pixels
	}
	return data, pixels
}
