package pagetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// axe has the rules of Deque's axe-core checked in the page, in the version that the page's
// package-lock.json names.
type axe struct{ script string }

func newAxe(t *testing.T) axe {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "ahp", "page", "package-lock.json"))
	hosttest.Check(t, err)
	var lock struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	hosttest.Check(t, json.Unmarshal(text, &lock))
	pkg := lock.Packages["node_modules/axe-core"]
	dir := npmFiles(t, "axe-core@"+pkg.Version, pkg.Integrity,
		map[string]string{"package/axe.min.js": "axe.js"})
	script, err := os.ReadFile(filepath.Join(dir, "axe.js"))
	hosttest.Check(t, err)
	return axe{string(script)}
}

// check tells of each violation of what the page shows now: of WCAG and of axe's best practices.
func (a axe) check(p *tab, where string) {
	p.t.Helper()
	if !eval[bool](p, `'axe' in window`) {
		p.run(chromedp.Evaluate[chromedp.Void](a.script + `; void 0`))
	}
	got := eval[struct {
		Passes     int
		Violations []string
	}](p, `axe.run({ rules: { 'label-content-name-mismatch': { enabled: true } } }).then(({ passes, violations }) => ({ passes: passes.length, violations: violations.flatMap(
		({ id, help, nodes }) => nodes.map((n) => id + ': ' + help + ': ' + n.html.slice(0, 200) + ' ' + n.failureSummary)) }))`)
	for _, v := range got.Violations {
		p.t.Errorf("%s: %s", where, v)
	}
	if got.Passes < 5 {
		p.t.Errorf("%s: only %d rules are kept", where, got.Passes)
	}
}

// TestAxeFindsNothingInTheOtherViews goes through what TestEverythingHasANameAndCanBeRead does not
// show: the empty page, a question, a search, the history, a refusal, a phone's list.
func TestAxeFindsNothingInTheOtherViews(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	axe := newAxe(t)
	s := newSite(t)
	p := s.open(s.ticket() + "&debug=screen")
	p.prefers("light")
	p.ready()
	axe.check(p, "the empty page")
	g := s.guarded("work")
	_, _ = g.wants("work", "make test\r")
	g.until(answerable("Approve"))
	axe.check(g.tab, "an ask")
	g.decides("Refuse")
	g.until(noAsk)
	s.ssh("new", "-d", "-n", "log", "--", "sh", "-c", "'seq 300; exec cat'")
	p.clickNow(`.entry[aria-label^="log,"]`)
	p.shows("log", "300")
	p.click("button", "Find")
	p.keys("29")
	p.until(`document.querySelector('.find .count').innerText`)
	axe.check(p, "find")
	p.click("button", "Search all terminals")
	p.until(`document.querySelector('.everywhere .line')`)
	axe.check(p, "find in all terminals")
	p.click("button", "Close what was found")
	p.keys("\x1b")
	p.menu("History")
	p.until(`document.querySelector('.lines .kept > div > div')`)
	axe.check(p, "the history")
	p.keys("\x1b")
	p.phone()
	p.click("button", "Terminals")
	p.until(`document.querySelector('.sidebar').checkVisibility()`)
	axe.check(p, "the list on a phone")
	p.run(chromedp.Navigate("about:blank"), chromedp.Navigate("http://"+s.address()+"/#t=none"))
	p.until(`document.documentElement.dataset.termhost === 'refused'`)
	axe.check(p, "a refusal")
}
