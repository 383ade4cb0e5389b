package picture_test

import (
	"bytes"
	"compress/zlib"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"termhost/ptypool/picture"
)

// pixels decodes a PNG, and returns its size and the colours of some pixels.
func pixels(t *testing.T, p picture.Picture, at ...image.Point) (size image.Point, colors []color.NRGBA) {
	t.Helper()
	mediaType, file, err := p.Encode()
	if err != nil || mediaType != "image/png" {
		t.Fatalf("%q, %v", mediaType, err)
	}
	img, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range at {
		colors = append(colors, color.NRGBAModel.Convert(img.At(a.X, a.Y)).(color.NRGBA))
	}
	return img.Bounds().Size(), colors
}

func TestSixelsBecomeAPicture(t *testing.T) {
	// Two bands: of the first, a red column, 3 green ones over it, and a blue one that begins lower.
	p := picture.Picture{Kind: picture.Sixel,
		Data: []byte("#1;2;100;0;0#1~$#2;2;0;100;0?!3~#3;1;0;50;100\x5f-~")}
	p.Measure()
	if p.Width != 5 || p.Height != 12 {
		t.Fatalf("it has %dx%d pixels", p.Width, p.Height)
	}
	size, got := pixels(t, p, image.Pt(0, 0), image.Pt(3, 5), image.Pt(4, 5), image.Pt(4, 0), image.Pt(0, 11), image.Pt(1, 11))
	red, green, blue, none := color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 255, 0, 255}, color.NRGBA{0, 0, 255, 255}, color.NRGBA{}
	for i, want := range []color.NRGBA{red, green, blue, none, blue, none} {
		if got[i] != want {
			t.Errorf("pixel %d is %v, not %v", i, got[i], want)
		}
	}
	if size != image.Pt(5, 12) {
		t.Errorf("the picture has %v", size)
	}
	// Raster attributes make it larger.
	p.Data = []byte(`"1;1;20;30#1~`)
	if p.Measure(); p.Width != 20 || p.Height != 30 {
		t.Errorf("with raster attributes it has %dx%d", p.Width, p.Height)
	}
}

func TestRawPixelsBecomeAPicture(t *testing.T) {
	p := picture.Picture{Kind: picture.RGB, Width: 2, Height: 1, Data: []byte{1, 2, 3, 4, 5, 6}}
	if _, got := pixels(t, p, image.Pt(1, 0)); got[0] != (color.NRGBA{4, 5, 6, 255}) {
		t.Errorf("RGB: %v", got)
	}
	p = picture.Picture{Kind: picture.RGBA, Width: 1, Height: 2, Data: []byte{1, 2, 3, 200}}
	if _, got := pixels(t, p, image.Pt(0, 0), image.Pt(0, 1)); got[0] != (color.NRGBA{1, 2, 3, 200}) || got[1].A != 0 {
		t.Errorf("RGBA, of which half is missing: %v", got)
	}
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(bytes.Repeat([]byte{9}, 1<<20)) // much more than the picture has
	_ = w.Close()
	p = picture.Picture{Kind: picture.RGB, Width: 1, Height: 1, Deflated: true, Data: b.Bytes()}
	if _, got := pixels(t, p, image.Pt(0, 0)); got[0] != (color.NRGBA{9, 9, 9, 255}) {
		t.Errorf("deflated: %v", got)
	}
	p.Data = []byte("not deflated")
	if _, _, err := p.Encode(); err == nil {
		t.Error("what is not deflated is a picture")
	}
}

func TestFilesStayAsTheyAre(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 4))); err != nil {
		t.Fatal(err)
	}
	p := picture.Picture{Kind: picture.File, Data: b.Bytes()}
	p.Measure()
	mediaType, file, err := p.Encode()
	if p.Width != 3 || p.Height != 4 || mediaType != "image/png" || !bytes.Equal(file, b.Bytes()) || err != nil {
		t.Errorf("%dx%d, %s, %v", p.Width, p.Height, mediaType, err)
	}
	p = picture.Picture{Kind: picture.File, Data: []byte("<svg onload=alert(1)>")}
	if p.Measure(); p.Drawable() {
		t.Error("anything is a picture")
	}
}

// Hostile pictures have a size, and nothing is drawn of them or little.
func TestHostileSizesAreBounded(t *testing.T) {
	for _, data := range []string{"!99999999999~", `"1;1;99999999;99999999~`, strings.Repeat("-", 100000) + "~",
		strings.Repeat("!65535?", 10000) + "~"} {
		p := picture.Picture{Kind: picture.Sixel, Data: []byte(data)}
		if p.Measure(); p.Drawable() || p.Width > 1<<17 || p.Height > 1<<17 {
			t.Errorf("%.20q: %dx%d is drawn", data, p.Width, p.Height)
		}
		if _, _, err := p.Encode(); err == nil {
			t.Errorf("%.20q is drawn", data)
		}
	}
	// A few bytes that set all pixels, again and again.
	p := picture.Picture{Kind: picture.Sixel, Data: []byte(`"1;1;2000;2000` + strings.Repeat("$!2000~-", 100000))}
	if p.Width, p.Height = 2000, 2000; !p.Drawable() {
		t.Error("it is not drawn")
	}
	if _, _, err := p.Encode(); err != nil {
		t.Error(err)
	}
	for _, p := range []picture.Picture{
		{Kind: picture.RGBA, Width: 1 << 20, Height: 1, Data: []byte{1}}, {Kind: picture.RGBA, Width: -1, Height: 1},
		{Kind: picture.RGB, Width: 8192, Height: 8192},
	} {
		if _, _, err := p.Encode(); err == nil {
			t.Errorf("%dx%d is drawn", p.Width, p.Height)
		}
	}
}

func FuzzSixel(f *testing.F) {
	f.Add([]byte("#1;2;100;0;0#1~$#2;2;0;100;0?!3~#3;1;0;50;100\x5f-~"))
	f.Add([]byte(`"1;1;20;30#1~!`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := picture.Picture{Kind: picture.Sixel, Data: data}
		if p.Measure(); !p.Drawable() || p.Width*p.Height > 1<<16 {
			return
		}
		_, file, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if c, err := png.DecodeConfig(bytes.NewReader(file)); err != nil || c.Width != p.Width || c.Height != p.Height {
			t.Errorf("%v, not %dx%d: %v", c, p.Width, p.Height, err)
		}
	})
}
