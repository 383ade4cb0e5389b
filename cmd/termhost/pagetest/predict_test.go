package pagetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest/slowtest"
)

// predicted keeps, from now on, what keys were shown before they were echoed.
func (p *tab) predicted() (all func() string) {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](`window.predicted = [], new MutationObserver(() => {
		for (const el of document.querySelectorAll('.predicted:not([hidden])')) predicted.push(el.textContent);
	}).observe(document.body, { subtree: true, childList: true, attributes: true })`))
	return func() string { return strings.Join(eval[[]string](p, `window.predicted.splice(0)`), "\n") }
}

// TestKeysAreShownBeforeTheyAreEchoed: on a line that is far away keys are shown at once where they
// are echoed, and nowhere else.
func TestKeysAreShownBeforeTheyAreEchoed(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "open")
	l := newSlowLine(t, s.address(), 600*time.Millisecond, 0)
	p := s.open(s.ticket("--url", "http://"+l.Addr().String(), "open") + "&debug=screen").ready()
	p.shows("open", "# ")
	p.take()
	p.run(chromedp.Focus(chromedp.CSS(`[data-terminal=open] textarea`)))
	all := p.predicted()
	types := func(keys, shown string) {
		t.Helper()
		p.keys(keys)
		p.shows("open", shown)
		p.until(`!document.querySelector('.predicted:not([hidden])')`)
	}
	runs := func(line string) { // until the page knows that it runs
		t.Helper()
		p.keys(line + "\r")
		p.until(fmt.Sprintf(`[...document.querySelectorAll('[data-command]')].some((li) =>
			li.querySelector('.mark.running') && li.innerText.includes(%q))`, line))
		_ = all()
	}

	types("echo $((6*7))", "# echo $((6*7))")
	if got := all(); !strings.HasPrefix(got, "e") || !strings.Contains(got, "echo") {
		t.Errorf("at the shell's prompt it shows %q", got)
	}
	types("\r", "\n42\n")

	runs("read -s secret; echo $((6*8))")
	types("hunter2\r", "\n48\n")
	if got := all(); got != "" {
		t.Errorf("of a secret it shows %q", got)
	}

	runs("cat")
	types("a", "\na")
	types("bcdef", "\nabcdef")
	if got := all(); !strings.Contains(got, "bcde") || strings.Contains(got, "a") {
		t.Errorf("where the terminal echoes it shows %q", got)
	}
	types("\rg", "\nabcdef\ng")
	p.pressed("open", ctrlC, `/\^C/.test(document.querySelector('[data-terminal=open] [data-screen]').dataset.screen)`)

	runs("while IFS= read -rsn1 c; do printf '*'; done")
	types("x", "\n*")
	types("yz", "\n***")
	if got := all(); strings.ContainsAny(got, "xz") {
		t.Errorf("of what the program hides it shows %q", got)
	}
	p.sameAs(s, "open")
}
