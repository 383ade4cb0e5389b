package pagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// chromium is the browser of all tests of the page, which each have a context of their own in it:
// other cookies, other storage.
var chromium = sync.OnceValues(func() (context.Context, error) {
	var err error
	if chromiumDir, err = os.MkdirTemp("", "chromium-"); err != nil {
		return nil, err
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
				chromedp.NoSandbox, // which root has to do without
				chromedp.Flag("host-resolver-rules", "MAP *.example 127.0.0.1"), // for a rebound name
				chromedp.WindowSize(1200, 800),
				chromedp.UserDataDir(filepath.Join(chromiumDir, "profile")),
				chromedp.Env("HOME="+chromiumDir, "TMPDIR="+chromiumDir,
					"XDG_CONFIG_HOME="+chromiumDir, "XDG_CACHE_HOME="+chromiumDir))
			ctx, _ := chromedp.NewExecAllocator(context.Background(), options...)
			ctx, _ = chromedp.NewContext(ctx)
			endChromium = func() { _ = chromedp.Cancel(ctx) }
			return ctx, chromedp.Do(ctx)
		}
	}
	return nil, exec.ErrNotFound
})

// chromiumDir has all that the browser writes, "" as long as nobody has asked for it, and
// endChromium ends it.
var (
	chromiumDir string
	endChromium = func() {}
)

// endBrowser ends the browser, if there is one, and removes what it has written.
func endBrowser() error {
	if chromiumDir == "" {
		return nil
	}
	endChromium()
	// Its last processes may still be writing.
	for end := time.Now().Add(hosttest.Patience); ; {
		err := os.RemoveAll(chromiumDir)
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}

// browser returns the browser, or skips the test aloud where there is none.
func browser(t testing.TB) context.Context {
	t.Helper()
	ctx, err := chromium()
	if err != nil {
		slowtest.Missing(t, "no chromium, so that the page is not tested: %v", err)
	}
	return ctx
}

// maxPages is how many tests of the page run at once, however many processors there are: all have
// the same browser.
const maxPages = 3

var pages = make(chan struct{}, maxPages)

// onPage has a test of the page run beside others.
func onPage(t *testing.T) {
	t.Helper()
	browser(t)
	t.Parallel()
	pages <- struct{}{}
	t.Cleanup(func() { <-pages })
}

// tab is a page in the browser. Everything that it is told about is kept.
type tab struct {
	context.Context
	t        testing.TB
	patience time.Duration

	mu       sync.Mutex
	troubles []string // exceptions, and what the page's policy has refused
	requests []*network.Request
}

// open opens a URL in a browser context of its own.
func (s *site) open(address string) *tab {
	s.t.Helper()
	return newTab(s.t, browser(s.t), address, chromedp.WithNewBrowserContext())
}

// newTab opens a URL in a target of its own, below the context above.
func newTab(t testing.TB, above context.Context, address string, o ...chromedp.ContextOption) *tab {
	t.Helper()
	p := &tab{t: t, patience: hosttest.Patience}
	if _, ok := t.(*testing.B); ok {
		p.patience *= 10 // for all that a benchmark does at once
	}
	ctx, cancel := chromedp.NewContext(above, append(o, chromedp.WithListener(p.heard))...)
	t.Cleanup(cancel)
	p.Context = ctx
	hosttest.Check(t, chromedp.Do(ctx)) // the target lives as long as this context
	p.run(devtools(log.Enable, cdp.Empty{}), devtools(audits.Enable, cdp.Empty{}),
		devtools(network.Enable, network.EnableParams{}), chromedp.Navigate(address))
	t.Cleanup(func() {
		_ = p.text() // what the page has said before its answer has been heard
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, trouble := range p.troubles {
			t.Errorf("the page has trouble: %s", trouble)
		}
	})
	return p
}

func (p *tab) heard(ev any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch ev := ev.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, ev.Request)
	case *network.EventWebSocketCreated:
		p.requests = append(p.requests, &network.Request{URL: ev.URL})
	case *runtime.EventExceptionThrown:
		p.troubles = append(p.troubles, thrown(ev.ExceptionDetails))
	case *log.EventEntryAdded:
		if ev.Entry.Source == log.EntrySourceSecurity {
			p.troubles = append(p.troubles, ev.Entry.Text)
		}
	case *audits.EventIssueAdded:
		if ev.Issue.Code == audits.InspectorIssueCodeContentSecurityPolicyIssue {
			details, _ := json.Marshal(ev.Issue.Details)
			p.troubles = append(p.troubles, string(details))
		}
	}
}

// run does things one after the other, each of which waits for what it needs.
func (p *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.Context, p.patience)
	defer cancel()
	for _, step := range steps {
		err := chromedp.Do(ctx, step)
		for ctx.Err() == nil && drawnAnew(err) {
			err = chromedp.Do(ctx, step)
		}
		if err != nil {
			p.t.Fatalf("%v; the page shows:\n%s", err, p.text())
		}
	}
}

// drawnAnew reports whether what a step has found was replaced before it did anything with it.
func drawnAnew(err error) bool {
	return err != nil && strings.Contains(err.Error(), "Could not find node with given id")
}

// text is what the page shows, for people.
func (p *tab) text() string {
	ctx, cancel := context.WithTimeout(p.Context, 5*time.Second)
	defer cancel()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](
		`document.documentElement.dataset.termhost + "\n" + document.body.innerText`))
	return text
}

// eval evaluates an expression; a promise is waited for.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	return get(p, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// get does one thing and returns what comes of it.
func get[T any](p *tab, a chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.Context, p.patience)
	defer cancel()
	value, err := chromedp.Run(ctx, a)
	if err != nil {
		p.t.Fatalf("%v; the page shows:\n%s", err, p.text())
	}
	return value
}

// devtools is a command of the browser's protocol.
func devtools[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// module is an expression for what one of the page's modules exports, as a promise.
func module(name string) string {
	return fmt.Sprintf(`import(document.querySelector('script').src).then(({ modules }) => modules[%q])`, name)
}

// answer returns what the browser answers to a command of its protocol.
func answer[P, R any](p *tab, c cdp.Command[P, R], params P) R {
	p.t.Helper()
	return get(p, func(ctx context.Context, t *chromedp.Target) (R, error) {
		return cdp.Call(ctx, t, c, params)
	})
}

// until waits until an expression is true. It is not while something that it asks is not there yet.
func (p *tab) until(expression string) {
	p.t.Helper()
	p.run(chromedp.Poll[chromedp.Void](fmt.Sprintf(`(() => {
		try { return (%s) } catch (e) { if (e instanceof TypeError) return false; throw e }
	})()`, expression), chromedp.WithPollingInterval(20*time.Millisecond)))
}

func (p *tab) ready() *tab {
	p.t.Helper()
	p.until(`document.documentElement.dataset.termhost === "ready"`)
	return p
}

// shows waits until a terminal's screen in the page has some text.
func (p *tab) shows(name, text string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`(document.querySelector('[data-terminal=%q] [data-screen]')?.dataset.screen ?? '').includes(%q)`, name, text))
}

// screen returns a terminal's screen in the page, as peek prints it.
func (p *tab) screen(name string) string {
	p.t.Helper()
	return plainScreen(eval[string](p, fmt.Sprintf(`document.querySelector('[data-terminal=%q] [data-screen]').dataset.screen`, name)))
}

// plainScreen leaves out what nobody sees: blanks at the end of lines, and empty lines at the end.
func plainScreen(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// sameAs waits until the page's screen of a terminal is the host's.
func (p *tab) sameAs(s *site, name string) {
	p.t.Helper()
	var want, got string
	for deadline := time.Now().Add(hosttest.Patience); time.Now().Before(deadline); {
		want = plainScreen(s.ssh("peek", name))
		if got = p.screen(name); got == want {
			return
		}
	}
	p.t.Errorf("the page shows\n%q\nand the host\n%q", got, want)
}

// click clicks on what has a role and a name that begins so, as a screen reader finds it.
func (p *tab) click(role, name string) {
	p.t.Helper()
	p.run(chromedp.Click(byName(role, name)))
}

// byName returns an XPath for it.
func byName(role, name string) string {
	tag := map[string]string{"button": "button[not(@role)]", "tab": "*[@role='tab']", "menuitem": "*[@role='menuitem']"}[role]
	return fmt.Sprintf(`//%s[starts-with(@aria-label, %[2]q) or not(@aria-label) and starts-with(normalize-space(.), %[2]q)]`, tag, name)
}

// keys types into what has the focus. As with a real keyboard, a character comes of the key unless
// the page keeps it from that; chromedp's own KeyEvent sends one in any case.
func (p *tab) keys(text string) {
	p.t.Helper()
	for _, r := range text {
		for _, e := range kb.Encode(r) {
			switch {
			case e.Type == kb.KeyChar:
				continue
			case e.Type == kb.KeyDown && (unicode.IsPrint(r) || r == '\r'):
				e.Text, e.UnmodifiedText = string(r), string(r)
			}
			p.run(devtools(input.DispatchKeyEvent, *e))
		}
	}
}

// typeLine types a line into a terminal.
func (p *tab) typeLine(name, line string) {
	p.t.Helper()
	p.run(chromedp.Focus(chromedp.CSS(fmt.Sprintf(`[data-terminal=%q] textarea`, name))))
	p.keys(line + "\r")
}

// shot writes a picture of the page where TERMHOST_SHOTS names a folder, for people to look at.
func (p *tab) shot(name string) {
	p.t.Helper()
	dir := os.Getenv("TERMHOST_SHOTS")
	if dir == "" {
		return
	}
	png := get(p, chromedp.CaptureScreenshot())
	hosttest.Check(p.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o666))
}

// thrown is what was thrown, and where.
func thrown(d *runtime.ExceptionDetails) string {
	text := d.Text
	if d.Exception != nil {
		text += " " + d.Exception.Description
	}
	return fmt.Sprintf("%s (%s:%d)", text, d.URL, d.LineNumber)
}
