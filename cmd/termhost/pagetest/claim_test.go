package pagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// takes takes the keyboard of a visible terminal.
func (p *tab) takes(name string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.querySelector('[data-terminal=%q]')?.closest('.pane').matches('.held, .unused, :has(.keyboard button)')`, name))
	p.until(fmt.Sprintf(takeIn, fmt.Sprintf("[...document.querySelectorAll('.pane')].find(p => p.querySelector('[data-terminal=%q]'))", name)))
	p.until(held(name))
}

// takesIt takes the keyboard of the first terminal that is shown, as its menu does.
func (p *tab) takesIt() {
	p.t.Helper()
	p.until(fmt.Sprintf(takeIn, `document.querySelector('.pane')`))
}

// takeIn takes the keyboard of a pane whose terminal is there, once.
const takeIn = `(() => {
	const pane = %s, item = [...pane?.querySelectorAll('[role=menuitem]') ?? []].find((i) => i.textContent === 'Take the keyboard');
	if (!item || !pane.querySelector('.who').textContent) return false;
	item.click();
	return true;
})()`

// held is true in the page that has a terminal's keyboard.
func held(name string) string {
	return fmt.Sprintf(`document.querySelector('.pane.held [data-terminal=%q]')`, name)
}

// listens keeps all notices from now on, for told.
func (p *tab) listens() *tab {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](`(() => {
		window.told = [];
		new MutationObserver((records) => { for (const r of records) for (const n of r.addedNodes)
			if (r.target.className === 'notices') window.told.push(n.textContent) }).observe(document.body, { childList: true, subtree: true });
	})()`))
	return p
}

// told is true once a notice has had some text.
func told(text string) string { return fmt.Sprintf(`window.told.some(t => t.includes(%q))`, text) }

// listed returns what the host lists of a terminal.
func (s *site) listed(name string) host.Info {
	s.t.Helper()
	for _, info := range s.list() {
		if info.Name == name {
			return info
		}
	}
	s.t.Fatalf("no terminal %s is listed", name)
	return host.Info{}
}

// list returns what the host lists.
func (s *site) list() (list []host.Info) {
	s.t.Helper()
	hosttest.Check(s.t, json.Unmarshal([]byte(s.ssh("ls", "--json", "--all")), &list))
	return list
}

// agent connects an agent that may take the keyboard from whoever has it.
func (s *site) agent(name string) *client.Client {
	s.t.Helper()
	token := strings.TrimSpace(s.ssh("token", "--role", "admin", "--name", name))
	c, err := client.Connect(s.t.Context(), client.Config{ClientID: name, MinBackoff: 1,
		Dial: client.WebSocket("ws://"+s.address()+"/ahp", client.WebSocketOptions{Token: token})})
	hosttest.Check(s.t, err)
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestTwoPagesRaceForTheKeyboard lets two pages take it at once. One wins, the other is told, and
// both say who has it.
func TestTwoPagesRaceForTheKeyboard(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	names := []string{"race-1", "race-2", "race-3", "race-4"}
	for _, name := range names {
		s.ssh("new", "-d", "-n", name)
	}
	pages := [2]*tab{}
	for i := range pages {
		pages[i] = s.open(s.ticket(names...) + "&debug=screen").ready()
	}
	for _, name := range names {
		for _, p := range pages {
			p.click("tab", name)
			p.until(`document.querySelector('.pane .who').innerText === 'keyboard: you (ssh)'`)
			p.listens()
		}
		errs := make(chan error)
		for _, p := range pages {
			go func() {
				_, err := chromedp.Run(p.Context, chromedp.Evaluate[chromedp.Void](
					`[...document.querySelectorAll('button')].find(b => b.textContent === 'Take the keyboard').click()`))
				errs <- err
			}()
		}
		hosttest.Check(t, <-errs)
		hosttest.Check(t, <-errs)

		// The loser is told: either that it was too late, or that it has lost what it had won.
		lost := `window.told.some(t => /at the same moment|has the keyboard/.test(t))`
		var winner, loser *tab
		hosttest.Eventually(t, "one page loses "+name, func() bool {
			for i, p := range pages {
				if eval[bool](p, lost) {
					winner, loser = pages[1-i], p
				}
			}
			return loser != nil
		})
		winner.until(held(name))
		loser.until(`/^keyboard: root\/page(#2)?$/.test(document.querySelector('.pane:not(.held) .who').innerText)`)
		if eval[bool](winner, lost) {
			t.Errorf("%s: both have lost", name)
		}
		id := eval[string](winner, `sessionStorage.getItem('termhost.client')`)
		if claim := s.listed(name).Claim; claim != ahp.ClientClaim(id) {
			t.Errorf("%s is held by %v, and the page that has won is %s", name, claim, id)
		}
		loser.typeLine(name, "echo never")
		loser.until(told("The keyboard is with root/page"))
		winner.typeLine(name, "echo once $((1+1))")
		for _, p := range pages {
			p.shows(name, "once 2")
		}
		if screen := s.ssh("peek", name); strings.Contains(screen, "never") {
			t.Errorf("the loser's keys have arrived:\n%s", screen)
		}
	}
}

// TestAnAgentSeizesTheKeyboardWhileTextIsPasted has an agent take the keyboard while a paste is on
// its way to a program that does not read. What has not arrived never does, and the person is told.
func TestAnAgentSeizesTheKeyboardWhileTextIsPasted(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	out := filepath.Join(s.dir, "out")
	s.ssh("new", "-d", "-n", "work", "--", `stty raw -echo; printf 'ready\r\n'; IFS= read -r -n 1 first; printf 'begun\r\n'
		while [ ! -e go ]; do sleep 0.05; done; IFS= read -r -d '#' rest; printf '%s%s' "$first" "$rest" >`+out+`
		printf 'over\r\n'; IFS= read -r -d '#' rest; printf 'then <%s>\r\n' "$rest"; exec cat`)
	agent := s.agent("codex")
	p := s.open(s.ticket("work") + "&debug=screen").ready()
	p.shows("work", "ready")
	p.takes("work")
	p.listens()
	text := strings.Repeat("0123456789 äöü ", 200000) // far more than the host keeps for a program
	p.pastes("work", text)
	p.shows("work", "begun")

	ctx, cancel := context.WithTimeout(t.Context(), hosttest.Patience)
	defer cancel()
	uri := ahp.TerminalURI("work")
	hosttest.Check(t, agent.Dispatch(ctx, uri, ahp.TerminalClaimed{Claim: ahp.ClientClaim(agent.ID())}))
	p.until(told("root/codex has the keyboard"))
	p.until(`document.querySelector('.unsent:not([hidden])')?.innerText.includes('claimed by root/codex')`)
	p.until(`document.querySelector('.pane:not(.held) .who').innerText === 'keyboard: root/codex'`)
	p.shot("seized")
	hosttest.Check(t, agent.Dispatch(ctx, uri, ahp.TerminalInput{Data: []byte("#")}))
	hosttest.Check(t, os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600))
	p.shows("work", "over")
	got, err := os.ReadFile(out)
	hosttest.Check(t, err)
	if !strings.HasPrefix(text, string(got)) || len(got) == 0 {
		t.Errorf("of the paste the program has read %d bytes, which are not its beginning: %.80q", len(got), got)
	}

	// What is left does not come later either, when the person takes it back from their agent.
	p.takes("work")
	p.click("button", "Discard it")
	p.run(chromedp.Focus(chromedp.CSS(`[data-terminal=work] textarea`)))
	p.keys("typed#")
	p.shows("work", "then <typed>")
}

// pastes pastes a text into a terminal, as a browser does for Ctrl-V or its menu.
func (p *tab) pastes(name, text string) {
	p.t.Helper()
	quoted, err := json.Marshal(text)
	hosttest.Check(p.t, err)
	p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
		const clipboardData = new DataTransfer();
		clipboardData.setData('text/plain', %s);
		document.querySelector('[data-terminal=%q] textarea').dispatchEvent(
			new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
	})()`, quoted, name)))
}

// window sets the size of the page.
func (p *tab) window(width, height int64) {
	p.t.Helper()
	p.run(devtools(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: height, DeviceScaleFactor: 1}))
}

// resizes returns the sizes that a terminal has been given, as its log has them.
func (s *site) resizes(name string) (all []string) {
	s.t.Helper()
	for line := range strings.Lines(s.ssh("cast", "--v2", name)) {
		var ev [3]any
		if json.Unmarshal([]byte(line), &ev) == nil && ev[1] == "r" {
			all = append(all, ev[2].(string))
		}
	}
	return all
}

// TestOnlyTheHoldersVisiblePaneResizes changes the windows of two pages. Only the one that holds
// the keyboard gives its terminal another size, and only while it shows it.
func TestOnlyTheHoldersVisiblePaneResizes(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "shown")
	s.ssh("new", "-d", "-n", "hidden")
	p := s.open(s.ticket("shown", "hidden") + "&debug=screen").ready()
	p.shows("shown", "# ")
	q := s.open(s.ticket("shown", "hidden") + "&debug=screen").ready()
	q.shows("shown", "# ")
	size := func(p *tab) string {
		p.t.Helper()
		return eval[string](p, `document.querySelector('.pane .size').textContent`)
	}
	resized := func(from string) string { // waits until the host and both pages have another size
		p.t.Helper()
		p.until(fmt.Sprintf(`document.querySelector('.pane .size').textContent !== %q`, from))
		now := size(p)
		q.until(fmt.Sprintf(`document.querySelector('.pane .size').textContent === %q`, now))
		if info := s.listed("shown"); fmt.Sprintf("%d×%d", info.Cols, info.Rows) != now {
			t.Errorf("the pages say %s and the host %d×%d", now, info.Cols, info.Rows)
		}
		return now
	}
	font := `getComputedStyle(document.querySelector('.xterm-rows')).fontSize`

	// Who does not hold it gets other letters.
	before := eval[string](p, font)
	p.window(700, 420)
	p.until(fmt.Sprintf(`%s !== %q`, font, before))
	q.window(800, 500)
	if all := s.resizes("shown"); len(all) > 0 {
		t.Errorf("somebody who only looks has resized it: %s", all)
	}

	p.click("tab", "hidden")
	p.shows("hidden", "# ")
	p.takes("hidden")
	p.until(`document.querySelector('.pane .size').textContent !== '80×24'`)
	hidden := s.resizes("hidden")
	p.click("tab", "shown")
	p.shows("shown", "# ")
	p.takes("shown")
	one := resized("80×24")
	p.window(1100, 640)
	two := resized(one)
	q.window(1300, 900)
	p.window(900, 500)
	resized(two)
	if all := s.resizes("hidden"); strings.Join(all, " ") != strings.Join(hidden, " ") {
		t.Errorf("the hidden terminal was %s, and now there is %s", hidden, all)
	}
	if all := s.resizes("shown"); len(all) != 3 {
		t.Errorf("the terminal has had the sizes %s", all)
	}
	p.sameAs(s, "shown")
	q.sameAs(s, "shown")
}
