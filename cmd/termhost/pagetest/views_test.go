package pagetest

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"termhost/ahp"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

const (
	shift = int64(8)
	alt   = int64(1)
)

// press presses a key that types nothing, with modifiers.
func (p *tab) press(key string, code, modifiers int64) {
	p.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		p.run(devtools(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: key, Code: key,
			WindowsVirtualKeyCode: code, Modifiers: modifiers}))
	}
}

// commands types Ctrl-\ and a key.
func (p *tab) commands(key string) {
	p.t.Helper()
	p.prefix()
	p.keys(key)
}

// focused waits until an element has the focus.
func (p *tab) focused(selector string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.activeElement.matches(%q)`, selector))
}

// inTerminal waits until a terminal has the focus.
func (p *tab) inTerminal(name string) {
	p.t.Helper()
	p.focused(fmt.Sprintf("[data-terminal=%q] textarea", name))
}

// tabTo goes to an element with the Tab key.
func (p *tab) tabTo(selector string, modifiers int64) {
	p.t.Helper()
	for range 40 {
		if eval[bool](p, fmt.Sprintf(`document.activeElement.matches(%q)`, selector)) {
			return
		}
		p.press("Tab", 9, modifiers)
	}
	p.t.Fatalf("Tab does not lead to %s; it is at %s", selector, eval[string](p, `document.activeElement.outerHTML`))
}

// TestEverythingWorksWithoutAMouse does all that the mouse can do: it goes between the list, the
// tabs, the panes and their commands, finds, splits, renames, closes and ends.
func TestEverythingWorksWithoutAMouse(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	for _, name := range []string{"build", "db", "logs"} {
		s.ssh("new", "-d", "-n", name)
	}
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	p.inTerminal("build")
	p.commands("c")
	p.until(held("build"))
	p.keys("echo some output; false\r")
	p.command("echo some output; false", "failed 1")

	// The list: by its filter, and by the arrow keys. Escape leads back.
	p.commands("l")
	p.focused("[aria-label=Filter]")
	p.keys("db\r")
	p.inTerminal("db")
	p.commands("\t")
	p.inTerminal("build")
	p.commands("l")
	p.keys("\x1b") // empties it
	p.until(`document.querySelector('[aria-label=Filter]').value === '' && document.querySelectorAll('.entry').length === 3`)
	p.keys("\x1b")
	p.inTerminal("build")
	p.commands("l")
	p.keys(kb.ArrowDown)
	p.focused(`.entry[aria-label^="build"]`)
	p.keys(kb.End)
	p.focused(`.entry[aria-label^="logs"]`)
	p.keys("db") // what is typed there filters
	p.focused("[aria-label=Filter]")
	p.until(`document.querySelector('[aria-label=Filter]').value === 'db' && document.querySelectorAll('.entry').length === 1`)
	p.keys("\x1b" + kb.ArrowDown)
	p.focused(`.entry[aria-label^="build"]`)
	p.keys(kb.ArrowUp)
	p.focused("[aria-label=Filter]")
	p.keys(kb.ArrowDown + kb.PageDown)
	p.focused(`.entry[aria-label^="logs"]`)
	p.press("Enter", 13, alt)
	p.inTerminal("logs")
	p.until(`location.hash.startsWith('#/build+logs,db')`)
	p.shows("logs", "# ")

	// Panes and tabs.
	p.commands(kb.ArrowLeft)
	p.inTerminal("build")
	p.commands(kb.ArrowRight)
	p.inTerminal("logs")
	p.commands("l")
	p.tabTo(`[role=tab][aria-label="db"]`, 0)
	p.keys("\r")
	p.inTerminal("db")
	p.commands("\t")
	p.inTerminal("logs")
	p.commands("b")
	p.focused(".bar button, .bar summary")
	p.tabTo("[role=separator]", shift)
	before := eval[float64](p, `document.querySelector('.pane').getBoundingClientRect().width`)
	p.keys(kb.ArrowLeft)
	p.until(fmt.Sprintf(`document.querySelector('.pane').getBoundingClientRect().width < %f`, before))
	p.keys("\x1b")
	p.inTerminal("logs")

	// A command's output, and what is found.
	p.commands(kb.ArrowLeft)
	p.commands("d")
	p.commands("l")
	p.keys("build\r")
	p.inTerminal("build")
	p.shows("build", "some output")
	p.commands("b")
	p.tabTo(".command", 0)
	p.keys("\r")
	p.until(`document.querySelector('.output .text')?.innerText.trim() === 'some output'`)
	p.keys("\x1b")
	p.inTerminal("build")
	p.commands("b")
	p.tabTo("[title=Find]", 0)
	p.keys("\r")
	p.focused("input[aria-label=Find]")
	p.keys("some out\x1b")
	p.inTerminal("build")

	// The menu and dialogs.
	p.chooses("build", "Rename", kb.ArrowDown)
	p.focused("dialog input")
	p.keys("nightly\r")
	p.inTerminal("build")
	p.until(`[...document.querySelectorAll('.entry')].some(e => e.ariaLabel.startsWith('build') && e.ariaLabel.includes('nightly'))`)
	p.commands("+")
	p.inTerminal("web-1")
	p.chooses("web-1", "End it", kb.ArrowUp)
	p.focused("dialog button.danger")
	p.shot("end")
	p.keys("\x1b")
	p.inTerminal("web-1")
	p.chooses("web-1", "End it", kb.ArrowUp)
	p.focused("dialog button.danger")
	p.keys("\r")
	p.until(`![...document.querySelectorAll('.entry')].some(e => e.ariaLabel.startsWith('web-1'))`)
	hosttest.Eventually(t, "the end of the terminal", func() bool {
		list := s.ssh("ls")
		return !strings.Contains(list, "web-1") && strings.Count(list, "running") == 3
	})
}

// chooses chooses an entry of a pane's menu with the keyboard; move is the key that leads to it.
func (p *tab) chooses(name, entry, move string) {
	p.t.Helper()
	p.inTerminal(name)
	p.commands("b")
	p.tabTo(".menu summary", 0)
	p.keys("\r")
	p.focused("[role=menuitem]")
	if move == kb.ArrowUp {
		p.keys(kb.End)
	}
	for range 10 {
		if strings.HasPrefix(eval[string](p, `document.activeElement.innerText`), entry) {
			p.keys("\r")
			return
		}
		p.keys(move)
	}
	p.t.Fatalf("there is no %q in the menu", entry)
}

// TestClosingAViewEndsNothing closes views in every way that there is. Only "End it" ends a
// program, and asks before.
func TestClosingAViewEndsNothing(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	names := []string{"one", "two", "three", "done"}
	for _, name := range names[:3] {
		s.ssh("new", "-d", "-n", name)
	}
	s.ssh("new", "-d", "-n", "done", "--", "exit 3")
	p := s.open(s.ticket(names...) + "&debug=screen").ready()
	p.shows("one", "# ")
	p.takes("one")
	p.click("button", "Close this view")
	p.until(`!document.querySelector('[role=tab][aria-label=one]')`)
	p.click("button", "Close two")
	p.until(`!document.querySelector('[role=tab][aria-label=two]')`)
	p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('[role=tab][aria-label=three]').dispatchEvent(
		new MouseEvent('auxclick', { button: 1, bubbles: true }))`))
	p.until(`!document.querySelector('[role=tab][aria-label=three]')`)
	if list := s.ssh("ls"); strings.Count(list, "running") != 3 {
		t.Errorf("closing views has ended programs:\n%s", list)
	}

	// What has exited is removed without a question, and what runs with one.
	p.until(`document.querySelector('.pane .who')?.innerText.includes('failed 3')`)
	p.menu("End it")
	p.until(`!document.querySelector('[role=tab][aria-label=done]')`)
	p.click("button", "one")
	p.shows("one", "# ")
	p.menu("End it")
	p.until(`document.querySelector('dialog')?.innerText.includes('End one?')`)
	p.run(chromedp.Click(`//dialog//button[.="Cancel"]`))
	p.until(`!document.querySelector('dialog')`)
	p.inTerminal("one")
	p.menu("End it")
	p.run(chromedp.Click(`//dialog//button[.="End it"]`))
	p.until(`!document.querySelector('[role=tab][aria-label=one]')`)
	if list := s.ssh("ls", "--all"); strings.Count(list, "running") != 2 || strings.Contains(list, "done") || strings.Contains(list, "one ") {
		t.Errorf("there are\n%s", list)
	}

	// A page that goes, goes alone.
	p.click("button", "two")
	p.shows("two", "# ")
	p.run(chromedp.Navigate("about:blank"))
	if list := s.ssh("ls"); strings.Count(list, "running") != 2 {
		t.Errorf("closing the page has ended programs:\n%s", list)
	}
}

// TestFiveHundredTerminalsAreListed finds terminals among as many as a host runs, opens them and
// goes from one to the other.
func TestFiveHundredTerminalsAreListed(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "first")
	agent := s.agent("codex")
	const many = 490
	for i := range many {
		name, extras := fmt.Sprintf("work-%03d", i), &ahp.CreateTerminalExtras{Command: "sleep", Args: []string{"1000000"}}
		if name == "work-456" {
			extras = &ahp.CreateTerminalExtras{Command: "cat"}
		}
		err := agent.CreateTerminal(t.Context(), ahp.CreateTerminalParams{Channel: ahp.TerminalURI(name),
			Meta: &ahp.CreateTerminalMeta{Termhost: extras}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	p := s.open(s.ticket("--role", "admin", "first") + "&debug=screen").ready()
	p.shows("first", "# ")
	p.until(fmt.Sprintf(`document.querySelectorAll('.entry').length === %d`, many+1))
	p.shot("many")
	p.commands("l")
	p.keys("work-4")
	p.until(`document.querySelectorAll('.entry').length === 90`)
	p.keys("56\r")
	p.inTerminal("work-456")
	p.commands("l")
	p.keys("\x1b")
	p.keys(kb.ArrowDown + kb.End)
	p.focused(fmt.Sprintf(`.entry[aria-label^="work-%03d"]`, many-1))
	p.until(`(() => { const box = document.activeElement.getBoundingClientRect(); return box.top > 0 && box.bottom <= innerHeight })()`)
	p.keys("\r")
	p.inTerminal(fmt.Sprintf("work-%03d", many-1))
	p.commands("\t")
	p.inTerminal("work-456")
	p.commands("c")
	p.until(held("work-456"))
	p.keys("found\r")
	p.shows("work-456", "found\nfound")
	p.until(`document.querySelector('.entry[aria-current]').ariaLabel.startsWith('work-456')`)
	p.until(`(() => { const box = document.querySelector('.entry[aria-current]').getBoundingClientRect(); return box.top > 0 && box.bottom <= innerHeight })()`)
	p.shot("many-found")
}

// Whoever ends a terminal takes its keyboard only where that is needed: an admin need not.
func TestEndingTakesNoKeyboardInVain(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	for _, role := range []string{"admin", "operator"} {
		s.ssh("new", "-d", "-n", role)
		p := s.open(s.ticket("--role", role, role) + "&debug=screen").ready()
		p.shows(role, "# ")
		p.until(`document.querySelector('.pane .who').innerText === 'keyboard: you (ssh)'`)
		var claims atomic.Int32
		hosttest.Check(t, chromedp.Listen(p.Context, func(ev any) {
			sent, ok := ev.(*network.EventWebSocketFrameSent)
			if ok && strings.Contains(string(sent.Response.PayloadData), "terminal/claimed") {
				claims.Add(1)
			}
		}))
		p.menu("End it")
		p.run(chromedp.Click(`//dialog//button[.="End it"]`))
		p.until(`!document.querySelector('[role=tab]') && !document.querySelector('.entry')`)
		if role == "operator" {
			hosttest.Eventually(t, "the operator's page takes the keyboard", func() bool { return claims.Load() > 0 })
			continue
		}
		_ = p.text() // what has been sent before has been heard
		if n := claims.Load(); n > 0 {
			t.Errorf("an admin's page has taken the keyboard %d times", n)
		}
	}
}
