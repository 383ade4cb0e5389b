package pagetest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest/slowtest"
)

// TestFindTellsWhichMatchAndMarksAll: in one terminal, and over all of them.
func TestFindTellsWhichMatchAndMarksAll(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build", "--", `echo "one Needle"; seq 3; echo "a Needle, a needle, a Needle"; echo the end; read x`)
	s.ssh("new", "-d", "-n", "other", "--", `echo "one needle more"; read x`)
	s.ssh("new", "-d", "-n", "empty")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "the end")
	count := func(want string) {
		t.Helper()
		p.until(fmt.Sprintf(`document.querySelector('.find .count').innerText === %q`, want))
	}
	p.click("button", "Find")
	p.run(chromedp.SendKeys(chromedp.CSS(`.find input`), "needle"))
	count("4 of 4") // the last one first
	p.until(`document.querySelectorAll('.xterm-decoration-container > *').length >= 4`)
	chosen := `['rgb(255, 181, 46)', 'rgb(181, 137, 0)'].includes(getComputedStyle(e).backgroundColor)`
	p.until(`[...document.querySelectorAll('.xterm-rows span')].filter((e) => ` + chosen + `).map((e) => e.textContent).join('') === 'Needle'`)
	p.shot("find-marks")
	for _, want := range []string{"3 of 4", "2 of 4", "1 of 4", "4 of 4"} { // each in its line, and around
		p.keys("\r")
		count(want)
	}
	p.click("button", "Next match")
	count("1 of 4")
	p.click("button", "Next match")
	count("2 of 4")

	p.click("button", "Search all terminals")
	p.until(`document.querySelector('[aria-label="Found in all terminals"] .what').innerText === '3 lines with “needle” in 2 terminals'`)
	p.shot("find-all")
	p.run(chromedp.Click(`//section[@aria-label='other']/button[contains(., 'one needle more')]`))
	p.shows("other", "one needle more")
	count("1 of 1")
	p.until(`document.querySelector('[aria-label="Found in all terminals"]').hidden`)
	p.run(chromedp.SendKeys(chromedp.CSS(`.find input`), "less"))
	count("not found")
	p.click("button", "Search all terminals")
	p.until(`document.querySelector('[aria-label="Found in all terminals"] .what').innerText.endsWith('is in no terminal')`)
	p.keys("\x1b")
	p.until(`document.querySelector('[aria-label="Found in all terminals"]').hidden`)
}

// TestATextInTheAddressIsGoneToOnceItIsDrawn has the host find a text long before the page has drawn
// the line that it is in, or where it never has: a snapshot has the newest lines.
func TestATextInTheAddressIsGoneToOnceItIsDrawn(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	for name, lines := range map[string]int{"short": 100, "long": 8000} {
		s.ssh("new", "-d", "-n", name, "--", fmt.Sprintf(`echo the needle; `+
			`seq %d | awk '{ for (i = 0; i < 20; i++) printf "\033[38;5;%%dm%%d", i, i; print "\033[m" }'; echo done; read x`, lines))
		s.ssh("wait", "--match", "^done$", name)
		p := s.open(s.ticket(name) + "&debug=screen&find=needle").ready()
		p.until(`document.querySelector('.find .count').innerText === '1 of 1'`)
		p.until(fmt.Sprintf(`(document.querySelector('.lines:not([hidden])')?.innerText ??
			document.querySelector('[data-terminal=%q] [data-screen]').dataset.screen).includes('the needle')`, name))
	}
}
