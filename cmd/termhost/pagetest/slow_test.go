package pagetest

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// ctrlC are the properties of its keydown.
const ctrlC = `key: 'c', code: 'KeyC', keyCode: 67, ctrlKey: true`

// TestASlowLine: over a line that is far away and narrow the page is sent what is looked at, and
// the rest when a person asks for it. It is judged by bytes: what comes over such a line takes its
// time.
func TestASlowLine(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "open")
	s.ssh("new", "-d", "-n", "long")
	s.ssh("send", "--enter", "long", "--", "seq -f '%g lines of one that has much to say' 30000")
	s.ssh("send", "--enter", "long", "--", "echo $((40+2)) is all")
	hosttest.Eventually(t, "all is printed", func() bool {
		return strings.Contains(s.ssh("peek", "long"), "\n42 is all")
	})
	l := newSlowLine(t, s.address(), 500*time.Millisecond, 100_000)
	p := s.open(s.ticket("--url", "http://"+l.Addr().String(), "open") + "&debug=screen").ready()
	p.shows("open", "# ")
	came := func(most int64, what string, do func()) {
		t.Helper()
		before := l.total.Load()
		do()
		if n := l.total.Load() - before; n > most {
			t.Errorf("%s takes %d bytes, at most %d are good", what, n, most)
		}
	}

	came(20_000, "another terminal", func() {
		p.run(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('button.entry')].find((b) =>
			b.querySelector('.name').innerText === 'long').click()`))
		p.shows("long", "# ")
	})
	came(60_000, "the output of a command", func() {
		p.until(`document.querySelectorAll('.command').length === 2`)
		p.run(chromedp.Click(`//li[@data-command]/button[contains(., 'is all')]`))
		p.until(`document.querySelector('.output .text').innerText.includes('42 is all')`)
		p.click("button", "Close the output")
	})
	came(100_000, "a part of the history", func() {
		p.menu("History")
		p.until(`document.querySelector('.lines .text')?.innerText.includes('30000 lines of one')`)
	})

	// Of a flood it is sent screens, so that what a key does is soon to be seen.
	p.click("tab", "open")
	p.shows("open", "# ")
	came(1_500_000, "what was seen of a flood", func() {
		p.take()
		p.typeLine("open", "seq -f '%g of a flood that nobody reads all of' 100000000")
		p.until(`/\d{6,} of a flood/.test(document.querySelector('[data-terminal=open] [data-screen]').dataset.screen)`)
	})
	came(150_000, "to see what Ctrl-C has done", func() {
		p.pressed("open", ctrlC, `/\^C[^\n]*\s+\S*[#$]\s*$/.test(document.querySelector('[data-terminal=open] [data-screen]').dataset.screen)`)
	})
	p.typeLine("open", "echo $((6*7)) again")
	p.shows("open", "42 again")
	p.sameAs(s, "open")
	if printed := len(s.ssh("log", "--raw", "open")); printed < 500_000 {
		t.Errorf("the flood has %d bytes", printed)
	}
}

// A flood on another host is not queued on the way to a page whose line is slow.
func TestASlowLineToAnotherHost(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	home, _ := newFleet(t)
	home.ssh("new", "--on", "box", "-d", "-n", "far")
	l := newSlowLine(t, home.address(), 500*time.Millisecond, 100_000)
	p := home.open(home.ticket("--url", "http://"+l.Addr().String()) + "&debug=screen").ready()
	p.clickNow(`.entry[aria-label^="box/far,"]`)
	p.shows("box/far", "# ")
	const screen = `document.querySelector('[data-terminal="box/far"] [data-screen]').dataset.screen`
	p.take()
	p.typeLine("box/far", "seq -f '%.0f of a flood that nobody reads all of' 1000000000")
	p.until(`/\d{6,} of a flood/.test(` + screen + `)`)
	before := l.total.Load()
	p.pressed("box/far", ctrlC, `/\^C[^\n]*\s+\S*[#$]\s*$/.test(`+screen+`)`)
	if n := l.total.Load() - before; n > 250_000 { // 60,000 on a quiet machine
		t.Errorf("to see what Ctrl-C has done takes %d bytes", n)
	}
	p.typeLine("box/far", "echo $((6*7)) again")
	p.shows("box/far", "42 again")
	p.sameAs(home, "box/far")
}
