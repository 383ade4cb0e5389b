package pagetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest/slowtest"
)

// The separators of powerline prompts are drawn where no other font has them, as wide as a cell.
func TestPowerlinesSeparatorsAreDrawn(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	const all = "\ue0a0\ue0a1\ue0a2\ue0b0\ue0b1\ue0b2\ue0b3\ue0b4\ue0b5\ue0b6\ue0b7\ue0b8\ue0b9\ue0ba\ue0bb\ue0bc\ue0bd\ue0be\ue0bf"
	s.ssh("new", "-d", "-n", "prompt", "--", "cat "+s.file("prompt", "\x1b[44m build \x1b[34;42m\ue0b0\x1b[30m main \x1b[32;49m\ue0b0\x1b[m ls\r\n"+all+"|\r\nend\r\n")+" -")
	p := s.open(s.ticket("prompt") + "&debug=screen").ready()
	p.shows("prompt", "end")
	p.until(`[...document.fonts].find((f) => f.family.includes('termhost symbols')).load().then(() => true)`)
	// Alone, so that no font of this machine has them instead.
	got := eval[string](p, fmt.Sprintf(`(() => {
		const c = document.createElement('canvas').getContext('2d', { willReadFrequently: true }), bad = [];
		c.font = '100px "termhost symbols"';
		for (const char of %q) {
			c.clearRect(0, 0, 200, 200);
			c.fillText(char, 20, 120);
			const inked = c.getImageData(0, 0, 200, 200).data.some((v, i) => i %% 4 === 3 && v > 100);
			if (!inked || Math.round(c.measureText(char).width) !== 60) bad.push(char.codePointAt(0).toString(16));
		}
		return bad.join() })()`, all))
	if got != "" {
		t.Errorf("not drawn, or as wide as a cell: %s", got)
	}
	p.sameAs(s, "prompt")
	p.shot("powerline")
}

// Right-to-left text stands in its cells, unless somebody wants it joined.
func TestRightToLeftTextIsJoinedWhereThatIsWanted(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "text", "--", "cat "+s.file("text", "العربية שלום\r\nend\r\n")+" -")
	p := s.open(s.ticket("text") + "&debug=screen").ready()
	p.shows("text", "end")
	const row = `getComputedStyle(document.querySelector('[data-terminal=text] .xterm-rows span'))`
	p.until(row + `.unicodeBidi === 'bidi-override'`)
	p.click("button", "Settings")
	p.run(chromedp.Click(`//label[contains(., "right-to-left")]//input`))
	p.until(row + `.unicodeBidi !== 'bidi-override'`)
	p.click("button", "Done")
	p.sameAs(s, "text")
	p.shot("joined")
	p.run(chromedp.Reload())
	p.ready().shows("text", "end")
	p.until(row + `.unicodeBidi !== 'bidi-override'`)
}

// Long lines of an output wrap, or are scrolled to; and so are those of the history.
func TestLongLinesWrapOnRequest(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	s.ssh("send", "--enter", "build", "source", s.file("long", "printf '%0900d\\n' 7\n"))
	p.until(`document.querySelector('[data-command] button')`)
	p.clickNow(`[data-command] button`)
	const text, wide = `document.querySelector('.output:not([hidden]) .text')`, `%s.scrollWidth > %[1]s.clientWidth + 50`
	p.until(text + `.innerText.includes('0007')`)
	for i, want := range []bool{true, false, true} {
		if i > 0 {
			p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('.output:not([hidden]) [aria-label="Wrap long lines"]').click()`))
		}
		if got := eval[bool](p, fmt.Sprintf(wide, text)); got != want {
			t.Errorf("the output, after %d clicks: it has to be scrolled: %v", i, got)
		}
	}
	p.shot("output-wide")
	p.keys("\x1b")
	p.menu("History")
	p.until(text + `.innerText.includes('0007')`)
	for i, want := range []bool{false, true, false} {
		if i > 0 {
			p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('.lines [aria-label="Wrap long lines"]').click()`))
		}
		p.until(fmt.Sprintf(`(`+wide+`) === %v`, `document.querySelector('.lines .text')`, want))
	}
	if name := eval[string](p, `document.querySelector('.lines [aria-label="Wrap long lines"]').getAttribute('aria-pressed')`); !strings.Contains(name, "true") {
		t.Errorf("it is said to be %s", name)
	}
}
