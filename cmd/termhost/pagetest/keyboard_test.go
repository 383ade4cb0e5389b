package pagetest

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

func TestTheKeyboardsHolderIsNamed(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	other := s.open(s.ticket("build") + "&debug=screen").ready()
	other.shows("build", "# ")
	other.takesIt()
	other.until(`document.querySelector('.pane.held')`)
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	p.until(`document.querySelector('.pane .who').innerText === 'keyboard: root/page'`)
	p.run(chromedp.Evaluate[chromedp.Void](`(() => { // no notice goes because of its time
		const later = setTimeout;
		window.setTimeout = (f, ms) => ms === 5000 ? 0 : later(f, ms);
	})()`))
	p.typeLine("build", "echo never")
	p.until(`document.querySelector('.notices')?.innerText.includes('The keyboard is with root/page')`)

	p.prefix() // alone it shows its keys
	p.until(`document.querySelector('.prefix-keys table')?.innerText.includes('pick a terminal')`)
	p.shot("prefix")
	p.keys("\x1b") // leaves them, and reaches no program
	p.until(`!document.querySelector('.prefix-keys table')`)
	p.commands("?")
	p.until(`document.querySelectorAll('dialog.keys table').length === 2`)
	p.shot("keys")
	p.keys("\x1b")
	p.until(`!document.querySelector('dialog')`)
	p.prefix()
	p.keys("c")
	p.until(`document.querySelector('.pane.held')`)
	p.until(`!document.querySelector('.notices').innerText.includes('The keyboard is with')`) // it is untrue
	p.typeLine("build", "echo typed here")
	p.shows("build", "\ntyped here")

	// Another page takes it: both say who has it.
	other.shows("build", "typed here")
	other.takesIt()
	other.until(`document.querySelector('.pane.held')`)
	p.until(`document.querySelector('.notices').innerText.includes('root/page has the keyboard')`)
	p.shot("keyboard-lost")
	other.click("button", "Hand back")
	p.until(`document.querySelector('.pane.held')`)
	p.run(chromedp.Focus(chromedp.CSS(`[data-terminal=build] textarea`)))
	p.prefix()
	p.keys("d")
	p.until(`!document.querySelector('[data-terminal=build]')`)
	if list := s.ssh("ls"); !strings.Contains(list, "running") {
		t.Errorf("closing a view has ended the program: %s", list)
	}
}

// What an agent wants to type is shown until a person has decided, on the page, which is its
// person's, or elsewhere.
func TestWhatAnAgentWantsToTypeIsShown(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "--guard", "-n", "work", "--", "sh -c 'stty -icanon -echo; echo ready; exec cat'")
	s.ssh("new", "-d", "-n", "inner")
	p := s.open(s.ticket("inner", "work") + "&debug=screen").ready()
	for _, c := range []struct {
		word   string
		decide func()
		typed  bool
	}{
		{"first", func() { p.decides("Approve") }, true},
		{"second", func() { p.decides("Refuse") }, false},
		{"third", func() { s.ssh("asks"); s.ssh("approve", "work") }, true},
		{"fourth", func() { s.ssh("asks"); s.ssh("refuse", "work") }, false},
	} {
		p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('[role=tab][aria-label=inner]').click()`))
		s.ssh("send", "--enter", "inner", "--", fmt.Sprintf("%s send -c %s --enter work %s; echo %s told $?",
			termhostPath(t), s.config, c.word, c.word)) // behind "--", or both --enter would be the outer send's
		p.until(`document.querySelector('[role=tab][aria-label=work] .mark.needs')`)
		p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('[role=tab][aria-label=work]').click()`))
		p.until(fmt.Sprintf(`document.querySelector('.asks:not([hidden]) .said')?.innerText.startsWith(%q)`, c.word))
		p.shot("approval")
		c.decide()
		p.until(`document.querySelector('.asks').hidden`)
		if c.typed {
			p.shows("work", c.word)
		}
		s.ssh("wait", "--match", c.word+".told."+map[bool]string{true: "0", false: "[1-9]"}[c.typed], "inner")
	}
	if screen := s.ssh("peek", "work"); strings.Contains(screen, "second") || strings.Contains(screen, "fourth") {
		t.Errorf("what was refused was typed: %s", screen)
	}
	p.sameAs(s, "work")
}

func TestTheScreenIsTheHostsAfterItsRestart(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	p.takesIt()
	p.until(`document.querySelector('.pane.held')`)
	p.typeLine("build", "printf '\\033[31mred\\033[m 日本 👩‍👩‍👧 é\\n'; seq 50")
	p.shows("build", "\n50\n")
	s.crash()
	p.lost("The host does not answer")
	p.until(`document.querySelector('.pane.stale')`)
	p.shows("build", "\n50\n") // still
	p.shot("lost")
	s.start()
	p.ready()
	p.until(`!document.querySelector('.pane.stale')`)
	p.sameAs(s, "build")
	p.typeLine("build", "echo after $((6*7))")
	p.shows("build", "after 42")
	p.sameAs(s, "build")
}

// A mouse report of the oldest form has a byte for the column, which is no text beyond column 95.
func TestTheMouseIsReportedInBytes(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "mouse", "--", `sh -c 'stty raw -echo; printf "\033[?1000hready"; `+
		`dd bs=1 count=6 2>/dev/null | od -An -tx1; exec cat'`)
	p := s.open(s.ticket("mouse") + "&debug=screen")
	p.run(devtools(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: 2600, Height: 800, DeviceScaleFactor: 1}))
	p.ready().shows("mouse", "ready")
	p.until(`document.querySelector('.xterm.enable-mouse-events')`)
	const width = `document.querySelector('.xterm-screen').getBoundingClientRect().width`
	cell := eval[float64](p, width+` / 80`)
	p.takesIt()
	p.until(fmt.Sprintf(`%s > %f`, width, 150*cell)) // it has the size of its pane
	at := eval[[]float64](p, fmt.Sprintf(`(() => {
		const box = document.querySelector('.xterm-screen').getBoundingClientRect();
		return [box.left + 139.5 * %f, box.top + 3];
	})()`, cell))
	p.run(chromedp.MouseClickXY(at[0], at[1]))
	p.shows("mouse", "1b 5b 4d 20 ac 21") // column 140, row 1, each and 32
}

// prefix types Ctrl-\.
func (p *tab) prefix() {
	p.t.Helper()
	p.run(devtools(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown, Key: "\\",
		Code: "Backslash", Modifiers: 2, WindowsVirtualKeyCode: 220}))
}

// termhostPath is the path of termhost.
func termhostPath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("termhost")
	hosttest.Check(t, err)
	return path
}
