package pagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest/slowtest"
)

// needsName has the roles that say nothing without a name.
var needsName = []string{"button", "checkbox", "combobox", "ComboBoxSelect", "dialog", "DisclosureTriangle", "link", "list",
	"menuitem", "navigation", "radio", "radiogroup", "region", "searchbox", "slider", "spinbutton", "splitter", "tab",
	"tablist", "textbox", "toolbar"}

// named checks that all that the page shows now has a name in the accessibility tree, and returns
// how many of such there are.
func (p *tab) named(where string) int {
	p.t.Helper()
	var tree accessibility.GetFullAXTreeResult
	p.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) (err error) {
		tree, err = cdp.Call(ctx, t, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		return err
	}))
	text := func(v *accessibility.Value) (s string) {
		if v != nil {
			_ = json.Unmarshal(v.Value, &s) // what is no string is no name
		}
		return s
	}
	n := 0
	for _, node := range tree.Nodes {
		role := text(node.Role)
		if node.Ignored || !slices.Contains(needsName, role) {
			continue
		}
		n++
		if text(node.Name) == "" {
			p.t.Errorf("%s: a %s has no name; it contains %d others", where, role, len(node.ChildIDs))
		}
	}
	return n
}

// contrast is the least contrast between visible text and what is behind it, with the text that has
// it (WCAG 2.2, "contrast ratio"). What programs draw is not the page's.
const contrast = `(() => {
	const parse = (c) => { const n = c.match(/[\d.]+(?:e-?\d+)?/g).map(Number), srgb = c.startsWith('color(');
		return [...n.slice(0, 3).map(v => srgb ? v * 255 : v), n[3] ?? 1] };
	const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
	const back = (el) => { const c = parse(getComputedStyle(el).backgroundColor);
		return c[3] === 1 ? c : over(c, el.parentElement ? back(el.parentElement) : [255, 255, 255, 1]) };
	const light = (c) => c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const walk = document.createTreeWalker(document.querySelector('dialog') ?? document.body, NodeFilter.SHOW_TEXT);
	let least = [99, ''], n = 0;
	while (walk.nextNode()) {
		const el = walk.currentNode.parentElement;
		if (!walk.currentNode.data.trim() || !el.checkVisibility({ opacityProperty: true }) ||
			el.closest('.xterm, :disabled, noscript')) continue;
		const below = back(el), a = light(over(parse(getComputedStyle(el).color), below)), b = light(below);
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		n++;
		if (ratio < least[0]) least = [ratio, el.outerHTML.slice(0, 200)];
	}
	return { ratio: least[0], text: least[1], texts: n };
})()`

// readable checks that all text of the page can be read.
func (p *tab) readable(where string, least float64) {
	p.t.Helper()
	got := eval[struct {
		Ratio float64
		Text  string
		Texts int
	}](p, contrast)
	if got.Ratio < least || got.Texts < 5 {
		p.t.Errorf("%s: %d texts, one of contrast %.2f: %s", where, got.Texts, got.Ratio, got.Text)
	}
}

// TestEverythingHasANameAndCanBeRead goes through the page's states: everything has a name for a
// screen reader, and the contrast of WCAG AA, in high contrast AAA.
func TestEverythingHasANameAndCanBeRead(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	axe := newAxe(t)
	s := newSite(t)
	for _, name := range []string{"build", "logs", "ask"} {
		s.ssh("new", "-d", "-n", name)
	}
	s.ssh("new", "-d", "-n", "done", "--", "true")
	p := s.open(s.ticket("build", "done") + "&debug=screen")
	p.prefers("light")
	p.ready().shows("build", "# ")
	p.takesIt()
	p.until(`document.querySelector('.pane.held')`)
	p.typeLine("build", "false")
	p.command("false", "failed 1")
	p.typeLine("build", "(kill -9 $BASHPID); sleep 1000")
	s.ssh("send", "--enter", "ask", "read -s x")
	p.until(`document.querySelector('.entry .needs')`)
	p.beside("logs")

	choose := func(entry string) {
		p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`[...document.querySelectorAll('.pane.focused [role=menuitem]')].find(
			(m) => m.textContent.startsWith(%q)).click()`, entry)))
	}
	states := []struct {
		name string
		open func()
	}{
		{"two panes", func() {}},
		{"the menu", func() { p.run(chromedp.Click(chromedp.CSS(`.pane.focused .menu summary`))) }},
		{"a question", func() { choose("Rename") }},
		{"keys", func() { p.click("button", "Keys") }},
		{"settings", func() { p.click("button", "Settings") }},
		{"plain text", func() { choose("Plain text") }},
		{"replay", func() { choose("Replay"); p.until(`document.querySelector('.replay')`) }},
		{"output", func() {
			p.clickNow(`.entry[aria-label^="done,"]`)
			p.clickNow(`.entry[aria-label^="build,"]`)
			p.shows("build", "# ")
			p.clickNow(`.pane [data-command] button`)
			p.until(`document.querySelector('.output .text')?.checkVisibility()`)
		}},
	}
	for _, state := range states {
		state.open()
		if n := p.named(state.name); n < 3 {
			t.Errorf("%s: only %d things that need a name", state.name, n)
		}
		axe.check(p, state.name)
		for _, c := range []struct {
			theme string
			least float64
		}{{"light", 4.5}, {"dark", 4.5}, {"contrast", 7}} {
			eval[bool](p, fmt.Sprintf(module("theme.js")+`.then(({ settings }) => { settings.set({ theme: %q }); return true })`, c.theme))
			p.readable(state.name+" in "+c.theme, c.least)
			p.shot("state-" + state.name + "-" + c.theme)
		}
		p.keys("\x1b")
		p.until(`!document.querySelector('dialog')`)
		eval[bool](p, module("theme.js")+`.then(({ settings }) => { settings.set({ theme: 'light' }); return true })`)
	}
	eval[bool](p, module("theme.js")+`.then(({ settings }) => { settings.set({ theme: 'contrast' }); return true })`)
	p.phone()
	p.until(`document.querySelector('.compose').checkVisibility()`)
	p.named("a phone")
	axe.check(p, "a phone")
	p.readable("a phone", 7)
	p.click("button", "Settings")
	p.shot("phone-settings")
	p.named("settings on a phone")
	axe.check(p, "settings on a phone")
	p.readable("settings on a phone", 7)
}

// TestTabReachesEverything goes with the keyboard alone from the list to each pane, and has been at
// everything that has a place in the order of the Tab key.
func TestTabReachesEverything(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	s.ssh("new", "-d", "-n", "logs")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	s.ssh("send", "--enter", "build", "true")
	p.command("true", "ok 0")
	p.beside("logs")
	p.inTerminal("logs")
	eval[bool](p, module("theme.js")+`.then(({ settings }) => { settings.set({ keys: 'always' }); return true })`)
	// Things are drawn anew, so that they are told by their names; a list is one stop.
	p.run(chromedp.Evaluate[chromedp.Void](`(() => {
		window.stop = (e) => { const stop = e.closest('[role=list]') ?? e;
			return [stop.closest('.pane')?.ariaLabel, stop.ariaLabel || stop.title || stop.textContent].join(': ') };
		window.reached = new Set();
		document.addEventListener('focusin', (e) => reached.add(stop(e.target)));
	})()`))
	const atTerminal = `[data-terminal] textarea`
	p.commands("l")
	p.focused(`[aria-label=Filter]`)
	p.tabTo(`button[title="New terminal"]`, shift)
	p.tabTo(atTerminal, 0)
	p.inTerminal("build")
	for _, toward := range []int64{0, shift} { // on, and back to what lies between the panes
		p.prefix()
		p.press("ArrowRight", 39, 0)
		p.inTerminal("logs")
		p.commands("b")
		p.focused(`.pane.focused .bar :is(button, summary)`)
		p.tabTo(atTerminal, toward)
	}
	missed := eval[string](p, `[...document.querySelectorAll('button, input, select, textarea, summary, a, [tabindex]')].filter(
		(e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ visibilityProperty: true }) && !reached.has(stop(e)))
		.map((e) => e.outerHTML.slice(0, 150)).join('\n')`)
	if missed != "" {
		t.Errorf("Tab does not lead to\n%s", missed)
	}
	if n := eval[int](p, "reached.size"); n < 20 {
		t.Errorf("it has been at %d things only", n)
	}
}
