package pagetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"termhost/ahp"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// TestSettingsHoldInThisBrowser changes each setting of the dialog, and looks at its effect.
func TestSettingsHoldInThisBrowser(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen")
	p.prefers("light")
	p.ready().shows("build", "# ")
	s.ssh("send", "--enter", "build", "true")
	p.command("true", "ok 0")
	p.until(`document.documentElement.dataset.theme === 'light'`)
	p.click("button", "Settings")
	p.until(`document.querySelector('dialog.settings')`)
	p.shot("settings-light")
	for _, theme := range []string{"dark", "contrast"} {
		p.run(chromedp.Click(chromedp.CSS(fmt.Sprintf(`.card:has([value=%s])`, theme))))
		p.until(fmt.Sprintf(`document.documentElement.dataset.theme === %q`, theme))
		p.shot("settings-" + theme)
	}
	p.until(`getComputedStyle(document.querySelector('[data-terminal] .xterm-rows')).color === 'rgb(255, 255, 255)'`)
	cell := `document.querySelector('[data-terminal] .xterm-rows').firstElementChild.getBoundingClientRect().height`
	before := eval[float64](p, cell)
	for range 3 {
		p.click("button", "Smaller")
	}
	p.until(fmt.Sprintf(`%s < %f`, cell, before))
	p.run(chromedp.SendKeys(chromedp.CSS(`[aria-label=Font]`), `Fira "Code}`))
	p.until(`getComputedStyle(document.querySelector('[data-terminal] .xterm-rows')).fontFamily.startsWith('"Fira Code", ui-monospace')`)
	p.click("button", "Done")
	p.until(`!document.querySelector('dialog')`)
	p.click("button", "Commands") // which is a setting, too
	p.until(`!document.querySelector('.pane.with-commands')`)

	p.run(chromedp.Reload())
	p.ready().shows("build", "# ")
	p.until(`document.documentElement.dataset.theme === 'contrast' && !document.querySelector('.pane.with-commands')`)
	want := `{"theme":"contrast","size":11,"family":"Fira Code","commands":false}`
	if got := eval[string](p, `Object.keys(localStorage) + ' ' + localStorage['termhost.settings']`); got != "termhost.settings "+want {
		t.Errorf("the browser keeps %s", got)
	}
	p.click("button", "Settings")
	p.click("button", "Reset")
	p.until(`document.documentElement.dataset.theme === 'light' && document.querySelector('.pane.with-commands')`)
	p.until(`localStorage['termhost.settings'] === '{}'`)
}

// A notification comes when a terminal that nobody looks at wants somebody, says nothing of what it
// shows, and brings it up.
func TestAWaitingTerminalNotifiesWhoAskedForIt(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	s.ssh("new", "-d", "-n", "other")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.run(devtools(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))
	p.run(chromedp.Evaluate[chromedp.Void](keepNotifications))
	s.ssh("send", "--enter", "other", "read -sp \"Na\"me:' ' name")
	p.until(`document.querySelector('.entry[aria-label^="other, "]').innerText.includes('secret')`)
	s.ssh("send", "--enter", "other", "hunter2")
	p.until(`document.querySelector('.entry[aria-label^="other, running"]')`)
	if eval[int](p, "asked + told.length") != 0 {
		t.Error("the page notifies without having been asked to")
	}
	p.click("button", "Settings")
	p.run(chromedp.Click(chromedp.CSS(`.check:has(+ .hint) input`)))
	p.until(`asked === 1 && document.querySelector('.check:has(+ .hint) input').checked`)
	p.click("button", "Done")

	s.ssh("send", "--enter", "other", "echo shown; read -sp \"Na\"me:' ' name")
	p.until(`told.at(-1)?.title === 'other: asks for a secret'`)
	if all := eval[string](p, "JSON.stringify(told)"); strings.Contains(all, "Name:") {
		t.Errorf("it tells what the terminal shows: %s", all)
	}
	p.run(chromedp.Evaluate[chromedp.Void](`told.at(-1).onclick()`))
	p.shows("other", "Name:")
	s.ssh("send", "--enter", "other", "hunter2")
	p.until(`told.at(-1).closed`)

	// What one looks at does not notify; the same once it is looked at no more.
	p.clickNow(`.entry[aria-label^="build,"]`)
	p.shows("build", "# ")
	s.ssh("send", "--enter", "build", "read -sp \"Na\"me:' ' name")
	p.until(`document.querySelector('.entry[aria-label^="build, "]').innerText.includes('secret')`)
	if others := eval[string](p, "told.map(n => n.title).filter(t => !t.startsWith('other: ')).join()"); others != "" {
		t.Errorf("it tells of what one looks at: %s", others)
	}
}

// keepNotifications keeps what the system would show in told, and counts in asked how often the
// person is asked whether it may.
const keepNotifications = `(() => {
	window.asked = 0; window.told = []; let permission = 'default';
	window.Notification = class extends EventTarget {
		static get permission() { return permission }
		static async requestPermission() { window.asked++; return permission = 'granted' }
		constructor(title, options) { super(); Object.assign(this, options, { title }); window.told.push(this) }
		close() { this.closed = true }
	};
})()`

// phone makes the window a phone's: small and touched.
func (p *tab) phone() {
	p.t.Helper()
	p.run(devtools(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: 390, Height: 780, DeviceScaleFactor: 1, Mobile: true}),
		devtools(emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true}))
}

// On a phone there is one pane at a time, a line that is sent as a paste and the keys that its own
// keyboard lacks. Nothing is resized unless one asks for it.
func TestAPhoneHasWhatItsKeyboardLacks(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	s.ssh("new", "-d", "-n", "logs")
	p := s.open(s.ticket("build") + "&debug=screen")
	p.phone()
	p.ready().shows("build", "# ")
	p.click("button", "Terminals")
	p.until(`document.querySelector('.sidebar').checkVisibility()`)
	p.shot("phone-list")
	p.clickNow(`.entry[aria-label^="build,"]`)
	p.until(`!document.querySelector('.sidebar').checkVisibility()`)
	p.beside("logs")
	p.until(`document.querySelectorAll('.pane').length === 1 && location.hash.startsWith('#/build+logs')`)
	p.clickNow(`[role=tab]`) // goes on to the tab's other pane
	p.shows("build", "# ")

	// What is composed stays in its line until it can be sent.
	compose := func(text string) {
		p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('[aria-label="Compose line"]').focus()`))
		p.keys(text)
	}
	agent := s.agent("codex")
	claim := ahp.TerminalClaimed{Claim: ahp.ClientClaim(agent.ID())}
	hosttest.Check(t, agent.Dispatch(t.Context(), ahp.TerminalURI("build"), claim))
	p.until(`document.querySelector('.pane .who').innerText === 'keyboard: root/codex' && !document.querySelector('.pane.unused')`)
	compose("echo sent $((40+2)); cat -v\r")
	p.until(`document.querySelector('.notices')?.innerText.includes('The keyboard is with root/codex')`)
	hosttest.Check(t, agent.Close())
	p.until(`document.querySelector('.pane.unused')`)
	compose("\r")
	p.shows("build", "sent 42")
	p.until(`document.querySelector('[aria-label="Compose line"]').value === ''`)
	p.shot("phone")

	for _, key := range []string{"Esc", "Up", "PgDn", "Ctrl", "Left"} {
		p.click("button", key)
	}
	p.click("button", "Alt")
	compose("x")
	p.click("button", "Tab")
	compose("end\r")
	p.shows("build", "^[^[[A^[[6~^[[1;5D^[x")
	p.click("button", "Ctrl")
	p.until(`document.querySelector('.keyrow [aria-pressed=true]')`)
	compose("c")
	p.shows("build", "^C")
	p.until(`!document.querySelector('.keyrow [aria-pressed=true]')`)

	// A secret is not to be seen.
	compose("read -s secret; echo length ${#secret}\r")
	p.until(`document.querySelector('[aria-label="Compose line"]').type === 'password'`)
	compose("hunter2\r")
	p.shows("build", "length 7")
	p.until(`document.querySelector('[aria-label="Compose line"]').type !== 'password'`)

	if size := eval[string](p, `document.querySelector('.bar .size').textContent`); size != "80×24" {
		t.Errorf("the program was resized to %s", size)
	}
	p.run(chromedp.Click(chromedp.CSS(`.menu summary`)))
	p.shot("phone-menu")
	p.click("menuitem", "Fit to this window")
	p.until(`document.querySelector('.bar .size').textContent !== '80×24'`)
	compose("stty size\r")
	p.shows("build", eval[string](p, `document.querySelector('.bar .size').textContent.split('×').reverse().join(' ')`))
}

// reach says which of the visible buttons and fields are not in the window, or behind others.
const reach = `(() => [...document.querySelectorAll('button, summary, input, textarea, select, [role=tab]')].filter((e) => {
	if (!e.checkVisibility() || document.querySelector('dialog') && !e.closest('dialog') || e.closest('.xterm') ||
		document.querySelector('.with-list') && !e.closest('.sidebar') || e.closest('.notices')) return false;
	e.scrollIntoView({ block: 'nearest', inline: 'nearest' });
	const b = (e.labels?.[0] ?? e).getBoundingClientRect(), at = document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2);
	return b.left < -1 || b.right > innerWidth + 1 || b.bottom > innerHeight + 1 || b.width < 24 ||
		!(at && (e.contains(at) || at.contains(e) || e.labels?.[0]?.contains(at)));
}).map((e) => e.ariaLabel || e.innerText).join(', '))()`

// On the smallest phone nothing is out of reach.
func TestEverythingIsInReachOnASmallPhone(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	const name = "an-agent-with-a-rather-long-name"
	s.ssh("new", "-d", "-n", name)
	p := s.open(s.ticket(name) + "&debug=screen")
	p.run(devtools(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: 360, Height: 560, DeviceScaleFactor: 1, Mobile: true}),
		devtools(emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true}))
	p.ready().shows(name, "# ")
	in := func(what string) {
		t.Helper()
		p.shot("small-" + what)
		if out := eval[string](p, reach); out != "" {
			t.Errorf("%s: out of reach are %s", what, out)
		}
	}
	in("terminal")
	p.run(chromedp.Click(chromedp.CSS(`.menu summary`)))
	p.until(`document.querySelector('[role=menuitem]:focus')`)
	const menu = `(() => { const b = document.querySelector('[role=menu]').getBoundingClientRect();
		return b.top >= 0 && b.left >= 0 && b.right <= innerWidth && b.bottom <= innerHeight })()`
	if !eval[bool](p, menu) {
		t.Error("the menu is larger than the window")
	}
	p.click("menuitem", "Commands")
	p.until(`document.querySelector('.commands').checkVisibility()`)
	in("commands")
	p.click("button", "Close the commands")
	p.until(`!document.querySelector('.commands').checkVisibility()`)
	p.menu("Find")
	p.keys("nowhere")
	p.until(`document.querySelector('.find .count').innerText === 'not found'`)
	in("find")
	p.click("button", "Close the search")
	p.until(`!document.querySelector('.find').checkVisibility()`)
	p.menu("Replay")
	p.until(`document.querySelector('.replay')`)
	in("replay")
	p.click("button", "Live")
	p.until(`!document.querySelector('.replay')`)
	p.click("button", "Terminals")
	p.until(`document.querySelector('.entry:focus')`) // the filter would bring up the screen's keyboard
	for _, dialog := range []string{"Keys", "Settings"} {
		p.until(`!document.querySelector('dialog')`)
		p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('.app').classList.remove('with-list')`))
		p.click("button", dialog)
		p.until(`document.querySelector('dialog')`)
		in(dialog)
		p.click("button", "Done")
	}
}

// TestAShortWindowIsMostlyTerminal makes windows short, as a phone's keyboard does. What is around
// the terminal then leaves it half of the height, and is in reach still.
func TestAShortWindowIsMostlyTerminal(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen")
	p.phone()
	p.ready().shows("build", "# ")
	p.take()
	const line = `document.querySelector('[aria-label="Compose line"]')`
	short := func(what string, width, height int64) {
		t.Helper()
		p.run(devtools(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: width, Height: height, DeviceScaleFactor: 1, Mobile: true}))
		p.until(fmt.Sprintf(`innerWidth === %d && innerHeight === %d`, width, height))
		p.shot(fmt.Sprintf("short-%s-%d", what, height))
		// In one step, for the notice does not stay.
		rows := eval[[]float64](p, module("dialogs.js")+`.then(({ notice }) => {
			notice('The keyboard is with somebody with a long name: take it with Ctrl-\\ c, or ask for it with Ctrl-\\ a');
			const view = document.querySelector('.view').getBoundingClientRect();
			return [view.height, innerHeight, view.top, document.querySelector('.notices').getBoundingClientRect().bottom] })`)
		if rows[0] < rows[1]/2 {
			t.Errorf("%s, %dx%d: the terminal has %.0f of the height", what, width, height, rows[0])
		}
		if covered := rows[3] - rows[2]; covered > rows[0]/4 {
			t.Errorf("%s, %dx%d: a notice covers %.0f of the terminal", what, width, height, covered)
		}
		if out := eval[string](p, reach); out != "" {
			t.Errorf("%s, %dx%d: out of reach are %s", what, width, height, out)
		}
	}
	for _, size := range [][2]int64{{390, 420}, {390, 361}, {320, 240}, {800, 200}} {
		short("keys", size[0], size[1])
		if eval[bool](p, line+`.checkVisibility()`) {
			t.Errorf("%v: the compose line is there before it is asked for", size)
		}
		p.click("button", "Compose")
		p.until(line + `.matches(':focus')`)
		short("line", size[0], size[1])
		p.keys(fmt.Sprintf("echo $((%d+1))\r", size[1]))
		p.shows("build", fmt.Sprintf("\n%d", size[1]+1))
		p.click("button", "Close the compose line")
		p.until(`!` + line + `.checkVisibility()`)
	}

	// A line that is being written stays when the keyboard comes up.
	p.phone()
	p.until(line + `.checkVisibility()`)
	p.run(chromedp.Click(chromedp.CSS(`[aria-label="Compose line"]`)))
	p.keys("half")
	short("writing", 390, 361)
	p.until(line + `.matches(':focus') && ` + line + `.value === 'half'`)
}

// TestTheAddressHasTheLayout goes back and forth between what was shown, and opens a text to find.
func TestTheAddressHasTheLayout(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	for _, name := range []string{"build", "logs", "agent"} {
		s.ssh("new", "-d", "-n", name)
	}
	s.ssh("send", "--enter", "build", "echo needle")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "needle")
	show := func(name string) {
		p.clickNow(fmt.Sprintf(`.entry[aria-label^="%s,"]`, name))
		p.shows(name, "# ")
	}
	show("logs")
	p.until(`location.hash === '#/build,logs?debug=screen&at=logs'`)
	p.beside("agent")
	p.until(`location.hash === '#/build,logs+agent?debug=screen&at=agent'`)
	back := func() { p.run(chromedp.Evaluate[chromedp.Void](`history.back()`)) }
	back()
	p.until(`document.querySelectorAll('.pane').length === 1`)
	p.shows("logs", "# ")
	back()
	p.shows("build", "needle")
	p.until(`document.querySelectorAll('[role=tab]').length === 1 && location.hash === '#/build?debug=screen'`)
	p.run(chromedp.Evaluate[chromedp.Void](`history.go(2)`))
	p.shows("agent", "# ")
	p.shows("logs", "# ")

	// A pane's share of the room is there, too. Changing it is nothing that one goes back from.
	const share = `(() => { const [a, b] = [...document.querySelectorAll('.pane')].map((e) => e.getBoundingClientRect().width);
		return a / (a + b) })()`
	steps := eval[int](p, `history.length`)
	p.run(chromedp.Focus(chromedp.CSS(`[role=separator]`)))
	p.keys(strings.Repeat(kb.ArrowRight, 4))
	p.until(`location.hash === '#/build,logs+agent:30?debug=screen&at=agent'`)
	p.until(`document.activeElement.matches('[role=separator][aria-valuenow="70"]')`)
	p.until(`Math.abs(` + share + ` - 0.7) < 0.01`)
	p.dragBorder(-0.2)
	p.until(`/^#\/build,logs\+agent:(49\.|50|50\.)/.test(location.hash) || location.hash.startsWith('#/build,logs+agent?')`)
	p.run(chromedp.Evaluate[chromedp.Void](`location.hash = '#/build,logs+agent:62.5?debug=screen&at=agent'`))
	p.until(`Math.abs(` + share + ` - 0.375) < 0.01`)
	if now := eval[int](p, `history.length`); now != steps+1 {
		t.Errorf("Back leads over %d sizes", now-steps-1)
	}

	// A reload and an address that somebody has written come to the same.
	p.run(chromedp.Reload())
	p.ready().shows("agent", "# ")
	p.until(`Math.abs(` + share + ` - 0.375) < 0.01`)
	p.until(`document.querySelector('.pane.focused strong').innerText === 'agent'`)
	p.run(chromedp.Evaluate[chromedp.Void](`location.hash = '#/build,logs?split=v&find=needle&debug=screen'`))
	p.shows("build", "needle")
	p.shows("logs", "# ")
	p.until(`document.querySelector('.split.v') && document.querySelector('[aria-label=Find]:focus').value === 'needle'`)
	p.keys("\x1b")
	p.until(`!location.hash.includes('find')`)
}

// dragBorder drags the border between two panes by a part of the room that they share.
func (p *tab) dragBorder(by float64) {
	p.t.Helper()
	at := eval[struct{ X, Y, Width float64 }](p, `(() => { const b = document.querySelector('[role=separator]'), box = b.getBoundingClientRect();
		return { X: box.x + box.width / 2, Y: box.y + box.height / 2, Width: b.parentElement.offsetWidth } })()`)
	mouse := func(kind input.DispatchMouseEventType, x float64) {
		p.run(devtools(input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: x, Y: at.Y, Button: input.MouseButtonLeft, ClickCount: 1}))
	}
	mouse(input.DispatchMouseEventTypeMousePressed, at.X)
	for _, part := range []float64{0.5, 1} {
		mouse(input.DispatchMouseEventTypeMouseMoved, at.X+by*part*at.Width)
	}
	mouse(input.DispatchMouseEventTypeMouseReleased, at.X+by*at.Width)
}

// A screen reader's user reads a terminal as a document, which does not change under them.
func TestATerminalReadsAsPlainText(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	p.click("button", "Commands") // which would open with the first command, and resize it
	p.takesIt()
	p.until(`document.querySelector('.pane.held')`)
	p.typeLine("build", "seq 100; printf '\\033[31mred\\033[m %0200d\\n' 7")
	p.shows("build", "0007")
	p.run(chromedp.Click(chromedp.CSS(`.menu summary`)))
	p.click("menuitem", "Plain text")
	const text = `document.querySelector('[role=document][aria-label="Text of build"]:focus')?.textContent`
	want := "\n1\n2\n"
	for _, part := range []string{want, "\n100\nred " + strings.Repeat("0", 199) + "7\n"} {
		if got := eval[string](p, text); !strings.Contains(got, part) {
			t.Errorf("the text lacks %q: %q", part, got)
		}
	}
	p.shot("plain")
	s.ssh("send", "--enter", "build", "echo late$((1-1))")
	p.shows("build", "\nlate0")
	if got := eval[string](p, text); strings.Contains(got, "\nlate0") {
		t.Error("the text has changed by itself")
	}
	p.click("button", "Refresh the text")
	p.until(text + `.includes('\nlate0')`)
	p.keys("\x1b")
	p.until(`!document.querySelector('.plain') && document.activeElement.closest('[data-terminal=build]')`)
}

// TestSettingsOfTerminals closes a view that then hands the keyboard back, and has a terminal's
// output told to screen readers.
func TestSettingsOfTerminals(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	p.click("button", "Settings")
	for _, label := range []string{"Closing a view", "Tell screen readers"} {
		p.run(chromedp.Click(fmt.Sprintf(`//label[contains(., %q)]`, label)))
	}
	p.click("button", "Done")
	p.until(`!document.querySelector('dialog')`)
	p.until(`[...document.querySelectorAll('.xterm-accessibility-tree [role=listitem]')].some((e) => e.textContent.includes('# '))`)
	p.takesIt()
	p.until(`document.querySelector('.pane.held') && document.querySelector('.entry .state').innerText === 'yours'`)
	p.click("button", "Close this view")
	p.until(`!document.querySelector('.pane') && document.querySelector('.entry').ariaLabel.includes('keyboard: you (ssh)')`)
}

// clickNow waits for an element and clicks on it at once, since it may be drawn anew at any time.
func (p *tab) clickNow(selector string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e?.click(); return !!e })()`, selector))
}
