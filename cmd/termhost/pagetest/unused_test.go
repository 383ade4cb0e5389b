package pagetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// bar is an expression that is true when a terminal's bar names the holder of the keyboard, with
// this text beside it.
func bar(who, beside string) string {
	return fmt.Sprintf(`document.querySelector('.pane .who').innerText === %q && document.querySelector('.pane .keyboard').textContent === %q`, who, beside)
}

// TestTheFirstKeyTakesAnUnusedKeyboard: that of one's own terminals that nobody uses, or that a
// closed window of one's own had, and no other's.
func TestTheFirstKeyTakesAnUnusedKeyboard(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	p.until(bar("keyboard: you (ssh)", "type to take it"))
	p.until(`document.querySelector('.entry').title.includes('keyboard: you (ssh)')`)
	p.typeLine("build", "echo 'first''key'")
	p.shows("build", "\nfirstkey")
	p.until(bar("you have the keyboard", "")) // nobody waits for it

	// Another window of the same person says so as long as this one is open.
	q := s.open(s.ticket("build") + "&debug=screen").ready()
	q.until(bar("keyboard: root/page", "Take the keyboard"))
	q.typeLine("build", "echo never")
	q.until(`document.querySelector('.notices')?.innerText.includes('The keyboard is with root/page')`)
	p.run(chromedp.Navigate("about:blank"))
	q.until(bar("keyboard: you, in a closed window", "type to take it"))
	q.until(`document.querySelector('.entry').ariaLabel.includes('keyboard: you, in a closed window')`)
	if got, want := eval[string](q, `document.querySelector('.entry .state').innerText`), "closed window"; got != want {
		t.Errorf("the list says %q, want %q", got, want)
	}
	q.typeLine("build", "echo 'second''window'")
	q.shows("build", "\nsecondwindow")

	// What an agent has is used as long as it is connected.
	agent := s.agent("codex")
	hosttest.Check(t, agent.Dispatch(t.Context(), ahp.TerminalURI("build"), ahp.TerminalClaimed{Claim: ahp.ClientClaim(agent.ID())}))
	q.until(bar("keyboard: root/codex", "Take the keyboard"))
	hosttest.Check(t, agent.Close())
	q.until(bar("keyboard: root/codex", "type to take it"))
	// A paste takes it, too, and stays one.
	q.pastes("build", "echo third\necho line\n")
	q.until(`document.querySelector('.pane.held')`)
	q.shows("build", "echo third")
	if screen := s.ssh("peek", "build"); strings.Contains(screen, "\nthird") {
		t.Errorf("the shell has run a line of the paste:\n%s", screen)
	}
}
