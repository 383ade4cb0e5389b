package pagetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"termhost/ahp/hosttest/slowtest"
)

// enter presses Enter, holds it for some repeats, and lets it go. What comes of the key goes to
// what has the focus then, as in a browser.
func (p *tab) enter(repeats int) {
	p.t.Helper()
	for _, e := range kb.Encode('\r') {
		if e.Type == kb.KeyChar {
			continue
		}
		e.Text, e.UnmodifiedText = "", ""
		if e.Type == kb.KeyDown {
			e.Text, e.UnmodifiedText = "\r", "\r"
		}
		p.run(devtools(input.DispatchKeyEvent, *e))
		for range repeats {
			e.AutoRepeat = new(true)
			if e.Type == kb.KeyDown {
				p.run(devtools(input.DispatchKeyEvent, *e))
			}
		}
	}
}

// TestAKeyOfThePageReachesNoProgram presses Enter, and holds it, in everything of the page that
// then leads back to the terminal. A half-typed line there is not run.
func TestAKeyOfThePageReachesNoProgram(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "other")
	e := s.echoing("work")
	focused := `document.activeElement.closest('[data-terminal=work]')`
	noDialog := `!document.querySelector('dialog')`
	for _, repeats := range []int{0, 3} {
		e.menu("Rename")
		e.until(`document.activeElement.matches('dialog input')`)
		e.keys("a title")
		e.enter(repeats)
		e.until(noDialog)
		e.has("")

		e.run(chromedp.Focus(chromedp.CSS(`[aria-label=Filter]`)))
		e.keys("work")
		e.enter(repeats)
		e.until(focused)
		e.has("")
		e.run(chromedp.Evaluate[chromedp.Void](`(() => { const f = document.querySelector('[aria-label=Filter]');
			f.value = ''; f.dispatchEvent(new Event('input')) })()`))

		e.run(chromedp.Focus(chromedp.CSS(`.entry[aria-label^=work]`)))
		e.enter(repeats)
		e.until(focused)
		e.has("")

		e.run(chromedp.Focus(chromedp.CSS(`.bar summary`)))
		e.enter(0)
		e.until(`document.activeElement.matches('[role=menuitem]')`)
		e.run(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('[role=menuitem]')].find((m) =>
			m.innerText.startsWith('Plain text')).focus()`))
		e.enter(repeats)
		e.until(`document.activeElement.matches('.plain .text')`)
		e.run(chromedp.Focus(chromedp.CSS(`[aria-label="Close the text"]`)))
		e.enter(repeats)
		e.until(focused)
		e.has("")

		// A key that is held makes one terminal, and types nothing into it.
		e.run(chromedp.Focus(chromedp.CSS(`[aria-label="New terminal"]`)))
		e.enter(repeats)
		name := fmt.Sprintf("web-%d", 1+min(repeats, 1))
		e.inTerminal(name)
		e.shows(name, "# ")
		if got := s.ssh("peek", name); strings.Count(got, "#") != 1 {
			t.Errorf("the new terminal shows %q", got)
		}
		if got := s.list(); len(got) != 3+min(repeats, 1) {
			t.Errorf("after an Enter with %d repeats there are %+v", repeats, got)
		}
		e.click("tab", "work")
		e.shows("work", "<0>")
	}
}

// TestAPrefixedKeyIsNotTypedIntoThePage has screen readers told of what is printed: xterm.js then
// leaves it to the browser to insert what a key has typed.
func TestAPrefixedKeyIsNotTypedIntoThePage(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	e := s.echoing("work")
	e.click("button", "Settings")
	e.run(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('dialog label.check')].find((l) =>
		l.innerText.includes('Tell screen readers')).querySelector('input').click()`))
	e.click("button", "Done")
	e.has("")
	e.prefix()
	e.keys("l")
	e.until(`document.activeElement.matches('[aria-label=Filter]')`)
	if got := eval[string](e.tab, `document.activeElement.value`); got != "" {
		t.Errorf("the key that leads to the filter has typed %q into it", got)
	}
	// A character that is typed in the list goes on to the filter, once.
	e.keys(kb.ArrowDown)
	e.until(`document.activeElement.matches('.entry')`)
	e.keys("wo")
	e.until(`document.activeElement.value === 'wo'`)
	e.has("")
}

// TestAFieldKeepsTheFocus has the host answer, the window change and a view be drawn while somebody
// writes: what they write goes on where they write it.
func TestAFieldKeepsTheFocus(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	e := s.echoing("work")
	e.run(chromedp.Focus(chromedp.CSS(`[aria-label=Filter]`)))
	e.keys("wo")
	e.run(devtools(emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true}))
	e.until(`matchMedia('(pointer: coarse)').matches`)
	e.keys("r")
	e.until(`document.activeElement.value === 'wor'`)
	e.run(devtools(emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{}))
	e.until(`!matchMedia('(pointer: coarse)').matches`)
	// What the page asks the host for comes late. No claim of an admin's crosses one of an operator's.
	e = &echo{s.open(s.ticket("--role", "admin", "work") + "&debug=screen").ready(), "work", e.marks}
	e.until(`document.querySelector('.pane:not(.held, .unused) .who').textContent`)
	e.run(chromedp.Focus(chromedp.CSS(`[aria-label=Filter]`)))
	e.keys("wor")
	e.run(chromedp.Evaluate[chromedp.Void](`(() => { const send = WebSocket.prototype.send;
		window.late = []; WebSocket.prototype.send = function (m) { late.push(() => send.call(this, m)) };
		window.release = () => { WebSocket.prototype.send = send; for (const f of late) f() } })()`))
	e.takesIt()
	e.run(chromedp.Focus(chromedp.CSS(`[aria-label=Filter]`)))
	e.run(chromedp.Evaluate[chromedp.Void](`release()`))
	e.until(held("work"))
	e.keys("k")
	e.until(`document.activeElement.value === 'work'`)
	e.has("")
}
