package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestSettingsHoldInThisBrowser changes what the dialog has, and looks at what comes of it.
func TestSettingsHoldInThisBrowser(t *testing.T) {
	slow(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen")
	p.prefers("light")
	p.ready().shows("build", "# ")
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
	slow(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	s.ssh("new", "-d", "-n", "other")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.run(devtools(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))
	p.run(chromedp.Evaluate[chromedp.Void](`(() => {
		window.asked = 0; window.told = []; let permission = 'default';
		window.Notification = class extends EventTarget {
			static get permission() { return permission }
			static async requestPermission() { window.asked++; return permission = 'granted' }
			constructor(title, options) { super(); Object.assign(this, options, { title }); window.told.push(this) }
			close() { this.closed = true }
		};
	})()`))
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
	p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('.entry[aria-label^="build,"]').click()`))
	p.shows("build", "# ")
	s.ssh("send", "--enter", "build", "read -sp \"Na\"me:' ' name")
	p.until(`document.querySelector('.entry[aria-label^="build, "]').innerText.includes('secret')`)
	if others := eval[string](p, "told.map(n => n.title).filter(t => !t.startsWith('other: ')).join()"); others != "" {
		t.Errorf("it tells of what one looks at: %s", others)
	}
}
