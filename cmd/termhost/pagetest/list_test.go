package pagetest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// entry is an expression for a part of a terminal's entry in the list, "" where there is none.
func entry(name, part string) string {
	return fmt.Sprintf(`([...document.querySelectorAll('button.entry')].find(
		(e) => e.querySelector('.name').textContent === %q)?.querySelector(%q)?.textContent ?? '')`, name, part)
}

// TestTheListTellsWhatGoesOn: which command runs and for how long, or ran last; where; what a program
// asks, and since when; who types. Its head is the machine's name, as is the window's title.
func TestTheListTellsWhatGoesOn(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	src := filepath.Join(s.dir, "src")
	hosttest.Check(t, os.Mkdir(src, 0o755))
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	hostname, err := os.Hostname()
	hosttest.Check(t, err)
	p.until(fmt.Sprintf(`document.querySelector('.brand').textContent === %q`, hostname))
	p.until(fmt.Sprintf(`document.title.endsWith('build \u2013 ' + %q)`, hostname))
	p.until(`/[#$] /.test(document.querySelector('[data-terminal=build] [data-screen]')?.dataset.screen ?? '')`)

	s.ssh("send", "--enter", "build", "cd src")
	p.until(entry("build", ".where") + ` === '~/src'`)
	p.until(entry("build", ".what") + ` === 'cd src' && ` + entry("build", ".mark") + ` === '\u2713'`)
	p.until(entry("build", ".time") + ` === ''`)
	s.ssh("send", "--enter", "build", "false")
	p.until(entry("build", ".what") + ` === 'false' && ` + entry("build", ".mark") + ` === '\u2715'`)
	p.until(fmt.Sprintf(`/^build, running, last command failed 1, keyboard: [^,]+, false, ~\/src/.test([...document.querySelectorAll('button.entry')].find(
		(e) => e.querySelector('.name').textContent === %q).ariaLabel)`, "build"))

	// What runs, and for how long: that counts on by itself.
	s.ssh("send", "--enter", "build", "sleep 1000")
	p.until(entry("build", ".what") + ` === 'sleep 1000' && /^\d+ s$/.test(` + entry("build", ".time") + `)`)
	p.until(`parseInt(` + entry("build", ".time") + `) >= 2`)
	p.until(entry("build", ".state") + ` === document.querySelector('.who').textContent.replace('keyboard: ', '')`)

	// How far its program says that it is.
	s.ssh("new", "-d", "-n", "far", "--", `printf '\033]9;4;1;42\a'; stty -icanon -echo; head -c 1; printf '\033]9;4;2\a'; exec cat`)
	p.until(entry("far", ".state") + ` === '42%'`)
	s.ssh("send", "far", "x")
	p.until(entry("far", ".state") + ` === 'failed at 42%'`)

	// What it asks goes before what runs. What is typed is no part of it.
	s.ssh("new", "-d", "-n", "copy", "--", `printf "Overwrite? [y/N] "; read x; sleep 1000`)
	p.until(entry("copy", ".what") + ` === 'Overwrite? [y/N]' && /^waits \d+ s$/.test(` + entry("copy", ".state") + `)`)
	s.ssh("send", "copy", "y")
	s.ssh("wait", "copy", "--match", `'N. y'`)
	p.until(entry("copy", ".what") + ` === 'Overwrite? [y/N]'`)
	s.ssh("send", "--enter", "copy", "")
	p.until(entry("copy", ".what") + ` === 'printf "Overwrite? [y/N] "; read x; sleep 1000' && ` + entry("copy", ".state") + ` !== ''`)

	// What its program says of itself, and its labels, which the filter finds.
	s.ssh("label", "copy", "project=shop")
	s.ssh("status", "copy", "working", "on", "it")
	p.until(entry("copy", ".what") + ` === 'on it' && ` + entry("copy", ".where") + ` === 'project=shop'`)
	s.ssh("status", "copy", "waiting", "may", "I?")
	p.until(entry("copy", ".what") + ` === 'may I?' && /^waits/.test(` + entry("copy", ".state") + `)`)
	s.ssh("status", "copy", "done", "it", "is")
	p.until(entry("copy", ".what") + ` === 'it is' && ` + entry("copy", ".state") + ` === 'is done'`)

	// Ages as people say them.
	for ms, want := range map[int]string{0: "0 s", -5000: "0 s", 59_999: "59 s", 60_000: "1 m", 3_599_000: "59 m",
		3_600_000: "1 h", 172_799_000: "47 h", 172_800_000: "2 d"} {
		if got := eval[string](p, fmt.Sprintf(module("format.js")+`.then((f) => f.age(%d))`, ms)); got != want {
			t.Errorf("%d ms are %q", ms, got)
		}
	}
	// The command that runs filters, as its directory and what a terminal was made for do.
	p.run(chromedp.SendKeys(chromedp.CSS(`[aria-label=Filter]`), "sleep"))
	p.until(`document.querySelectorAll('button.entry').length === 2`)
}
