package pagetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// command waits until the list of commands has a line, and returns what its row says.
func (p *tab) command(line, words string) string {
	p.t.Helper()
	row := fmt.Sprintf(`[...document.querySelectorAll('[aria-label=Commands] li')].find(
		li => li.querySelector('code').innerText === %q && li.innerText.includes(%q))`, line, words)
	p.until(row)
	return eval[string](p, row+".innerText")
}

func TestCommandsStandBesideTheirTerminal(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	p.takesIt()
	p.until(`document.querySelector('.pane.held')`)

	for _, c := range []struct{ line, words, mark string }{
		{"printf 'one\\n\\033[31mtwo\\033[m\\n'", "ok 0", "ok"},
		{"cd /usr", "ok 0", "ok"},
		{"(exit 7)", "failed 7", "failed"},
		{"sh -c 'kill -9 $$'", "SIGKILL", "signal"},
	} {
		p.typeLine("build", c.line)
		row := p.command(c.line, c.words)
		if !strings.Contains(row, "ms") && !strings.Contains(row, " s") {
			t.Errorf("a command without its duration: %q", row)
		}
		p.until(fmt.Sprintf(`document.querySelector('[role=tab] .mark.%s')`, c.mark))
		icon := map[string]string{"ok": "icon-ok", "failed": "icon-failed", "signal": "icon-failed"}[c.mark]
		p.until(fmt.Sprintf(`document.querySelector('link[rel=icon]').href.includes(%q)`, icon))
	}
	if row := p.command("(exit 7)", "failed 7"); !strings.Contains(row, "/usr") {
		t.Errorf("a command without its directory: %q", row)
	}
	// Directories are those of a prompt, and cut where there is no room for them.
	home := eval[string](p, `document.querySelector('[aria-label=Commands] li:last-child .cwd').innerText`)
	if whole := eval[string](p, `document.querySelector('[aria-label=Commands] li:last-child button').title`); home != "~" ||
		!strings.Contains(whole, "\n"+s.dir+"\n") {
		t.Errorf("the home directory is %q, and %q", home, whole)
	}
	for path, want := range map[string]string{
		"/home/ann/src": "~/src", "/home/anna": "/home/anna", "/": "/",
		"/home/ann/src/example.org/project/internal/server/handlers": "~/src/…/server/handlers",
		"/" + strings.Repeat("a", 40) + "/b":                         "/aaaaaaaaaaa…/b",
	} {
		got := eval[string](p, fmt.Sprintf(module("format.js")+`.then((f) => f.shortPath(%q, '/home/ann'))`, path))
		if got != want {
			t.Errorf("%s is shown as %q", path, got)
		}
	}
	if name := eval[string](p, `document.querySelector('[role=tab]').ariaLabel`); name != "build" {
		t.Errorf("the tab's name is %q", name)
	}

	// A click shows the output, as the terminal drew it; another one the terminal again.
	p.run(chromedp.Click(`//button[.//code[contains(., 'printf')]]`))
	p.until(`document.querySelector('.output .text')?.innerText.trim() === 'one\ntwo'`)
	if color := eval[string](p, `getComputedStyle(document.querySelector('.output .text span')).color`); color == "" ||
		color == eval[string](p, `getComputedStyle(document.querySelector('.output .text')).color`) {
		t.Errorf("red is %q", color)
	}
	p.shot("commands-output")

	// It is above all of the terminal, what is found there included.
	p.keys("\x1b")
	p.until(`document.querySelector('.output').hidden`)
	p.click("button", "Find")
	p.keys("printf\x1b")
	p.inTerminal("build")
	p.run(chromedp.Click(`//button[.//code[contains(., 'printf')]]`))
	p.until(`document.querySelector('.output').checkVisibility()`)
	if !eval[bool](p, `(() => { const b = document.querySelector('.output header').getBoundingClientRect();
		const sheets = document.adoptedStyleSheets, all = new CSSStyleSheet();
		all.replaceSync('* { pointer-events: auto !important }');
		document.adoptedStyleSheets = [...sheets, all];
		let covered = true;
		for (let x = b.left + 2; x < b.right; x += 3) for (let y = b.top + 2; y < b.bottom; y += 3) {
			covered &&= !!document.elementFromPoint(x, y).closest('.output');
		}
		document.adoptedStyleSheets = sheets;
		return covered })()`) {
		t.Error("a part of the terminal is above the output")
	}
	p.keys("\x1b")
	p.until(`document.querySelector('.output').hidden`)
	p.shot("commands")

	// What runs counts on, and its output grows.
	p.typeLine("build", "echo begun; read line; echo $line over")
	p.command("echo begun; read line; echo $line over", "running")
	p.run(chromedp.Click(`//button[.//code[contains(., 'begun')]]`))
	p.until(`document.querySelector('.output .text').innerText.includes('begun')`)
	p.typeLine("build", "all")
	p.until(`document.querySelector('.output .text').innerText.includes('all over')`)
	p.command("echo begun; read line; echo $line over", "ok 0")

	// The list has it all again after a reload.
	p.run(chromedp.Reload())
	p.ready()
	p.command("(exit 7)", "failed 7")
	p.run(chromedp.Click(`//button[.//code[contains(., 'printf')]]`))
	p.until(`document.querySelector('.output .text')?.innerText.trim() === 'one\ntwo'`)

	// A shell that is killed leaves its command lost, and the tab says how it ended.
	p.keys("\x1b")
	p.typeLine("build", "kill -9 $$")
	p.until(`document.querySelector('[role=tab] .mark.signal')`)
	p.until(`document.querySelector('.pane .who').innerText.includes('SIGKILL')`)
	p.shot("commands-killed")
}

func TestAHiddenTabShowsHowItsCommandEnded(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	s.ssh("new", "-d", "-n", "other")
	p := s.open(s.ticket("build", "other") + "&debug=screen").ready()
	p.shows("build", "# ")
	tabMark := func(kind string) string {
		return fmt.Sprintf(`document.querySelector('[role=tab][aria-label=other] .mark.%s')`, kind)
	}
	s.ssh("send", "--enter", "other", "false")
	p.until(tabMark("failed"))
	s.ssh("send", "--enter", "other", "read -p 'Name: ' name")
	p.until(tabMark("needs"))
	p.until(`document.querySelector('link[rel=icon]').href.includes('icon-needs') && document.title.startsWith('(1)')`)
	p.shot("tab-needs")
	s.ssh("send", "--enter", "other", "ann")
	p.until(tabMark("ok"))
}

// A terminal that rings while nobody looks at it wants the person, though this page has never shown
// it, until they look at it, in whatever page of theirs.
func TestATerminalThatRingsWantsWhoeverLooksElsewhere(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	for _, name := range []string{"build", "other"} {
		s.ssh("new", "-d", "-n", name)
	}
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	ring := func(name string) { s.ssh("send", "--enter", name, `printf '"\a"'; echo rang $((0+1))`) }
	const wants = `document.querySelector('.entry[aria-label^="other, rang the bell"] .mark.needs')`
	const rests = `document.querySelector('.entry[aria-label^="other, running"]')`
	ring("build") // in sight of the person
	p.shows("build", "rang 1")
	ring("other")
	p.until(wants)
	p.until(`document.title.startsWith('(1)') && document.querySelector('section:has(.mark.needs) h2').innerText.toLowerCase() === 'needs you 1'`)
	p.shot("bell")
	second := s.open(s.ticket("build", "other") + "&debug=screen").ready()
	second.until(wants)
	second.clickNow(`.entry[aria-label^="other,"]`)
	second.until(rests)
	p.until(rests)
	second.clickNow(`.entry[aria-label^="build,"]`)
	second.until(`document.querySelector('.pane.focused strong').innerText === 'build'`)
	hosttest.Eventually(t, "a bell that nobody was there for", func() bool {
		ring("other")
		return eval[bool](p, "!!"+wants)
	})
	p.clickNow(`.entry[aria-label^="other,"]`)
	p.until(rests)
	second.until(rests)
}

// A program that asks for a secret has a badge of its own in the list, and counts among those that
// want the person, until it is answered.
func TestASecretThatIsAskedForIsShown(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	for _, name := range []string{"deploy", "other", "third"} {
		s.ssh("new", "-d", "-n", name)
	}
	p := s.open(s.ticket("third") + "&debug=screen").ready()
	wants := func(n int) {
		t.Helper()
		p.until(fmt.Sprintf(`[...document.querySelectorAll('[aria-label=Terminals] section:not([hidden])')].some(s =>
			s.querySelector('h2').textContent.trim() === 'Needs you %d' && s.querySelectorAll('li').length === %[1]d) &&
			document.title.startsWith('(%[1]d)')`, n))
	}
	entry := func(name, words, short, question string) {
		t.Helper()
		p.until(fmt.Sprintf(`[...document.querySelectorAll('button.entry')].some(e => e.ariaLabel.startsWith(%q) &&
			e.ariaLabel.includes(%q) && e.innerText.includes(%q) && e.innerText.includes(%q))`, name+",", words, short, question))
	}
	s.ssh("send", "--enter", "deploy", "read -s -p 'Password: ' password")
	entry("deploy", "asks for a secret", "secret", "Password:")
	wants(1)
	s.ssh("send", "--enter", "other", "read -p 'Name: ' name")
	entry("other", "waiting for input", "waits", "Name:")
	wants(2)
	p.shot("secret")
	s.ssh("send", "--enter", "deploy", "a secret")
	wants(1)
	s.ssh("send", "--enter", "other", "ann")
	p.until(`!document.title.startsWith('(')`)
}

// A command of which nobody knows how it ended has a mark of its own, neither green nor red: in the
// list, in the replay, and on the tab.
func TestACommandOfUnknownEnd(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	script := s.file("marks", `printf '\033]133;A\a$ \033]133;B\a\033]133;C\aout\r\n\033]133;D\a'; exec tail -f /dev/null`+"\n")
	s.ssh("new", "-d", "-n", "build", "--", "sh", script)
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "out")
	p.command("(no line)", "unknown")
	if mark := eval[string](p, `document.querySelector('[aria-label=Commands] li .mark').className`); mark != "mark lost" {
		t.Errorf("the mark is a %s", mark)
	}
	p.until(`document.querySelector('[role=tab] .mark.lost')?.textContent === '?'`)
	p.until(`document.querySelector('link[rel=icon]').href.includes('icon-failed')`)
	p.shot("commands-lost")
	p.menu("Replay")
	p.until(`document.querySelector('.replay .marks button.lost')?.ariaLabel.endsWith('unknown')`)
}
