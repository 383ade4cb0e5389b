package pagetest

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// drags takes hold of an element in its middle with the mouse and drops it on another one: at a
// place within it, in parts of its width and height.
func (p *tab) drags(from, to string, x, y float64) {
	p.t.Helper()
	at := func(element string, x, y float64) []float64 {
		return eval[[]float64](p, fmt.Sprintf(`(() => { const box = (%s).getBoundingClientRect();
			return [box.left + box.width * %f, box.top + box.height * %f] })()`, element, x, y))
	}
	mouse := func(kind input.DispatchMouseEventType, at []float64, offset float64) {
		p.run(devtools(input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: at[0] + offset,
			Y: at[1], Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1}))
	}
	start, end := at(from, 0.5, 0.5), at(to, x, y)
	mouse(input.DispatchMouseEventTypeMousePressed, start, 0)
	mouse(input.DispatchMouseEventTypeMouseMoved, start, 10)
	hosttest.Eventually(p.t, "a place to drop is shown", func() bool {
		mouse(input.DispatchMouseEventTypeMouseMoved, end, 2)
		mouse(input.DispatchMouseEventTypeMouseMoved, end, 0)
		return eval[bool](p, fmt.Sprintf(`!!(%s).closest('[data-drop]')`, to))
	})
	mouse(input.DispatchMouseEventTypeMouseReleased, end, 0)
	p.until(`!document.querySelector('[data-drop]')`)
}

// TestTerminalsAreDragged drags them by their tabs, their entries in the list and their titles:
// beside others, and into tabs of their own.
func TestTerminalsAreDragged(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	for _, name := range []string{"build", "db", "logs"} {
		s.ssh("new", "-d", "-n", name)
	}
	p := s.open(s.ticket("build", "logs") + "&debug=screen").ready()
	p.shows("build", "# ")
	tab := func(name string) string {
		return fmt.Sprintf(`document.querySelector('[role=tab][aria-label^=%q]').closest('.tab')`, name)
	}
	pane := func(name string) string {
		return fmt.Sprintf(`document.querySelector('[data-terminal=%q]').closest('.pane')`, name)
	}
	title := func(name string) string { return pane(name) + `.querySelector('.names')` }
	const entry = `document.querySelector('.entry[aria-label^="db"]')`
	for _, c := range []struct {
		what, from, to string
		x, y           float64
		want, focus    string
	}{
		{"a tab beside a pane", tab("logs"), pane("build"), 0.95, 0.5, "build+logs", "logs"},
		{"an entry below it", entry, pane("build"), 0.5, 0.95, "(build~db)+logs", "db"},
		{"a title to the left", title("db"), pane("logs"), 0.03, 0.5, "build+db+logs", "db"},
		{"a title into a tab", title("logs"), tab("build"), 0.1, 0.5, "logs,build+db", "logs"},
		{"a tab behind the other", tab("logs"), tab("build"), 0.9, 0.5, "build+db,logs", "logs"},
		{"a tab of two beside a pane", tab("build"), pane("logs"), 0.05, 0.5, "build+db+logs", "build"},
		{"a title into a tab again", title("logs"), tab("build"), 0.9, 0.5, "build+db,logs", "logs"},
		{"a tab of two above a pane", tab("build"), pane("logs"), 0.5, 0.05, "(build+db)~logs", "build"},
	} {
		p.drags(c.from, c.to, c.x, c.y)
		p.until(fmt.Sprintf(`location.hash.startsWith(%q)`, "#/"+c.want+"?"))
		p.inTerminal(c.focus)
	}
	p.shot("dragged")

	// A click on a title leads to its terminal; what another page lets go here is none of ours.
	p.run(chromedp.Evaluate[chromedp.Void](title("logs") + `.click()`))
	p.inTerminal("logs")
	p.run(chromedp.Evaluate[chromedp.Void](`(() => {
		const data = new DataTransfer(), pane = document.querySelector('.pane');
		data.setData('application/x-termhost-names', '<img src=x>,"]');
		for (const type of ['dragover', 'drop']) pane.dispatchEvent(new DragEvent(type, { dataTransfer: data,
			bubbles: true, cancelable: true, clientX: 400, clientY: 300 }));
	})()`))
	p.until(`!document.querySelector('[data-drop]') && document.querySelectorAll('.pane').length === 3`)
}
