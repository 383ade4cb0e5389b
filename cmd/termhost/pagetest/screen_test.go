package pagetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/debugger"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// TestTheWidthCorpusIsDrawnAsTheHostDrawsIt compares the page's screen with the host's, cell by
// cell: each line ends at a column of its own. It does so with what comes live, after a snapshot,
// after a resynchronisation and after a restart of the host.
func TestTheWidthCorpusIsDrawnAsTheHostDrawsIt(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	var corpus strings.Builder
	for line := range strings.Lines(widthCorpus) {
		fmt.Fprintf(&corpus, "%s\x1b[30G<\n", strings.TrimSuffix(line, "\n"))
	}
	hosttest.Check(t, os.WriteFile(filepath.Join(s.dir, "corpus"), []byte(corpus.String()), 0o600))
	s.ssh("new", "-d", "-n", "wide")
	p := s.open(s.ticket("wide") + "&debug=screen").ready()
	p.shows("wide", "# ")
	p.takes("wide")
	p.until(`document.querySelector('.pane .size').textContent !== '80×24'`) // all of it fits
	p.typeLine("wide", "clear; cat corpus; echo live $((1+1))")
	p.shows("wide", "live 2")
	p.sameAs(s, "wide")
	if got := p.screen("wide"); !strings.Contains(got, "日本語|                      <") {
		t.Errorf("the corpus is not on the screen:\n%s", got)
	}

	p.run(chromedp.Reload())
	p.ready().shows("wide", "live 2")
	p.sameAs(s, "wide")

	// A page that has stopped falls behind its terminal's log.
	var again atomic.Int32
	hosttest.Check(t, chromedp.Listen(p.Context, func(ev any) {
		switch ev := ev.(type) {
		case *network.EventWebSocketFrameReceived:
			if strings.Contains(string(ev.Response.PayloadData), "terminal/cleared") {
				again.Add(1)
			}
		case *network.EventWebSocketCreated:
			again.Add(1)
		}
	}))
	answer(p, debugger.Enable, debugger.EnableParams{})
	p.run(devtools(debugger.Pause, struct{}{}))
	s.ssh("send", "--enter", "wide", "clear; seq 1500000; cat corpus; echo flooded $((1+1))")
	hosttest.Eventually(t, "the flood is over", func() bool { return strings.Contains(s.ssh("peek", "wide"), "flooded 2") })
	p.run(devtools(debugger.Resume, debugger.ResumeParams{}), devtools(debugger.Disable, struct{}{}))
	p.shows("wide", "flooded 2")
	p.sameAs(s, "wide")
	if again.Load() == 0 {
		t.Error("the page was not resynchronised")
	}

	s.crash()
	p.until(`document.documentElement.dataset.termhost === "lost"`)
	s.start()
	p.ready()
	p.sameAs(s, "wide")
	p.typeLine("wide", "clear; cat corpus; echo restarted $((1+1))")
	p.shows("wide", "restarted 2")
	p.sameAs(s, "wide")
	p.run(chromedp.Reload())
	p.ready().shows("wide", "restarted 2")
	p.sameAs(s, "wide")
}

// TestFullScreenProgramsAreDrawnAsTheHostDrawsThem uses vim and less, and leaves them to the host
// while another tab is looked at.
func TestFullScreenProgramsAreDrawnAsTheHostDrawsThem(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	slowtest.Programs(t, "vim", "less")
	s := newSite(t)
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "\t%d %s\n", i, strings.Repeat("wörds 日本 ", i%12))
	}
	hosttest.Check(t, os.WriteFile(filepath.Join(s.dir, "text"), []byte(text.String()), 0o600))
	s.ssh("new", "-d", "-n", "work")
	s.ssh("new", "-d", "-n", "other")
	p := s.open(s.ticket("work", "other") + "&debug=screen").ready()
	p.shows("work", "# ")
	p.takes("work")
	same := func(what string) {
		p.t.Helper()
		p.shows("work", what)
		p.sameAs(s, "work")
		p.click("tab", "other")
		p.shows("other", "# ")
		p.click("tab", "work")
		p.shows("work", what)
		p.sameAs(s, "work")
	}
	p.typeLine("work", "LC_ALL=C.UTF-8 vim -u NONE -N -n -c 'syntax on' -c 'set number laststatus=2 ruler' text")
	same("200L")
	p.typeLine("work", ":vsplit | wincmd l | normal 50G")
	same("50,2-9")
	p.keys("ggVjj")
	same("VISUAL")
	p.keys("\x1b")
	p.typeLine("work", ":qa!")
	p.until(`!document.querySelector('[data-screen]').dataset.screen.includes('VISUAL') && document.querySelector('[data-screen]').dataset.screen.trimEnd().endsWith('#')`)
	p.sameAs(s, "work")

	p.typeLine("work", "LC_ALL=C.UTF-8 less -RM text")
	same("text lines 1-")
	p.typeLine("work", "/100")
	same("text lines 101-")
	p.keys("q")
	p.typeLine("work", "echo back $((1+1))")
	same("back 2")
}

// TestAFullScreenProgramThatHasRunForLongIsShown opens a page when the beginning of what a program
// has drawn is long gone from what the host keeps.
func TestAFullScreenProgramThatHasRunForLongIsShown(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "work", "--", `echo before; stty raw -echo; printf '\033[?1049h\033[?2004h\033[?25l\033[3;5Htitle'
		awk 'BEGIN { for (i = 0; i < 60000; i++) printf "\033[10;20H\033[3%dm%-70d\033[m", i % 8, i }'
		printf '\033[12;1Hdrawn'; IFS= read -r -n 1 key; printf '\033[?1049l\033[?2004lafter\r\n'; exec cat`)
	hosttest.Eventually(t, "it is drawn", func() bool { return strings.Contains(s.ssh("peek", "work"), "drawn") })
	p := s.open(s.ticket("work") + "&debug=screen").ready()
	p.shows("work", "drawn")
	p.sameAs(s, "work")
	p.takes("work")
	p.until(`document.querySelector('.pane .size').textContent !== '80×24'`)
	p.sameAs(s, "work")
	p.run(chromedp.Focus(chromedp.CSS(`[data-terminal=work] textarea`)))
	p.keys("x")
	p.shows("work", "after")
	p.sameAs(s, "work")
}

// TestTheMouseSelectsInATerminalOfAnotherSize selects, and clicks for a program, where a small page
// shows the terminal of a large one: with small letters, and scrolled.
func TestTheMouseSelectsInATerminalOfAnotherSize(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "work", "--", `read go; size=$(stty size); stty raw -echo
		awk -v rows=${size% *} -v cols=${size#* } 'BEGIN { printf "\033[H\033[J"; for (y = 1; y <= rows; y++) for (x = 1; x + 4 <= cols; x += 5)
			printf "\033[%d;%dH%02d%02d", y, x, y, x }'; exec cat -v`)
	p := s.open(s.ticket("work") + "&debug=screen")
	p.window(1900, 1000)
	p.ready()
	p.until(`document.querySelector('.pane .size').textContent === '80×24'`)
	p.takes("work")
	p.until(`document.querySelector('.pane .size').textContent !== '80×24'`)
	p.typeLine("work", "")
	p.shows("work", "2051")
	p.sameAs(s, "work")

	q := s.open(s.ticket("work") + "&debug=screen")
	q.window(640, 420)
	q.ready().shows("work", "2051")
	q.sameAs(s, "work")
	for _, at := range []struct{ row, col int }{{2, 6}, {20, 51}, {40, 96}} {
		q.drag("work", at.row, at.col, at.row, at.col+4)
		want := fmt.Sprintf("%02d%02d", at.row, at.col)
		if got := q.copied("work"); strings.TrimSpace(got) != want {
			t.Errorf("at row %d, column %d %q was selected, want %q", at.row, at.col, got, want)
		}
	}
	q.shot("selected")

	// The program is told of the cell that was clicked, by whom holds the keyboard only.
	s.ssh("new", "-d", "-n", "mouse", "--", `printf '\033[?1000h\033[?1006hready\r\n'; stty raw -echo; exec cat -v`)
	m := s.open(s.ticket("mouse") + "&debug=screen").ready()
	m.shows("mouse", "ready")
	m.drag("mouse", 3, 3, 3, 3)
	m.takes("mouse")
	m.drag("mouse", 7, 11, 7, 11)
	m.shows("mouse", "^[[<0;11;7M^[[<0;11;7m")
	if screen := m.screen("mouse"); strings.Contains(screen, "<0;3;3") {
		t.Errorf("a click of somebody who only looks has arrived:\n%s", screen)
	}
}

// copied returns what Ctrl-Shift-C copies in a terminal.
func (p *tab) copied(name string) string {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](`window.copied = undefined;
		navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve() }`),
		chromedp.Focus(chromedp.CSS(fmt.Sprintf(`[data-terminal=%q] textarea`, name))),
		devtools(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown,
			Key: "C", Code: "KeyC", Modifiers: 2 | 8, WindowsVirtualKeyCode: 67}))
	p.until(`window.copied !== undefined`)
	return eval[string](p, `window.copied`)
}

// drag presses the mouse at one cell of a terminal and releases it at another one.
func (p *tab) drag(name string, fromRow, fromCol, toRow, toCol int) {
	p.t.Helper()
	at := func(row, col int) (x, y float64) {
		p.t.Helper()
		xy := eval[[]float64](p, fmt.Sprintf(`(() => {
			const view = document.querySelector('[data-terminal=%q]'), el = view.querySelector('.xterm-screen');
			const rows = view.querySelector('.xterm-rows').children.length, cols = %s;
			let box = el.getBoundingClientRect();
			view.scrollTo((%[4]d - .5) / cols * box.width - view.clientWidth / 2, (%[3]d - .5) / rows * box.height - view.clientHeight / 2);
			box = el.getBoundingClientRect();
			return [box.left + (%[4]d - .9) / cols * box.width, box.top + (%[3]d - .5) / rows * box.height];
		})()`, name, `Number(document.querySelector('.pane .size').textContent.split('×')[0])`, row, col))
		return xy[0], xy[1]
	}
	x, y := at(fromRow, fromCol)
	mouse := func(kind input.DispatchMouseEventType, x, y float64) {
		p.t.Helper()
		p.run(devtools(input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: input.MouseButtonLeft,
			Buttons: 1, ClickCount: 1}))
	}
	mouse(input.DispatchMouseEventTypeMousePressed, x, y)
	if fromRow != toRow || fromCol != toCol {
		x, y = at(toRow, toCol)
		mouse(input.DispatchMouseEventTypeMouseMoved, x, y)
	}
	mouse(input.DispatchMouseEventTypeMouseReleased, x, y)
}

// TestRightToLeftTextStandsInItsCells measures where the browser draws letters: in the cells in
// which the screen has them, as the program meant, whatever their script. What is selected is in
// the order in which the program wrote it.
func TestRightToLeftTextStandsInItsCells(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	const line = "ls \u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd (12) \u0627\u0644\u0639\u0631\u0628\u064a\u0629 - end"
	text := s.file("text", line+"\n"+strings.Replace(line, "\u05dc\u05d5", "\x1b[1;31m\u05dc\u05d5\x1b[m", 1)+"\n")
	s.ssh("new", "-d", "-n", "work", "--", "cat", text, "-")
	p := s.open(s.ticket("work") + "&debug=screen").ready()
	p.shows("work", line+"\n"+line)
	p.sameAs(s, "work")

	// Each character of the line takes one cell.
	const cells = `(() => {
		const screen = document.querySelector('.xterm-screen').getBoundingClientRect(), cell = screen.width / 80, at = [];
		const walk = document.createTreeWalker(document.querySelectorAll('.xterm-rows > div')[%d], NodeFilter.SHOW_TEXT);
		for (let node = walk.nextNode(); node; node = walk.nextNode()) {
			for (let i = 0; i < node.data.length; i++) {
				const range = document.createRange();
				range.setStart(node, i);
				range.setEnd(node, i + 1);
				const [box] = range.getClientRects();
				at[Math.floor((box.left + box.right - 2 * screen.left) / 2 / cell)] = node.data[i];
			}
		}
		return Array.from(at, (c) => c ?? '?').join('').trimEnd() })()`
	for row := range 2 {
		p.until(fmt.Sprintf(cells+" === %q", row, line))
	}
	p.shot("right-to-left")

	p.drag("work", 2, 4, 2, 8)
	if got, want := p.copied("work"), "\u05e9\u05dc\u05d5\u05dd"; strings.TrimSpace(got) != want {
		t.Errorf("%+q is copied, want %+q", got, want)
	}
}
