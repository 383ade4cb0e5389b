package pagetest

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// cardOf is the list's entry of a terminal with its card.
func cardOf(called string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('li')].find((l) => l.querySelector('.entry[aria-label^="%s,"]'))`, called)
}

// TestWhatWantsYouOnOtherHosts: a question, an agent's ask and a message of programs on another host
// are counted, told and answered as those of the page's own host are, at a desk and on a phone.
func TestWhatWantsYouOnOtherHosts(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	home, _ := newFleet(t)
	home.ssh("new", "-d", "-n", "notes")
	for _, name := range []string{"copy", "talk"} {
		home.ssh("new", "--on", "box", "-d", "-n", name)
	}
	home.ssh("label", "box/copy", "group=shop")
	g := &guarded{s: home, agent: home.agent("codex"), out: filepath.Join(home.dir, "deploy.out")}
	claim, deploy := ahp.ClientClaim(g.agent.ID()), "ahp-terminal://box/deploy"
	hosttest.Check(t, g.agent.CreateTerminal(t.Context(), ahp.CreateTerminalParams{Channel: deploy, Claim: &claim,
		Meta: &ahp.CreateTerminalMeta{Termhost: &ahp.CreateTerminalExtras{Command: "/bin/sh",
			Args: []string{"-c", "stty raw -echo; printf ready; exec cat >" + g.out}}}}))
	home.ssh("wait", "--match", "ready", "box/deploy")
	home.ssh("guard", "box/deploy", "on")

	desk := home.open(home.ticket("notes") + "&debug=screen")
	desk.run(chromedp.Evaluate[chromedp.Void](keepNotifications))
	desk.ready().shows("notes", "# ")
	g.tab = desk
	desk.click("button", "Settings")
	desk.run(chromedp.Click(chromedp.CSS(`.check:has(+ .hint) input`)))
	desk.click("button", "Done")
	counts := func(n int) {
		t.Helper()
		desk.until(fmt.Sprintf(`document.title.startsWith('(%d) ')`, n))
	}
	tells := func(title string) {
		t.Helper()
		desk.until(fmt.Sprintf(`window.told.some((n) => n.title === %q && n.body === '')`, title))
	}
	counts(1) // the program of the agent waits for input
	home.ssh("send", "--enter", "box/talk", "source", home.file("talk", `printf '\033]9;look\007'; sleep 1000`+"\n"))
	counts(2)
	tells("box/talk: notifies you")
	home.ssh("send", "--enter", "box/copy", "source", home.file("ask", "read -p 'Overwrite? [y/N] ' x; echo \"got $x\"\n"))
	counts(3)
	tells("box/copy: waiting for input")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	answer := make(chan error, 1)
	go func() { answer <- g.agent.Dispatch(ctx, deploy, ahp.TerminalInput{Data: []byte("make\r")}) }()
	tells("box/deploy: asks for approval")
	desk.until(entryOf("box/copy") + `.ariaLabel.endsWith(', shop')`)
	desk.shot("fleet-wants")

	phone := home.open(home.ticket() + "&debug=screen")
	phone.phone()
	phone.ready()
	phone.until(`document.querySelectorAll('.answer').length === 3`)
	phone.shot("fleet-cards")
	phone.until(asked("make^M"))
	phone.run(chromedp.Evaluate[chromedp.Void](cardOf("box/deploy") + `.scrollIntoView()`)) // swiped to
	phone.decides("Approve")
	hosttest.Check(t, <-answer)
	g.got("make\r")
	phone.until(cardOf("box/copy") + `.querySelector('.choice button').innerText === 'Yes'`)
	phone.run(chromedp.Evaluate[chromedp.Void](cardOf("box/copy") + `.querySelector('.choice button').click()`))
	phone.shows("box/copy", "got y")
	phone.shot("fleet-phone")
	counts(2)

	// Who looks has seen the message.
	desk.clickNow(`.entry[aria-label^="box/talk,"]`)
	counts(1)
}

// An answer to an action comes on the action's channel. On another one it is of a host that may be
// broken into, and says nothing of it.
func TestAnActionIsAnsweredOnItsChannelOnly(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	p := newSite(t)
	got := eval[string](p.open(p.ticket()).ready(), module("connection.js")+`.then(({ Connection }) => {
		const c = new Connection(), told = [];
		c.clientId = 'me';
		c.rpc = { notify() {} };
		const seq = c.post('ahp-terminal://box/a', { type: 'terminal/input', data: 'x' }, (e) => told.push(e?.message ?? 'taken'));
		const answers = (channel, rejectionReason) => c.receive({ channel, serverSeq: 1, rejectionReason,
			action: { type: 'terminal/input', data: '' }, origin: { clientId: 'me', clientSeq: seq } });
		answers('ahp-terminal://other/a', 'forged');
		answers('ahp-terminal://other/a');
		answers('ahp-terminal://box/a', 'full');
		answers('ahp-terminal://box/a');
		return told.join();
	})`)
	if got != "full" {
		t.Errorf("it is answered %q", got)
	}
}
