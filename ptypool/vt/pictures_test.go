package vt

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"regexp"
	"strings"
	"testing"
)

// pictured is a screen that keeps pictures, with what viewers get.
type pictured struct {
	*Screen
	recorder
	viewer *Screen
}

func newPictured(cols, rows int) *pictured {
	p := &pictured{Screen: New(cols, rows, Options{Pictures: true, ScrollbackLines: 50})}
	p.viewer = New(cols, rows, Options{ScrollbackLines: 50})
	p.recorder.pictures = true
	return p
}

// prints feeds output, and checks that a viewer shows the same.
func (p *pictured) prints(t *testing.T, out string) {
	t.Helper()
	from := p.data.Len()
	p.Feed([]byte(out), &p.recorder)
	p.viewer.Feed([]byte(p.data.String()[from:]), nil)
	if a, b := seen(p.Screen), seen(p.viewer); a != b {
		t.Fatalf("after %.40q the screen is\n%s\nand a viewer's\n%s", out, a, b)
	}
}

func (p *pictured) text() string { return string(p.AppendText(nil, false)) }

var boxID = regexp.MustCompile("\u25a3([a-z2-7]{4})")

// image returns the picture of the only box, or of the last one.
func (p *pictured) image(t *testing.T) Image {
	t.Helper()
	all := boxID.FindAllStringSubmatch(p.text(), -1)
	if len(all) == 0 {
		t.Fatalf("there is no box with an ID:\n%s", p.text())
	}
	img, ok := p.Image(all[len(all)-1][1])
	if !ok {
		t.Fatalf("the picture of %v is not kept", all)
	}
	return img
}

// aPNG is a picture as a file, in base64.
func aPNG(width, height int) string {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// sixels is a sixel picture of a size in pixels.
func sixels(width, height int) string {
	return fmt.Sprintf("\x1bP0;1q\"1;1;%d;%d#1;2;100;0;0!%d~\x1b\\", width, height, width)
}

func TestAPictureHasABoxOfItsSize(t *testing.T) {
	file := aPNG(160, 48)
	for what, c := range map[string]struct {
		in     string
		cols   int
		rows   int
		cursor string // where it is behind the picture, from 2,1 on
	}{
		"sixel":                 {sixels(160, 48), 20, 3, "2,3"},
		"kitty":                 {"\x1b_Ga=T,f=100;" + file + "\x1b\\", 20, 3, "22,3"},
		"kitty, in cells":       {"\x1b_Ga=T,f=100,c=30,r=5;" + file + "\x1b\\", 30, 5, "32,5"},
		"kitty, stays":          {"\x1b_Ga=T,f=100,C=1;" + file + "\x1b\\", 20, 3, "2,1"},
		"kitty, in parts":       {"\x1b_Ga=T,f=100,m=1;" + file[:8] + "\x1b\\\x1b_Gm=1;" + file[8:20] + "\x1b\\\x1b_Gm=0;" + file[20:] + "\x1b\\", 20, 3, "22,3"},
		"kitty, sent and shown": {"\x1b_Ga=t,f=100,i=7;" + file + "\x1b\\\x1b_Ga=p,i=7,c=10\x1b\\", 10, 2, "12,2"},
		"kitty, raw":            {"\x1b_Ga=T,f=24,s=16,v=16;" + base64.StdEncoding.EncodeToString(make([]byte, 768)) + "\x1b\\", 2, 1, "4,1"},
		"iterm":                 {"\x1b]1337;File=inline=1:" + file + "\a", 20, 3, "22,3"},
		"iterm, in cells":       {"\x1b]1337;File=width=40;inline=1:" + file + "\a", 40, 6, "42,6"},
		"iterm, stretched":      {"\x1b]1337;File=width=10;height=96px;preserveAspectRatio=0;inline=1:" + file + "\x1b\\", 10, 6, "12,6"},
		"iterm, fitted":         {"\x1b]1337;File=width=10;height=6;inline=1:" + file + "\a", 10, 2, "12,2"},
		"iterm, in percent":     {"\x1b]1337;File=width=50%;inline=1:" + file + "\a", 40, 6, "42,6"},
		"iterm, in parts": {"\x1b]1337;MultipartFile=inline=1\a\x1b]1337;FilePart=" + file[:40] + "\a\x1b]1337;FilePart=" +
			file[40:] + "\a\x1b]1337;FileEnd\a", 20, 3, "22,3"},
	} {
		p := newPictured(80, 24)
		p.prints(t, "\x1b[2;3H"+c.in)
		x, y, _ := p.Cursor()
		if got := fmt.Sprintf("%d,%d", x, y); got != c.cursor {
			t.Errorf("%s: the cursor is at %s, not %s", what, got, c.cursor)
		}
		if !strings.Contains(what, "raw") {
			if img := p.image(t); img.Cols != c.cols || img.Rows != c.rows {
				t.Errorf("%s: it has %dx%d cells, not %dx%d", what, img.Cols, img.Rows, c.cols, c.rows)
			} else if _, _, err := img.Encode(); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		lines := strings.Split(p.text(), "\n")
		first := "  \u25a3"
		if c.rows > 1 {
			first = "  \u256d\u25a3"
			if bottom := lines[c.rows]; !strings.HasPrefix(bottom, "  \u2570") || len([]rune(bottom)) != 2+c.cols {
				t.Errorf("%s: the last row is %q", what, bottom)
			}
		}
		if !strings.HasPrefix(lines[1], first) || len([]rune(lines[1])) != 2+c.cols {
			t.Errorf("%s: the first row is %q", what, lines[1])
		}
		// The same in any two pieces, for a viewer and the screen.
		whole := p.data.String()
		for i := range c.in {
			q := newPictured(80, 24)
			q.Feed([]byte("\x1b[2;3H"+c.in[:i]), &q.recorder)
			q.Feed([]byte(c.in[i:]), &q.recorder)
			if q.data.String() != whole || q.text() != p.text() {
				t.Fatalf("%s, cut at %d: viewers get %q, not %q", what, i, q.data.String(), whole)
			}
		}
	}
}

// A box is never larger than the screen, and scrolls it as lines do. One that is too large to be
// drawn is there as well.
func TestEveryPictureHasABox(t *testing.T) {
	for what, in := range map[string]string{
		"wider than the screen":  sixels(4000, 20),
		"higher than the screen": sixels(20, 8000),
		"at the last line":       "\x1b[10;1H" + sixels(100, 100),
		"at the right margin":    "\x1b[1;20H" + sixels(100, 100),
		"in the last column":     "\x1b[3;20Hx" + sixels(100, 100),
		"in a scroll region":     "\x1b[3;6r\x1b[5;1H" + sixels(100, 200),
		"of a pixel":             sixels(1, 1),
		"too large to draw":      "\x1bPq\"1;1;60000;60000~\x1b\\",
		"more than is held":      "\x1bPq\"1;1;640;480" + strings.Repeat("~", maxPicture) + "\x1b\\",
		"a file of no picture":   "\x1b]1337;File=inline=1:aGVsbG8=\a",
		"a large file":           "\x1b]1337;File=inline=1:" + strings.Repeat("A", maxPicture) + "\a",
		"a large kitty":          "\x1b_Ga=T,f=100;" + strings.Repeat("A", maxPicture) + "\x1b\\",
		"in kitty's parts, too much": strings.Repeat("\x1b_Ga=T,f=100,m=1;"+strings.Repeat("A", 4096)+"\x1b\\", 1100) +
			"\x1b_Gm=0;\x1b\\",
		"with an overflowing size": "\x1b_Ga=T,f=32,s=999999999,v=999999999,c=999999999,r=999999999;AAAA\x1b\\",
		"on the alternate screen":  "\x1b[?1049h" + sixels(100, 100),
	} {
		p := newPictured(20, 10)
		p.prints(t, "before"+in)
		if !strings.Contains(p.text(), string(pictureSign)) {
			t.Errorf("%s: there is no box:\n%s", what, p.text())
		}
		p.prints(t, "after")
		if n := p.Memory(); n > 4*maxPicture {
			t.Errorf("%s: the screen takes %d bytes", what, n)
		}
	}
}

func TestThePicturesOfATerminalAreBounded(t *testing.T) {
	p := newPictured(80, 24)
	body := strings.Repeat("~", maxPicture/2)
	for i := range 20 {
		p.prints(t, fmt.Sprintf("\x1b[H\x1bPq\"1;1;%d;9%s\x1b\\", 100+i, body))
		p.prints(t, fmt.Sprintf("\x1b_Ga=t,f=100,i=%d,q=2;%s\x1b\\", i+1, body[:maxPicture/2]))
	}
	if n := p.Memory(); n > 2*keptPictures+2*maxPicture {
		t.Errorf("the screen takes %d bytes", n)
	}
	for i := range 1000 {
		p.prints(t, "\x1b[H"+sixels(300+i, 9))
	}
	p.image(t) // the newest one is there
	if n := len(p.Screen.pictures.kept); n > mostPictures {
		t.Errorf("%d pictures are kept", n)
	}
}

// Equal pictures have the same ID, also on a screen that keeps none; a clone has them.
func TestAPicturesIDIsOfWhatItShows(t *testing.T) {
	p, q := newPictured(80, 24), New(80, 24, Options{})
	for _, in := range []string{sixels(100, 30), sixels(100, 31), sixels(100, 30)} {
		p.prints(t, in+"\r\n")
		q.Feed([]byte(in+"\r\n"), nil)
	}
	ids := boxID.FindAllString(p.text(), -1)
	if len(ids) != 3 || ids[0] != ids[2] || ids[0] == ids[1] {
		t.Errorf("the IDs are %q", ids)
	}
	if string(q.AppendText(nil, false)) != p.text() {
		t.Error("a screen that keeps no pictures has other boxes")
	}
	id := strings.TrimPrefix(ids[0], string(pictureSign))
	if _, ok := q.Image(id); ok {
		t.Error("it keeps pictures")
	}
	c := p.Clone()
	for range 300 {
		p.prints(t, "x")
	}
	if _, ok := c.Image(id); !ok {
		t.Error("a clone has no picture")
	}
}

// Programs draw pictures where somebody draws them for people; others get characters.
func TestProgramsAreToldWhetherPicturesAreDrawn(t *testing.T) {
	const query = "\x1b[c\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"
	p := newPictured(80, 24)
	p.prints(t, query)
	if got := strings.Join(p.events, " "); got != `0:reply "\x1b[?62;4;22;52c" 0:reply "\x1b_Gi=31;OK\x1b\\"` {
		t.Errorf("where pictures are drawn: %s", got)
	}
	p = newPictured(80, 24)
	p.recorder.pictures = false
	p.prints(t, query)
	if got := strings.Join(p.events, " "); got != `0:reply "\x1b[?62;22;52c"` {
		t.Errorf("where they are not: %s", got)
	}
	p.prints(t, "\x1b_Ga=T,t=f,f=100,i=3;L2V0Yy9wYXNzd2Q=\x1b\\")
	if got := p.events[len(p.events)-1]; !strings.Contains(got, "i=3;EINVAL") || strings.Contains(p.text(), string(pictureSign)) {
		t.Errorf("a file of the host's: %s\n%s", got, p.text())
	}
}

func TestKittysPicturesAreDeleted(t *testing.T) {
	p := newPictured(80, 24)
	p.prints(t, "\x1b_Ga=T,f=100,i=1,q=2;"+aPNG(80, 32)+"\x1b\\\r\nbetween\r\n\x1b_Ga=T,f=100,i=2,q=2;"+aPNG(81, 33)+"\x1b\\")
	p.prints(t, "\x1b_Ga=d,d=i,i=1\x1b\\")
	if ids := boxID.FindAllString(p.text(), -1); len(ids) != 1 || !strings.Contains(p.text(), "between") {
		t.Errorf("one of two is deleted:\n%s", p.text())
	}
	p.prints(t, "\x1b_Ga=d\x1b\\!")
	if text := strings.Join(strings.Fields(p.text()), " "); text != "between !" {
		t.Errorf("all are deleted, and there is %q", text)
	}
}

// A file that is to be downloaded, and what else there is of these protocols, is nothing.
func TestOtherCommandsOfPicturesDrawNothing(t *testing.T) {
	p := newPictured(80, 24)
	p.prints(t, "a\x1b]1337;File=name=eA==:"+aPNG(9, 9)+"\a\x1b]1337;FilePart=AAAA\a\x1b]1337;FileEnd\a"+
		"\x1b_Ga=t,f=100,i=1,q=2;"+aPNG(9, 9)+"\x1b\\\x1b_Ga=T,U=1,f=100,i=1,q=2;"+aPNG(9, 9)+"\x1b\\"+
		"\x1b_Ga=f,i=1,q=2;AAAA\x1b\\\x1b_Gm=0\x1b\\\x1b_\x1b\\\x1b_G\x1b\\\x1bPq\x1b\\b")
	if got := p.data.String(); got != "ab" {
		t.Errorf("viewers get %q", got)
	}
}
