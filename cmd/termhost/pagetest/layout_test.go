package pagetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// showing makes the page show what an address says.
func (p *tab) showing(address string) {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = %q`, address)))
}

// TestTheAddressIsReadWithinLimits reads addresses that people write, and others. What is read is
// compared as the page writes it.
func TestTheAddressIsReadWithinLimits(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	var many []string
	for i := range 30000 {
		many = append(many, fmt.Sprintf("n%d", i))
	}
	longest := strings.Repeat("a", ahp.MaxName)
	for _, c := range []struct{ address, want string }{
		{"a+b+c+d", "a+b+c+d"},
		{"a,b,c?split=h", "a+b+c"},
		{"a,b,c?split=v", "a~b~c"},
		{"a+b+c:30", "(a+b)+c:30"}, // with a size of its own
		{"a+b+c:33.3", "a+b+c"},
		{"(a+b)+c", "(a+b)+c"},
		{"a+(b~c~d)+e", "a+(b~c~d)+e"},
		{"a+b~c+d", "((a+b)~c)+d"},
		{"c+(a~b):30", "c+(a~b):30"},
		{"a,b)c", "a,b,c"},

		{"a,<img src=x>,b", "a,b"},
		{"a,%3Cimg%20src=x%zz,b", "a,b"},
		{"a:b:c:99,b+c:x+d", "b+d"},
		{".,..,a..b," + longest + "," + longest + "b", "a..b," + longest},
		{"a+a,b,a", "a,b"},
		{"))((,,++~~::a", ""},

		{strings.Repeat("(", 16) + "a" + strings.Repeat(")", 16) + "+b", "a+b"},
		{strings.Repeat("(", 17) + "a" + strings.Repeat(")", 17) + "+b", "b"},
		{strings.Repeat("(", 30000) + "a", ""},
		{strings.Repeat("(a,", 30000), "a"},
		{strings.Repeat("+", 30000) + "a", "a"},
		{strings.Join(many, ","), strings.Join(many[:128], ",")},
		{strings.Join(many, "+") + "?split=h", strings.Join(many[:8], "+") + "," + strings.Join(many[8:128], ",")},
	} {
		address, err := json.Marshal("#/" + c.address)
		hosttest.Check(t, err)
		got := eval[string](p, fmt.Sprintf(`Promise.all([%s, %s]).then(([fragment, { Layout }]) => {
			const layout = new Layout(), { tabs } = fragment.parseFragment(%s);
			layout.load(tabs, '');
			return fragment.formatFragment(layout.tabs.map((tab) => tab.tree), new Map()).slice(2) })`,
			module("fragment.js"), module("layout.js"), address))
		if got != c.want {
			t.Errorf("of %.60q there is\n%.200q, want\n%.200q", c.address, got, c.want)
		}
	}

	// The page that is open stays, whatever its address becomes.
	p.showing("#/" + strings.Repeat("(", 30000) + "a?debug=screen")
	p.until(`document.querySelector('.welcome') && !document.querySelector('.pane')`)
	p.showing("#/<img src=x>,build?debug=screen")
	p.shows("build", "# ")
	p.until(`document.querySelectorAll('[role=tab]').length === 1`)
}

// TestPanesShareTheirRoom has a chain of panes share it equally, and closes the pane that has the
// focus: a neighbour gets the focus, and all have the same room again.
func TestPanesShareTheirRoom(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	names := []string{"one", "two", "three", "four"}
	for _, name := range names {
		s.ssh("new", "-d", "-n", name)
	}
	p := s.open(s.ticket(names...) + "&debug=screen").ready()
	p.window(1600, 1000)
	quarter := []float64{0.25, 0.25, 0.25, 0.25}
	p.showing("#/one+two+three+four?debug=screen")
	p.shares("width", quarter...)
	p.until(`location.hash.startsWith('#/one+two+three+four?')`)
	p.showing("#/one,two,three,four?split=v&debug=screen")
	p.shares("height", quarter...)
	p.until(`location.hash.startsWith('#/one~two~three~four?')`)
	p.showing("#/((one+two)+three)+four?debug=screen")
	p.shares("width", 0.125, 0.125, 0.25, 0.5)

	for _, c := range []struct{ tree, closed, next string }{
		{"one+two+three+four", "three", "two"},
		{"one~two~three~four", "four", "three"},
		{"one+two+three+four", "one", "two"},
		{"one+(two~three)+four", "three", "two"},
		{"(one~(two+three))+four", "four", "one"},
		{"one+((two+three)~four)", "four", "two"},
	} {
		p.showing("#/" + c.tree + "?debug=screen&at=" + c.closed)
		p.until(`document.querySelectorAll('.pane').length === 4`)
		p.inTerminal(c.closed)
		p.run(chromedp.Click(chromedp.CSS(`.pane.focused [aria-label="Close this view"]`)))
		p.until(`document.querySelectorAll('.pane').length === 3`)
		p.inTerminal(c.next)
		if c.tree == "one+two+three+four" {
			p.shares("width", 1./3, 1./3, 1./3)
		}
	}
}
