package picture

import (
	"bytes"
	"compress/zlib"
	"errors"
	"image"
	_ "image/gif"  // iTerm2's pictures are files
	_ "image/jpeg" // likewise
	"image/png"
	"io"
)

// The bounds of what is drawn: more than the largest screen shows. A larger picture has a size
// only.
const (
	MaxSide   = 8192    // of a picture, in pixels
	MaxPixels = 8 << 20 // likewise
)

// Kind says what a picture's data are.
type Kind uint8

// The kinds. RGB and RGBA are kitty's formats 24 and 32, of Width by Height pixels.
const (
	Sixel Kind = iota
	File       // PNG, JPEG or GIF
	RGB
	RGBA
)

// Picture is one that a program has drawn. Its Data must not be changed.
type Picture struct {
	Kind          Kind
	Width, Height int  // in pixels; 0: unknown
	Deflated      bool // Data are compressed (RFC 1950), which only kitty's are
	Data          []byte
}

// Drawable reports whether there is something to be drawn of the picture: it has a size within the
// bounds.
func (p Picture) Drawable() bool {
	return p.Width > 0 && p.Height > 0 && p.Width <= MaxSide && p.Height <= MaxSide &&
		p.Width*p.Height <= MaxPixels
}

// Measure sets the size of a picture whose data tell it.
func (p *Picture) Measure() {
	switch p.Kind {
	case Sixel:
		p.Width, p.Height = sixelSize(p.Data)
	case File:
		if c, _, err := image.DecodeConfig(bytes.NewReader(p.Data)); err == nil {
			p.Width, p.Height = c.Width, c.Height
		}
	}
}

var errUndrawable = errors.New("the picture cannot be drawn")

// Encode returns the picture as a file, and its media type. It takes up to 4 bytes a pixel while it
// runs.
func (p Picture) Encode() (mediaType string, file []byte, err error) {
	if !p.Drawable() {
		return "", nil, errUndrawable
	}
	var img image.Image
	switch p.Kind {
	case File:
		_, format, err := image.DecodeConfig(bytes.NewReader(p.Data))
		return "image/" + format, p.Data, err
	case Sixel:
		img = decodeSixel(p.Data, p.Width, p.Height)
	default:
		img, err = p.raw()
	}
	if err != nil {
		return "", nil, err
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	err = encoder.Encode(&b, img)
	return "image/png", b.Bytes(), err
}

// EncodePNG is Encode for who draws PNG only.
func (p Picture) EncodePNG() (file []byte, err error) {
	mediaType, file, err := p.Encode()
	if err != nil || mediaType == "image/png" {
		return file, err
	}
	img, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = png.Encode(&b, img)
	return b.Bytes(), err
}

// raw returns the picture of kitty's formats 24 and 32. Of pixels that are missing it is black or
// transparent.
func (p Picture) raw() (image.Image, error) {
	n := 3
	if p.Kind == RGBA {
		n = 4
	}
	data := p.Data
	if p.Deflated {
		r, err := zlib.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		data, err = io.ReadAll(io.LimitReader(r, int64(n*p.Width*p.Height)))
		if err != nil && len(data) == 0 {
			return nil, err
		}
	}
	img := image.NewNRGBA(image.Rect(0, 0, p.Width, p.Height))
	if p.Kind == RGBA {
		copy(img.Pix, data)
		return img, nil
	}
	for i, o := 0, 0; o < len(img.Pix); i, o = i+3, o+4 {
		if i+3 <= len(data) {
			copy(img.Pix[o:], data[i:i+3])
		}
		img.Pix[o+3] = 0xff
	}
	return img, nil
}
