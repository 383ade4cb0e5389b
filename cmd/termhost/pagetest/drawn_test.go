package pagetest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// drawn is what the page draws over boxes: the picture's own size, and the cell that its upper left
// corner is in, with its size in cells.
type drawn struct{ Width, Height, X, Y, Cols, Rows float64 }

// drawn returns the pictures that a terminal shows in the page.
func (p *tab) drawn(name string) []drawn {
	p.t.Helper()
	return eval[[]drawn](p, fmt.Sprintf(`(() => {
		const view = document.querySelector('[data-terminal="%s"]'), screen = view.querySelector('.xterm-screen').getBoundingClientRect();
		const size = view.closest('.pane').querySelector('.size').textContent.split('×').map(Number);
		const w = screen.width / size[0], h = screen.height / size[1];
		return [...view.querySelectorAll('.pictures img')].map((i) => { const b = i.getBoundingClientRect();
			return { width: i.naturalWidth, height: i.naturalHeight, x: Math.round((b.x - screen.x) / w), y: Math.round((b.y - screen.y) / h),
				cols: Math.round(b.width / w), rows: Math.round(b.height / h) } }) })()`, name))
}

// draws waits until it shows exactly these.
func (p *tab) draws(name string, want ...drawn) {
	p.t.Helper()
	var got []drawn
	defer func() {
		if p.t.Failed() {
			p.t.Logf("the page draws %v, not %v, over\n%s", got, want, p.screen(name))
		}
	}()
	slowtest.Hurry(p.t)
	hosttest.Eventually(p.t, "the pictures are drawn", func() bool {
		got = p.drawn(name)
		return fmt.Sprint(got) == fmt.Sprint(want)
	})
}

// Pictures of all three protocols are drawn in the page, in their cells, as long as their boxes
// stand there: also in a page that comes later, scrolled, and resized.
func TestPicturesAreDrawnOverTheirBoxes(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	img := image.NewNRGBA(image.Rect(0, 0, 80, 64))
	for i := range 80 * 64 {
		img.SetNRGBA(i%80, i/80, color.NRGBA{uint8(i % 80 * 3), uint8(i / 80 * 4), 120, 255})
	}
	var b bytes.Buffer
	hosttest.Check(t, png.Encode(&b, img))
	file := base64.StdEncoding.EncodeToString(b.Bytes())
	sixel := s.file("sixel", "\x1bPq\"1;1;160;48#1;2;20;80;40"+strings.Repeat("#1!160~-", 8)+"\x1b\\\n")
	kitty := s.file("kitty", "\x1b_Ga=T,f=100,c=10,r=4,q=2;"+file+"\x1b\\\n")
	iterm := s.file("iterm", "\x1b]1337;File=inline=1;width=6:"+file+"\a\n")
	s.ssh("new", "-d", "-n", "draw")
	p := s.open(s.ticket("draw") + "&debug=screen").ready()
	p.shows("draw", "# ")
	s.ssh("send", "--enter", "draw", "clear; cat", sixel, kitty, iterm)
	all := []drawn{{160, 48, 0, 0, 20, 3}, {80, 64, 0, 3, 10, 4}, {80, 64, 0, 7, 6, 3}}
	p.draws("draw", all...)
	p.sameAs(s, "draw")
	if text := p.screen("draw"); !strings.Contains(text, "160×48") || strings.Count(text, "▣") != 3 {
		t.Errorf("the boxes are not there: %q", text)
	}
	p.shot("pictures")
	if over := eval[string](p, `getComputedStyle(document.querySelector('.pictures')).pointerEvents`); over != "none" {
		t.Errorf("pictures keep the mouse from what is under them: pointer-events is %s", over)
	}

	// A page that comes later draws them, too, and so does what is played again.
	q := s.open(s.ticket("draw") + "&debug=screen").ready()
	q.draws("draw", all...)
	q.sameAs(s, "draw")

	runs := func(script string) { s.ssh("send", "--enter", "draw", "source", s.file("script", script+"\n")) }

	// They move up with the text above, and text that is written over one takes its place.
	s.ssh("send", "--enter", "draw", "seq 14")
	p.draws("draw", drawn{160, 48, 0, -2, 20, 3}, drawn{80, 64, 0, 1, 10, 4}, drawn{80, 64, 0, 5, 6, 3})
	p.sameAs(s, "draw")
	runs(`printf '\e[6;2Hover\e[24;1H'`)
	p.draws("draw", drawn{80, 64, 0, 0, 10, 4})
	s.ssh("send", "--enter", "draw", "clear")
	p.draws("draw")
	p.sameAs(s, "draw")

	// On the alternate screen, and none of it is left.
	runs(`printf '\e[?1049h\e[H'; cat ` + kitty + `; read; printf '\e[?1049l'`)
	p.draws("draw", drawn{80, 64, 0, 0, 10, 4})
	s.ssh("send", "--enter", "draw")
	p.draws("draw")

	// Programs that ask are told that pictures are drawn, as long as there is such a page.
	ask := s.file("ask", `printf '\e[c'; read -rsd c da; echo "${da#*[} is told"`+"\n")
	s.ssh("send", "--enter", "draw", "source", ask)
	p.shows("draw", "?62;4;22;52 is told")
	for _, page := range []*tab{p, q} {
		page.run(chromedp.Navigate("about:blank"))
	}
	hosttest.Eventually(t, "nobody draws any more", func() bool {
		s.ssh("send", "--enter", "draw", "source", ask)
		s.ssh("wait", "--idle", "200ms", "draw")
		return strings.Contains(s.ssh("peek", "draw"), "?62;22;52 is told")
	})
}

// Whatever programs draw, the page has a bounded number of pictures and no trouble.
func TestHostilePicturesDoThePageNoHarm(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	var out strings.Builder
	for i := range 300 { // boxes that nobody has drawn, and many that are
		fmt.Fprintf(&out, "\x1b[%d;%dH▣ab%02d 1×1\x1b[%d;1H\x1bPq#1!%d~\x1b\\", i%24+1, i%70+1, i%78/10*10+i%6+2, i%24+1, i+1)
	}
	out.WriteString("\x1b[2J\x1b[H\x1bPq\"1;1;60000;60000~\x1b\\\r\n\x1b]1337;File=inline=1:PHN2Zz4=\a\r\nend\r\n")
	s.ssh("new", "-d", "-n", "evil", "--", "cat "+s.file("evil", out.String())+" -")
	p := s.open(s.ticket("evil") + "&debug=screen").ready()
	p.shows("evil", "end")
	if log := s.ssh("log", "evil"); !strings.Contains(log, "▣ 60000×60000─") || !strings.Contains(log, "▣ picture") {
		t.Errorf("what nobody draws has no box in the log: %.2000q", log)
	}
	p.draws("evil")
	p.sameAs(s, "evil")
	if n := eval[int](p, `document.querySelectorAll('img').length`); n > 40 {
		t.Errorf("the page has %d pictures", n)
	}
}
