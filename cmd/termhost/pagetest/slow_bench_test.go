package pagetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest/slowtest"
)

// The slow line that is measured: what is left of a mobile network in a train. A short run has one
// that is ten times as good.
const (
	slowTrip = 400 * time.Millisecond
	slowRate = 50_000 // bytes a second
)

// pressed presses a key in a terminal and returns how long it takes until an expression is true, in
// ms.
func (p *tab) pressed(name, key, until string) float64 {
	p.t.Helper()
	return eval[float64](p, fmt.Sprintf(`new Promise((resolve) => {
		const begun = performance.now();
		const look = () => {
			if (%s) resolve(performance.now() - begun);
			else requestAnimationFrame(look);
		};
		document.querySelector('[data-terminal=%q] textarea').dispatchEvent(new KeyboardEvent('keydown',
			{ %s, bubbles: true, cancelable: true }));
		look();
	})`, until, name, key))
}

// BenchmarkSlowLine measures the page over a line of 400 ms there and back and 50 kB/s: when, after
// the navigation, there is something to see, the list and a terminal's screen, with nothing in the
// browser's cache and again; how long a click on another terminal takes, which has printed a MiB;
// when a typed key is shown, and when it is echoed; and the time from Ctrl-C, in `yes`, to the
// prompt. The figures are medians.
func BenchmarkSlowLine(b *testing.B) {
	s := newSite(b)
	s.ssh("new", "-d", "-n", "open")
	s.fill(s.agent("slow"), 1, "seq -f '%g lines of one that has much to say' 40000")
	better := slowtest.Amount(1, 10)
	l := newSlowLine(b, s.address(), slowTrip/time.Duration(better), slowRate*float64(better))
	times := map[string][]float64{}
	add := func(what string, ms float64) { times[what] = append(times[what], ms) }
	s.open(s.ticket("open") + "&debug=screen").ready() // or the browser itself would be measured
	for b.Loop() {
		p := newTab(b, browser(b), "about:blank", chromedp.WithNewBrowserContext())
		p.run(devtools(page.Enable, page.EnableParams{}), devtools(page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: appearances}))
		for _, visit := range []string{"first", "second"} {
			before := l.total.Load()
			p.run(chromedp.Navigate(s.ticket("--url", "http://"+l.Addr().String(), "open") + "&debug=screen"))
			p.until(`window.seen?.list && window.seen.screen && performance.getEntriesByName('first-paint').length`)
			for what, ms := range eval[map[string]float64](p, `({ ...window.seen,
				paint: performance.getEntriesByName('first-paint')[0].startTime })`) {
				add(visit+"-"+what+"-ms", ms)
			}
			p.ready()
			add(visit+"-kB", float64(l.total.Load()-before)/1000)
			before = l.total.Load()
			add(visit+"-click-ms", eval[float64](p, another))
			add(visit+"-click-kB", float64(l.total.Load()-before)/1000)
			if visit == "first" {
				s.typeSlowly(p, l, add)
			}
			p.run(chromedp.Navigate("about:blank"))
		}
	}
	for unit, all := range times {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], unit)
	}
	b.ReportMetric(0, "ns/op")
}

// typeSlowly measures what is typed.
func (s *site) typeSlowly(p *tab, l *slowLine, add func(what string, ms float64)) {
	s.t.Helper()
	p.click("tab", "open")
	p.shows("open", "# ")
	p.take()
	for _, key := range "abcdef" {
		had := p.screen("open")
		add("key-echoed-ms", p.pressed("open",
			fmt.Sprintf("key: %q, code: 'Key', keyCode: %d", string(key), key-32),
			fmt.Sprintf(`said('open') !== %q`, had)))
	}
	p.typeLine("open", "\x03")
	p.typeLine("open", "yes")
	p.shows("open", "y\ny\ny\ny\ny\n")
	flooded := l.total.Load()
	begun := time.Now()
	for lasts := slowtest.Amount(5*time.Second, time.Second/2); time.Since(begun) < lasts; {
		p.until(`true`)
	}
	add("flood-kB/s", float64(l.total.Load()-flooded)/float64(time.Since(begun).Milliseconds()))
	add("ctrl-c-ms", p.pressed("open", ctrlC,
		`said('open').endsWith('$') || said('open').endsWith('#')`))
}
