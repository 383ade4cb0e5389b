package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestAReplayShowsWhatTheTerminalHasShown(t *testing.T) {
	slow(t)
	browser(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	p.click("button", "Take the keyboard")
	p.until(`document.querySelector('.pane.held')`)
	var marks []string // the screens when each command had begun
	for _, line := range []string{"echo first", "false", "seq 300; echo three'hundred'"} {
		p.typeLine("build", line)
		p.command(line, map[bool]string{true: "failed 1", false: "ok 0"}[line == "false"])
		marks = append(marks, line)
	}
	p.shows("build", "threehundred")
	p.sameAs(s, "build")
	end := p.screen("build")

	p.run(chromedp.Click(chromedp.CSS(`.menu summary`)))
	p.click("menuitem", "Replay")
	const replay = "replay of build"
	p.shows(replay, "threehundred")
	if got := p.screen(replay); got != end {
		t.Errorf("it ends with\n%s\nand not with\n%s", got, end)
	}
	for i, line := range marks {
		p.run(chromedp.Click(chromedp.CSS(fmt.Sprintf(`.replay .marks button:nth-child(%d)`, i+1))))
		p.until(fmt.Sprintf(`document.querySelector('[data-terminal=%q] [data-screen]').dataset.screen.trimEnd().endsWith(%q)`, replay, line))
		if i == 1 {
			p.shot("replay")
		}
	}
	p.run(chromedp.Evaluate[chromedp.Void](`(() => { const s = document.querySelector('.replay input[type=range]');
		s.value = s.max; s.dispatchEvent(new Event('input')); })()`))
	p.until(fmt.Sprintf(`document.querySelector('[data-terminal=%q] [data-screen]').dataset.screen.trimEnd() === %q`, replay, end))
	p.click("button", "Live")
	p.until(`!document.querySelector('.replay')`)

	// What is saved is what the host has.
	p.run(chromedp.Evaluate[chromedp.Void](`URL.createObjectURL = (blob) => { blob.text().then((t) => { window.saved = t }); return '' };
		HTMLAnchorElement.prototype.click = () => {}`))
	for form, want := range map[string]string{"Save as text": s.ssh("log", "build"), "Save raw": s.ssh("log", "--raw", "build")} {
		p.run(chromedp.Evaluate[chromedp.Void](`window.saved = undefined`), chromedp.Click(chromedp.CSS(`.menu summary`)))
		p.click("menuitem", form)
		p.until(`window.saved !== undefined`)
		if got := eval[string](p, `window.saved`); got != want {
			t.Errorf("%s gives\n%q\nand not\n%q", form, got, want)
		}
	}
	p.run(chromedp.Evaluate[chromedp.Void](`window.saved = undefined`), chromedp.Click(chromedp.CSS(`.menu summary`)))
	p.click("menuitem", "Save as cast")
	p.until(`window.saved !== undefined`)
	if got := eval[string](p, `window.saved`); !strings.HasPrefix(got, `{"version":2,"width":`) ||
		!strings.Contains(got, `"o","first\r\n`) && !strings.Contains(got, "first") || !strings.Contains(got, `"m","false"`) {
		t.Errorf("the cast is %q", got)
	}
}
