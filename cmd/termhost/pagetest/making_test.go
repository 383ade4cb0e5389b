package pagetest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// shares waits until the panes have these parts of what they have together.
func (p *tab) shares(size string, want ...float64) {
	p.t.Helper()
	parts, err := json.Marshal(want)
	hosttest.Check(p.t, err)
	p.until(fmt.Sprintf(`(() => { const want = %s, got = [...document.querySelectorAll('.pane')].map((e) => e.getBoundingClientRect().%s);
		const all = got.reduce((a, b) => a + b, 0);
		return got.length === want.length && got.every((size, i) => Math.abs(size / all - want[i]) < 0.02) })()`, parts, size))
}

// TestANewTerminalIsThereAtOnce splits, and makes others: without a question, where the terminal is
// from which it was asked for, with the keyboard, and with the same room as those beside it.
func TestANewTerminalIsThereAtOnce(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	dir := filepath.Join(s.dir, "a dir")
	hosttest.Check(t, os.Mkdir(dir, 0o700))
	s.ssh("new", "-d", "-n", "build", "-C", "'"+dir+"'")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.window(3000, 900)
	p.shows("build", "dir# ")
	where := func(name, line, want string) {
		t.Helper()
		p.inTerminal(name)
		p.until(held(name))
		p.shows(name, "# ")
		p.keys(line + "\r")
		p.shows(name, want)
	}
	p.click("button", "Split")
	where("web-1", "pwd", "\n"+dir+"\n")
	p.shares("width", 1./2, 1./2)
	frame := `getComputedStyle(document.querySelector('.pane:has([data-terminal=%q])'), '::before').content !== 'none'`
	p.until(fmt.Sprintf(frame, "web-1") + ` && !(` + fmt.Sprintf(frame, "build") + `)`)
	p.run(chromedp.Click(chromedp.CSS(`.pane.focused [title=Split]`)))
	where("web-2", "cd /; rmdir '"+dir+"'; echo gone$((1+1))", "gone2")
	p.shares("width", 1./3, 1./3, 1./3)
	p.shot("split")

	// Room that a person has given stays given.
	p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('.stage > .split > .border').dispatchEvent(
		new KeyboardEvent('keydown', { key: 'ArrowRight' }))`))
	p.shares("width", 0.358, 0.358, 0.283)
	p.run(chromedp.Click(chromedp.CSS(`.pane.focused [title=Split]`)))
	where("web-3", "pwd", "\n/\n")
	p.shares("width", 0.358, 0.358, 0.142, 0.142)
	p.run(chromedp.Click(chromedp.CSS(`.pane.focused [aria-label="Close this view"]`)))
	p.shares("width", 0.358, 0.358, 0.283)
	p.run(chromedp.DoubleClick(chromedp.CSS(`.stage > .split > .border`)))
	p.shares("width", 0.25, 0.25, 0.5)

	// Where the directory is gone it begins at home.
	p.showing("#/build?debug=screen")
	p.shows("build", "# ")
	p.click("button", "New terminal")
	where("web-4", "pwd", "\n"+s.dir+"\n")
	if eval[bool](p, `!!document.querySelector('dialog, .notices p')`) {
		t.Error("something is asked, or told")
	}
}

// TestTheEdgeOfAnotherSizeIsDrawn: what has another size than its pane has an edge and Fit.
func TestTheEdgeOfAnotherSizeIsDrawn(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	p.until(`document.querySelector('.edged') && document.querySelector('.bar .size').innerText === '80×24'`)
	if eval[bool](p, `document.querySelector('.commands').checkVisibility()`) {
		t.Error("the commands are shown though there is none")
	}
	p.click("button", "Commands") // which says why there is none
	p.until(`document.querySelector('.commands .empty').checkVisibility()`)
	p.click("button", "Commands")
	p.until(`!document.querySelector('.commands').checkVisibility()`)
	p.click("button", "Commands")

	p.run(chromedp.Click(chromedp.CSS(`.bar .fit`)))
	p.until(held("build"))
	p.until(`!document.querySelector('.edged') && !document.querySelector('.fit').checkVisibility()`)
	p.until(`document.querySelector('.bar .size').innerText !== '80×24'`)
	p.sameAs(s, "build")

	// A person whose window is another one sees the edge; it is not theirs to move.
	q := s.open(s.ticket("build") + "&debug=screen")
	q.window(900, 600)
	q.ready().until(`document.querySelector('.edged') && document.querySelector('.fit').checkVisibility()`)
	q.run(chromedp.Click(chromedp.CSS(`.bar .fit`)))
	q.until(`document.querySelector('.notices')?.innerText.includes('The keyboard is with root/page')`)
	q.shot("edge")
	r := s.open(s.ticket("--role", "observer", "build") + "&debug=screen").ready()
	r.window(900, 600)
	r.until(`document.querySelector('.edged') && !document.querySelector('.fit').checkVisibility()`)
}
