package pagetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"termhost/ahp"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/cmd/termhost/bench"
)

// gaps has the page measure for how long its main thread answers nothing: a message to itself takes
// as long as all that is in its way. window.gap is the longest time in ms.
const gaps = `(() => {
	const { port1, port2 } = new MessageChannel();
	let last = performance.now();
	window.gap = 0;
	port1.onmessage = () => {
		const now = performance.now();
		window.gap = Math.max(window.gap, now - last);
		last = now;
		setTimeout(() => port2.postMessage(0), 4);
	};
	port2.postMessage(0);
})()`

// BenchmarkPage measures the page in Chromium, on loopback. Open: when, after the navigation, there
// is something to see, the list of terminals, and a terminal's screen, with nothing in the
// browser's cache and again; then how long a click on another terminal takes. Open500: so with a
// list of 500 terminals. Flood: 50 MB of coloured lines, for how long at most the main thread
// answers nothing meanwhile, and the time from Ctrl-C, in the midst of a flood, to what the program
// says to it. 60tabs: what JavaScript with its elements and buffers takes after 60 tabs with much
// output were visited, and what of the renderer is shared with no other process. 500rows: the
// longest gap while a list of 500 terminals is scrolled through and titles change.
func BenchmarkPage(b *testing.B) {
	browser(b)
	b.Run("Open", func(b *testing.B) { benchmarkOpen(b, 2) })
	b.Run("Open500", func(b *testing.B) { benchmarkOpen(b, slowtest.Amount(500, 20)) })
	b.Run("Flood", benchmarkFlood)
	b.Run("60tabs", benchmarkTabs)
	b.Run("500rows", benchmarkList)
}

// colouredLines returns about n bytes of lines as a build prints them.
func colouredLines(n int) []byte {
	text := make([]byte, 0, n+100)
	for i := 0; len(text) < n; i++ {
		text = fmt.Appendf(text, "\x1b[3%dm%08d\x1b[m compiling \x1b[1mpackage/%d\x1b[m with nothing much to say\r\n", i%8, i, i*7919%1000)
	}
	return text
}

// appearances has a page note when it shows something for the first time, in ms after its
// navigation: window.seen has the time of the picture in which it is.
const appearances = `(() => {
	window.seen = {};
	window.said = (name) => (document.querySelector('[data-terminal=' + name + '] [data-screen]')?.dataset.screen ?? '').trim();
	const what = { list: () => document.querySelector('button.entry'), screen: () => said('open') };
	new MutationObserver(() => {
		for (const k in what) {
			if (k in window.seen || !what[k]()) continue;
			window.seen[k] = 0;
			requestAnimationFrame(() => setTimeout(() => { window.seen[k] = performance.now(); }));
		}
	}).observe(document, { subtree: true, childList: true, attributes: true });
})()`

// another clicks on another terminal, and returns how long it takes until that is seen, in ms.
const another = `new Promise((resolve) => {
	const begun = performance.now();
	new MutationObserver((_, o) => {
		if (!said('t-1')) return;
		o.disconnect();
		requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begun)));
	}).observe(document, { subtree: true, childList: true, attributes: true });
	[...document.querySelectorAll('button.entry')].find((b) => b.querySelector('.name').innerText === 't-1').click();
})`

// benchmarkOpen opens the page on one terminal of n, in a browser that runs already: first with
// nothing in its cache, then again. The figures are medians.
func benchmarkOpen(b *testing.B, n int) {
	s := newSite(b)
	s.ssh("new", "-d", "-n", "open")
	s.fill(s.agent("open"), n-1, "echo something")
	s.open(s.ticket("open") + "&debug=screen").ready() // or the browser itself would be measured
	times := map[string][]float64{}
	for b.Loop() {
		p := newTab(b, browser(b), "about:blank", chromedp.WithNewBrowserContext())
		p.run(devtools(page.Enable, page.EnableParams{}), devtools(page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: appearances}))
		for _, visit := range []string{"first", "second"} {
			p.run(chromedp.Navigate(s.ticket("open") + "&debug=screen"))
			p.until(`window.seen?.list && window.seen.screen && performance.getEntriesByName('first-paint').length`)
			got := eval[map[string]float64](p, `({ ...window.seen,
				paint: performance.getEntriesByName('first-paint')[0].startTime })`)
			p.ready()
			got["click"] = eval[float64](p, another)
			for what, ms := range got {
				unit := visit + "-" + what + "-ms"
				times[unit] = append(times[unit], ms)
			}
			p.run(chromedp.Navigate("about:blank"))
		}
	}
	for unit, all := range times {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], unit)
	}
}

func benchmarkFlood(b *testing.B) {
	s := newSite(b)
	file := filepath.Join(s.dir, "flood")
	size := slowtest.Amount(50_000_000, 2_000_000)
	hosttest.Check(b, os.WriteFile(file, colouredLines(size), 0o600))
	s.ssh("new", "-d", "-n", "flood")
	p := s.open(s.ticket("flood") + "&debug=screen").ready()
	p.shows("flood", "# ")
	p.takesIt()
	p.until(`document.querySelector('.pane.held')`)
	var took, gap, interrupt float64
	for i := 0; b.Loop(); i++ {
		p.run(chromedp.Evaluate[chromedp.Void](gaps))
		begun := eval[float64](p, `performance.now()`)
		p.typeLine("flood", fmt.Sprintf("cat %s; echo end $((%d+1000))", file, i))
		p.shows("flood", fmt.Sprintf("end %d", i+1000))
		took += eval[float64](p, `performance.now()`) - begun
		gap = max(gap, eval[float64](p, `window.gap`))

		armed := fmt.Sprintf("armed %d", i+1000)
		p.typeLine("flood", fmt.Sprintf("(trap 'echo; echo stopped $((%d+1000)); exit' INT; echo armed $((%[1]d+1000)); read; while :; do cat %s; done)", i, file))
		p.shows("flood", armed)
		p.typeLine("flood", "")
		p.until(fmt.Sprintf(`!document.querySelector('[data-terminal=flood] [data-screen]').dataset.screen.includes(%q)`, armed))
		stopped := fmt.Sprintf("stopped %d", i+1000)
		interrupt += eval[float64](p, fmt.Sprintf(`new Promise((resolve) => {
			const screen = document.querySelector('[data-terminal=flood] [data-screen]');
			let pressed = 0;
			addEventListener('keydown', () => { pressed = performance.now(); }, { capture: true, once: true });
			new MutationObserver((_, o) => {
				if (!screen.dataset.screen.includes(%q)) return;
				o.disconnect();
				resolve(performance.now() - pressed);
			}).observe(screen, { attributes: true });
			const key = { key: 'c', code: 'KeyC', keyCode: 67, ctrlKey: true, bubbles: true, cancelable: true };
			document.querySelector('[data-terminal=flood] textarea').dispatchEvent(new KeyboardEvent('keydown', key));
		})`, stopped))
	}
	n := float64(b.N)
	b.ReportMetric(float64(size)/1000*n/took, "flood-MB/s")
	b.ReportMetric(gap, "flood-gap-ms")
	b.ReportMetric(interrupt/n, "ctrl-c-ms")
}

func benchmarkTabs(b *testing.B) {
	s := newSite(b)
	names := s.fill(s.agent("tabs"), slowtest.Amount(60, 6), "seq -f '%g lines of one that has much to say' 6000")
	p := s.open(s.ticket(names...) + "&debug=screen").ready()
	var heap, private float64
	for b.Loop() {
		for _, name := range names {
			p.click("tab", name)
			p.shows(name, "6000 lines")
		}
		p.run(devtools(heapprofiler.CollectGarbage, cdp.Empty{}))
		heap, private = p.heap(), float64(bench.Private(os.Getpid(), "--type=renderer"))/1024
	}
	b.ReportMetric(heap, "heap-MB")
	b.ReportMetric(private, "private-MB")
}

// heap returns what JavaScript takes, with the DOM and its buffers, in MB.
func (p *tab) heap() float64 {
	p.t.Helper()
	var is runtime.GetHeapUsageResult
	p.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		r, err := cdp.Call(ctx, t, runtime.GetHeapUsage, cdp.Empty{})
		is = r
		return err
	}))
	return (is.UsedSize + is.EmbedderHeapUsedSize + is.BackingStorageSize) / 1e6
}

func benchmarkList(b *testing.B) {
	s := newSite(b)
	agent := s.agent("list")
	const step = 20 // between two whose titles change
	names := s.fill(agent, slowtest.Amount(25, 3)*step, "true")
	p := s.open(s.ticket() + "&debug=screen").ready()
	p.until(fmt.Sprintf(`document.querySelectorAll('.entry').length === %d`, len(names)))
	titles := len(names) / step
	p.run(chromedp.Evaluate[chromedp.Void](gaps))
	for i := 0; b.Loop(); i++ {
		done := make(chan error, 1)
		go func() { // a title changes again and again
			for k := range titles {
				title := fmt.Sprintf("title %d of %d", k, i)
				if err := agent.Dispatch(b.Context(), "ahp-terminal:/"+names[k*step], ahp.TerminalTitleChanged{Title: title}); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		p.run(chromedp.Evaluate[chromedp.Void](`(async () => {
			const list = document.querySelector('[aria-label=Terminals]');
			for (let at = 0; at < list.scrollHeight; at += 150) {
				list.scrollTop = at;
				await new Promise(requestAnimationFrame);
			}
		})()`, chromedp.EvalAwaitPromise))
		hosttest.Check(b, <-done)
		p.until(fmt.Sprintf(`document.querySelector('[aria-label=Terminals]').innerText.includes('title %d of %d')`, titles-1, i))
	}
	b.ReportMetric(eval[float64](p, `window.gap`), "gap-ms")
}

// BenchmarkGreeting is the time from the start of a host to its greeting, with 500 terminals whose
// programs run and have printed 100 KB each.
func BenchmarkGreeting(b *testing.B) {
	s := newSite(b)
	s.set("terminal.max_terminals", "2000") // of which one gets a quarter
	agent := s.agent("fill")
	count := slowtest.Amount(500, 20)
	s.fill(agent, count, "seq 1 18000")
	hosttest.Check(b, agent.Close())
	var took []time.Duration
	for b.Loop() {
		s.crash()
		begun := time.Now()
		s.start()
		took = append(took, time.Since(begun))
	}
	if n := strings.Count(s.ssh("ls"), "running"); n != count {
		b.Errorf("%d terminals are there", n)
	}
	b.ReportMetric(float64(bench.Percentile(took, 50).Milliseconds()), "ms")
	b.ReportMetric(0, "ns/op")
}
