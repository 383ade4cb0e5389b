package pagetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest/slowtest"
)

// later has the page's clock go on by some seconds.
func (p *tab) later(seconds int) {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
		`{ const now = performance.now.bind(performance); performance.now = () => now() + %d000; }`, seconds)))
}

// keepNotices keeps what the page's notices say from now on, which it shows for some seconds only.
func (p *tab) keepNotices() {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](`window.noticed = [], new MutationObserver((changes) => {
		for (const c of changes) for (const n of c.addedNodes) if (n.parentElement?.closest('.notices')) noticed.push(n.textContent);
	}).observe(document.body, { childList: true, subtree: true })`))
}

// noticed waits until one has said something.
func (p *tab) noticed(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`noticed.some((n) => n.includes(%q))`, text))
}

// TestANetworkStandsStill has a network that passes nothing on, in either direction, and ends
// nothing. The page says so. Once it goes on, what was typed arrives, once; where the page gives it
// up, the person is told what may not have arrived.
func TestANetworkStandsStill(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	c := newCable(t, s.address())
	p := s.open(s.ticket("--url", "http://"+c.Addr().String(), "build") + "&debug=screen").ready()
	p.keepNotices()
	p.take()
	p.typeLine("build", "echo $((40+2)) moves")
	p.shows("build", "\n42 moves")
	const strip = `document.querySelector('.strip:not([hidden])')?.innerText.includes('has not answered for some seconds')`
	if eval[bool](p, "!!"+strip) {
		t.Error("it is said to stand still before it does")
	}

	c.hold(true)
	p.typeLine("build", "echo $((40+3)) later")
	p.later(16)
	p.until(strip)
	p.shot("stalled")
	p.ready() // it has not ended
	p.typeLine("build", "echo $((40+4)) latest")
	if screen := p.screen("build"); strings.Contains(screen, "later") {
		t.Errorf("the network passes something on: %s", screen)
	}
	c.hold(false)
	p.until(`document.querySelector('.strip').hidden`)
	// The second line may be shown as it is typed, before what the first one prints.
	p.shows("build", "44 latest")
	if screen := s.ssh("peek", "build"); strings.Count(screen, "43 later") != 1 || strings.Count(screen, "44 latest") != 1 {
		t.Errorf("what was typed meanwhile came so: %s", screen)
	}
	p.sameAs(s, "build")

	// It is given up. What was on its way is gone with the connections that the network forgets.
	c.hold(true)
	p.keys("never")
	p.later(31)
	p.lost("The host does not answer")
	p.until(unsent("never"))
	p.keys("either")
	p.until(unsent("nevereither"))
	p.until(`document.querySelector('.unsent').innerText.startsWith('Waiting')`)
	c.reset()
	c.hold(false)
	p.ready()
	// It has waited for so long that the person is asked.
	p.until(`document.querySelector('.unsent').innerText.startsWith('Not sent')`)
	p.keys("more")
	p.until(unsent("nevereithermore"))
	p.shot("unsent")
	p.click("button", "Discard it")
	p.until(unsent(""))
	p.typeLine("build", "echo $((40+5)) again")
	p.shows("build", "\n45 again")
	if screen := s.ssh("peek", "build"); strings.Contains(screen, "never") || strings.Contains(screen, "either") {
		t.Errorf("what was lost comes after all: %s", screen)
	}
	p.sameAs(s, "build")
}

// What another host of the fleet does not answer, which is silent, is no silence of the page's own.
func TestAHostThatAnswersIsNotSaidToStandStill(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	p := s.open(s.ticket()).ready()
	for answers, want := range map[bool]string{true: "", false: "true at 6"} {
		got := eval[string](p, module("rpc.js")+fmt.Sprintf(`.then(({ RPC }) => {
			const sent = [], stalls = [], before = performance.now;
			const socket = { readyState: WebSocket.OPEN, send: (m) => sent.push(JSON.parse(m)), close() {} };
			let at = 1000;
			performance.now = () => at;
			const rpc = new RPC(socket);
			clearInterval(rpc.timer);
			rpc.onstall = (stalled) => stalls.push(stalled + ' at ' + (at / 1000 - 1));
			rpc.notify('dispatchAction', {});
			for (let second = 1; second < 20; second++) {
				at += 1000;
				rpc.check();
				for (const m of sent.splice(0)) {
					if (%v && m.method === 'ping') rpc.receive(JSON.stringify({ id: m.id, result: null }));
				}
			}
			performance.now = before;
			return stalls.join();
		})`, answers))
		if got != want {
			t.Errorf("where the host answers pings, which is %v, it stalls %q, want %q", answers, got, want)
		}
	}
}
