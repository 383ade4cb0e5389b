package pagetest

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// unsent is true while the page shows that some text is not sent; "": while there is none.
func unsent(text string) string {
	if text == "" {
		return `!document.querySelector('.unsent:not([hidden])')`
	}
	return fmt.Sprintf(`document.querySelector('.unsent:not([hidden]) .said')?.innerText === %q`, text)
}

// TestALineArrivesWholeThroughOutages types a line while the network is cut again and again: before
// what was typed has got through, and before the host's answer has. The program gets every
// character once and in order, and a paste of many pieces, too.
func TestALineArrivesWholeThroughOutages(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	text := strings.Repeat("0123456789 äöü 日本 👩‍👩‍👧 and so on; ", 8000)
	s.ssh("new", "-d", "-n", "work", "--", fmt.Sprintf(`stty raw -echo; printf 'ready\r\n'; IFS= read -r -d '#' line
		printf 'read <%%s>\r\n' "$line"; head -c %d | sha256sum; exec cat`, len(text)))
	c := newCable(t, s.address())
	p := s.open(s.ticket("--url", "http://"+c.Addr().String(), "work") + "&debug=screen").ready()
	p.shows("work", "ready")
	p.takes("work")
	p.run(chromedp.Focus(chromedp.CSS(`[data-terminal=work] textarea`)))
	cut := func(meanwhile func()) {
		t.Helper()
		c.hold(true)
		meanwhile()
		c.reset()
		p.until(`document.documentElement.dataset.termhost === "lost"`)
		meanwhile()
		c.hold(false)
		p.ready()
	}
	p.keys("rm -rf ")
	cut(func() { p.keys("/srv/") })
	p.keys("pro")
	cut(func() { p.keys("jects ") })
	cut(func() {})
	p.composed("Process", "に") // what is inserted without is lost if it comes too late
	p.inserted("Process", "日本")
	eval[bool](p, `new Promise((done) => setTimeout(() => done(true)))`) // nobody types faster than that
	p.keys(" end#")
	p.shows("work", "read <rm -rf /srv//srv/projects jects 日本 end>")
	p.until(unsent(""))

	p.pastes("work", text)
	for range 4 {
		cut(func() {})
	}
	p.shows("work", fmt.Sprintf("%x", sha256.Sum256([]byte(text))))
	p.keys("over")
	p.shows("work", "over")
}

// TestAnAnswerIsLostButNotWhatItAnswers has the host take what is typed while its answer never gets
// to the page: nothing is typed twice.
func TestAnAnswerIsLostButNotWhatItAnswers(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "work", "--", `stty raw -echo; printf '<0>'; exec stdbuf -o0 tr '\177\r' '~$'`)
	c := newCable(t, s.address())
	p := s.open(s.ticket("--url", "http://"+c.Addr().String(), "work") + "&debug=screen").ready()
	p.shows("work", "<0>")
	p.takes("work")
	e := &echo{tab: p, name: "work"}
	e.has("")
	c.deafen(true) // the page hears nothing any more
	p.run(chromedp.Focus(chromedp.CSS(`[data-terminal=work] textarea`)))
	p.keys("taken")
	s.ssh("wait", "--match", "taken", "work")
	c.reset()
	p.until(`document.documentElement.dataset.termhost === "lost"`)
	p.keys(" and on")
	c.deafen(false)
	p.ready()
	e.has("taken and on")
}

// TestTheRestOfALineIsKeptWhenItsBeginningIsLost has the host killed, the keyboard taken and a
// program end while a line is typed. What then is typed does not arrive without what was before it.
func TestTheRestOfALineIsKeptWhenItsBeginningIsLost(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	e := s.echoing("work")
	focus := chromedp.Focus(chromedp.CSS(`[data-terminal=work] textarea`))
	e.has("")
	e.keys("before ")
	e.has("before ")
	s.crash()
	e.lost("The host does not answer")
	e.run(focus)
	e.keys("rm -rf /srv/pro")
	e.until(unsent("rm -rf /srv/pro"))
	s.start()
	e.ready()
	e.until(`document.querySelector('.unsent').innerText.includes('The host was started anew')`)
	e.keys("jects\r")
	e.until(unsent("rm -rf /srv/projects^M"))
	e.shot("unsent")
	if screen := s.ssh("peek", "work"); strings.Contains(screen, "jects") {
		t.Errorf("the rest of a line has arrived: %s", screen)
	}
	e.click("button", "Send it")
	e.until(unsent(""))
	e.has("rm -rf /srv/projects$")

	// An agent takes the keyboard while it is typed, and gives it back.
	agent := s.agent("codex")
	uri := ahp.TerminalURI("work")
	id := eval[string](e.tab, `sessionStorage.getItem('termhost.client')`)
	e.run(chromedp.Evaluate[chromedp.Void](`(() => { const send = WebSocket.prototype.send; window.late = [];
		WebSocket.prototype.send = function (m) { late.push(() => send.call(this, m)) };
		window.release = () => { WebSocket.prototype.send = send; for (const f of late) f() } })()`))
	e.run(focus)
	e.keys("half of ")
	hosttest.Check(t, agent.Dispatch(t.Context(), uri, ahp.TerminalClaimed{Claim: ahp.ClientClaim(agent.ID())}))
	e.until(`document.querySelector('.pane:not(.held)')`)
	e.run(chromedp.Evaluate[chromedp.Void](`release()`))
	e.until(unsent("half of "))
	e.keys("a ")
	hosttest.Check(t, agent.Dispatch(t.Context(), uri, ahp.TerminalClaimed{Claim: ahp.ClientClaim(id)}))
	e.until(held("work"))
	e.keys("line\r")
	e.until(unsent("half of a line^M"))
	e.click("button", "Discard it")
	e.until(unsent(""))
	e.has("")
}

// TestWhatIsTypedBehindTheWishForTheKeyboardArrives types on while the host is asked for the
// keyboard: all of it is sent with it, or none.
func TestWhatIsTypedBehindTheWishForTheKeyboardArrives(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	first := s.echoing("work")
	first.has("")
	// No claim of an admin's crosses one of an operator's.
	e := &echo{s.open(s.ticket("--role", "admin", "work") + "&debug=screen").ready(), "work", first.marks}
	e.until(`document.querySelector('.pane:not(.held, .unused) .who').textContent`)
	e.run(chromedp.Evaluate[chromedp.Void](`(() => { const send = WebSocket.prototype.send; window.late = [];
		WebSocket.prototype.send = function (m) { late.push({ text: m, go: () => send.call(this, m) }) };
		window.release = () => { WebSocket.prototype.send = send; for (const m of late) m.go() } })()`))
	e.run(chromedp.Focus(chromedp.CSS(`[data-terminal=work] textarea`)))
	e.prefix()
	e.keys("c")
	e.until(`late.some((m) => m.text.includes('terminal/claimed'))`)
	e.keys("ls -la")
	e.run(chromedp.Evaluate[chromedp.Void](`release()`))
	e.until(held("work"))
	e.has("ls -la")
}

// TestAKeyboardThatComesBackGetsNoRestOfALine has somebody type on while another one has the
// keyboard, who gives it back meanwhile.
func TestAKeyboardThatComesBackGetsNoRestOfALine(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	e := s.echoing("work")
	e.has("")
	agent := s.agent("codex")
	uri, id := ahp.TerminalURI("work"), eval[string](e.tab, `sessionStorage.getItem('termhost.client')`)
	hosttest.Check(t, agent.Dispatch(t.Context(), uri, ahp.TerminalClaimed{Claim: ahp.ClientClaim(agent.ID())}))
	e.until(`document.querySelector('.pane:not(.held)')`)
	e.run(chromedp.Evaluate[chromedp.Void](`(() => { const from = performance.now(); performance.now = () => from })()`)) // nobody pauses
	e.listens()
	e.run(chromedp.Focus(chromedp.CSS(`[data-terminal=work] textarea`)))
	e.keys("rm ")
	e.until(told("The keyboard is with root/codex"))
	hosttest.Check(t, agent.Dispatch(t.Context(), uri, ahp.TerminalClaimed{Claim: ahp.ClientClaim(id)}))
	e.until(held("work"))
	e.keys("x\r")
	e.until(told("begin anew"))
	e.run(chromedp.Evaluate[chromedp.Void](`(() => { const from = performance.now() + 2000; performance.now = () => from })()`))
	e.has("")
}
