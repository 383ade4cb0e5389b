package pagetest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// On a phone a terminal that is wider than its screen says what is cut off, and its size is offered
// to whoever takes the keyboard.
func TestAPhoneSaysWhatIsCutAndOffersToFit(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "wide")
	p := s.open(s.ticket("wide") + "&debug=screen")
	p.phone()
	p.ready().shows("wide", "# ")
	const right, offer = `document.querySelector('.cut.right:not([hidden])')`, `document.querySelector('.offer:not([hidden])')`
	p.until(`/^\d+ more →$/.test(` + right + `.innerText)`)
	if eval[bool](p, `!!`+offer+` || !!document.querySelector('.cut.left:not([hidden])')`) {
		t.Error("who only looks is offered something, or told of what is cut off at the left")
	}
	p.shot("phone-cut")
	p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('.view').scrollLeft = 1e4`))
	p.until(`!` + right + ` && document.querySelector('.cut.left:not([hidden])').innerText.startsWith('← ')`)
	p.takes("wide")
	p.until(offer + `.innerText.includes('80×24')`)
	p.shot("phone-offer")
	p.click("button", "Fit to this screen")
	p.until(`!document.querySelector('.bar .size').textContent.startsWith('80')`)
	p.until(`!document.querySelector('.cut:not([hidden])') && !` + offer)
	p.sameAs(s, "wide")

	// Turned, the screen has less room: the cursor stays in view, the rest is counted, and the size
	// is offered anew.
	p.typeLine("wide", "seq 100; echo la''st")
	p.shows("wide", "\nlast\n")
	p.run(devtools(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: 780, Height: 390, DeviceScaleFactor: 1, Mobile: true}))
	p.until(offer + ` && /^↑ \d+ more$/.test(document.querySelector('.cut.above:not([hidden])').innerText)`)
	p.until(`!document.querySelector('.cut.below:not([hidden])')`)
	p.shot("phone-turned")
	p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('.view').scrollTop = 0`))
	p.until(`/^\d+ more ↓$/.test(document.querySelector('.cut.below:not([hidden])').innerText)`)
	p.typeLine("wide", "")
	p.until(`!document.querySelector('.cut.below:not([hidden])')`)
	p.click("button", "Fit to this screen")
	p.until(`!document.querySelector('.cut:not([hidden])') && !` + offer)
}

// What a shell's line needs is among the keys.
func TestAPhonesKeysHaveWhatAShellNeeds(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build", "--", "cat -v")
	p := s.open(s.ticket("build") + "&debug=screen")
	p.phone()
	p.ready()
	p.takes("build")
	for _, key := range []string{"|", "~", "/", "-", "Enter"} {
		p.click("button", key)
	}
	p.shows("build", "|~/-\n|~/-\n")
	p.run(chromedp.Focus(chromedp.CSS(`[aria-label="Compose line"]`)))
	p.keys("ab")
	p.click("button", "|")
	p.until(`document.querySelector('[aria-label="Compose line"]').value === 'ab|'`)
	p.keys("c\r")
	p.shows("build", "ab|c\nab|c\n")
}

// Those that need the person are cards, with their last lines and what can be answered at once.
func TestAPhonesCardsAnswerQuestions(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	out := filepath.Join(s.dir, "out")
	for _, name := range []string{"copy", "named"} {
		s.ssh("new", "-d", "-n", name)
	}
	s.ssh("send", "--enter", "copy", "source", s.file("ask", "echo last line; read -p 'Overwrite? [y/N] ' x; echo \"got $x\" | tee "+out+"\n"))
	s.ssh("send", "--enter", "named", "source", s.file("name", "read -p 'Name: ' x; echo \"hello $x\"\n"))
	p := s.open(s.ticket() + "&debug=screen")
	p.phone()
	p.ready() // nothing is shown, so the list is
	p.until(`document.querySelectorAll('.answer').length === 2`)
	const card = `[...document.querySelectorAll('li')].find((l) => l.querySelector('.entry[aria-label^="%s,"]'))`
	copies, named := fmt.Sprintf(card, "copy"), fmt.Sprintf(card, "named")
	p.until(copies + `.querySelector('pre').innerText.includes('last line')`)
	p.until(copies + `.querySelector('.what').innerText === 'Overwrite? [y/N]'`) // which it says once
	p.until(`!` + copies + `.querySelector('pre').innerText.includes('Overwrite')`)
	if got := eval[string](p, `[...`+named+`.querySelectorAll('.choice button')].map((b) => b.innerText).join()`); got != "Type" {
		t.Errorf("a question for a name can be answered with %q", got)
	}
	p.shot("phone-cards")
	newAxe(t).check(p, "cards")
	// They stand side by side, to be swiped.
	if got := eval[bool](p, `(() => { const [a, b] = [...document.querySelectorAll('li:has(.answer)')].map((l) => l.getBoundingClientRect());
		return a.top === b.top && a.right <= b.left && getComputedStyle(document.querySelector('.entries section ul')).scrollSnapType.startsWith('x') })()`); !got {
		t.Error("the cards do not stand side by side")
	}

	// One that is answered elsewhere meanwhile is not answered again.
	p.run(chromedp.Evaluate[chromedp.Void](`window.late = ` + copies + `.querySelector('.choice button')`))
	s.ssh("send", "--enter", "copy", "n")
	hosttest.Eventually(t, "it is answered", func() bool { text, _ := os.ReadFile(out); return string(text) == "got n\n" })
	p.until(`document.querySelectorAll('.answer').length === 1`)
	p.keepNotices()
	p.run(chromedp.Evaluate[chromedp.Void](`late.click()`))
	p.noticed("does not ask that any more")
	s.ssh("send", "--enter", "copy", "source", filepath.Join(s.dir, "ask"))
	p.click("button", "Terminals")
	p.until(copies + `.querySelector('.choice button').innerText === 'Yes'`)
	p.run(chromedp.Evaluate[chromedp.Void](copies + `.querySelector('.choice button').click()`))
	hosttest.Eventually(t, "yes is typed", func() bool { text, _ := os.ReadFile(out); return string(text) == "got y\n" })
	p.shows("copy", "got y")
}

func TestAQuestionNamesItsYesAndNo(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	p := s.open(s.ticket()).ready()
	for question, want := range map[string]string{
		"Overwrite? [y/N]": "y,n", "Continue (yes/no)? ": "yes,no", "(Y / n)": "y,n",
		"Are you sure you want to continue connecting (yes/no/[fingerprint])?": "yes,no",
		"Name:": "", "Any/None": "", "why/not": "", "": "",
	} {
		got := eval[string](p, fmt.Sprintf(module("answer.js")+`.then(({ yesAndNo }) => String(yesAndNo(%q) ?? ''))`, question))
		if got != want {
			t.Errorf("%q names %q, not %q", question, got, want)
		}
	}
}

// A phone on its side has the list in a drawer, too: the terminal has the whole width.
func TestAPhoneOnItsSideHasADrawer(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen")
	p.run(devtools(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: 844, Height: 390, DeviceScaleFactor: 1, Mobile: true}),
		devtools(emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true}))
	p.ready().shows("build", "# ")
	p.until(`!document.querySelector('.sidebar').checkVisibility() && document.querySelector('.pane').offsetWidth > 800`)
	p.click("button", "Terminals")
	p.until(`document.querySelector('.sidebar').checkVisibility()`)
	p.shot("phone-side")
	p.clickNow(`.entry[aria-label^="build,"]`)
	p.until(`!document.querySelector('.sidebar').checkVisibility()`)
	if out := eval[string](p, reach); out != "" {
		t.Errorf("out of reach are %s", out)
	}
}

// A browser can install the page; nothing of it works in the background.
func TestThePageCanBeInstalled(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	p := s.open(s.ticket()).ready()
	m := answer(p, cdpage.GetAppManifest, cdpage.GetAppManifestParams{})
	if len(m.Errors) > 0 {
		t.Errorf("the manifest: %v", m.Errors)
	}
	var about struct {
		Display string
		Icons   []struct{ Src, Sizes string }
	}
	hosttest.Check(t, json.Unmarshal([]byte(m.Data), &about))
	if about.Display != "standalone" || len(about.Icons) < 3 {
		t.Errorf("it says %s", m.Data)
	}
	for _, icon := range about.Icons {
		size := eval[string](p, fmt.Sprintf(`new Promise((done) => { const i = new Image();
			i.onload = () => done(i.naturalWidth + 'x' + i.naturalHeight); i.onerror = () => done('none'); i.src = %q })`, icon.Src))
		if size != icon.Sizes {
			t.Errorf("the icon %s has %s pixels, not %s", icon.Src, size, icon.Sizes)
		}
	}
	e := answer(p, cdpage.GetInstallabilityErrors, cdp.Empty{})
	for _, problem := range e.InstallabilityErrors {
		if problem.ErrorID != "in-incognito" { // as all tabs of the tests are
			t.Errorf("it cannot be installed: %s", problem.ErrorID)
		}
	}
	if n := eval[int](p, `navigator.serviceWorker.getRegistrations().then((r) => r.length)`); n != 0 {
		t.Errorf("there are %d service workers", n)
	}
}

// The code that ssh draws for a phone is of the URL that it prints.
func TestAQRCodeIsPrintedForAPhone(t *testing.T) {
	slowtest.Skip(t)
	browser(t)
	s := newSite(t)
	lines := strings.Split(s.ssh("page", "--qr", "--url", "http://"+s.address()+"/"), "\n")
	if len(lines) < 15 || !strings.HasPrefix(lines[0], "http://"+s.address()+"/#t=") || !strings.HasPrefix(lines[1], "\x1b[30;107m") {
		t.Errorf("it prints %q", lines)
	}
	s.open(lines[0]).ready()
}
