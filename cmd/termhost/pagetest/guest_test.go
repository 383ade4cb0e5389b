package pagetest

import (
	"fmt"
	"strings"
	"testing"

	"termhost/ahp/hosttest/slowtest"
)

// TestAGuestOpensThePage with the link that an invitation prints: it sees that terminal, says who
// it is, asks for the keyboard and types, and is gone with the invitation.
func TestAGuestOpensThePage(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	s.ssh("new", "-d", "-n", "secret")
	link := strings.TrimSpace(s.ssh("invite", "--terminal", "build", "--role", "operator", "--once", "--page", "dora"))
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	p.takesIt()
	p.until(held("build"))
	g := s.open(link + "&debug=screen").ready()
	g.shows("build", "# ")
	g.until(bar("keyboard: root/page", "Take the keyboard"))
	if text := g.text(); strings.Contains(text, "secret") {
		t.Errorf("the guest's page shows\n%s", text)
	}
	if eval[bool](g, `[...document.querySelectorAll('[title="New terminal"], [title=Split]')].some((e) => e.checkVisibility())`) {
		t.Error("the guest may make terminals")
	}
	g.commands("a")
	p.until(`document.querySelector('.notices')?.innerText.includes('guest:dora')`)
	p.commands("r")
	g.until(held("build"))
	g.typeLine("build", "echo typed by 'a gu'est")
	p.shows("build", "\ntyped by a guest")
	g.shot("guest")
	if got := s.ssh("invites"); !strings.Contains(got, "guest:dora  operator  build") {
		t.Errorf("the invitations are\n%s", got)
	}

	other := s.open(link)
	other.until(`document.documentElement.dataset.termhost === 'refused'`)
	if text := other.text(); !strings.Contains(text, "another link") || strings.Contains(text, "ssh") {
		t.Errorf("another browser is told\n%s", text)
	}
	s.ssh("invite", "--revoke", "dora")
	g.until(fmt.Sprintf(`document.documentElement.dataset.termhost === 'refused' && document.body.innerText.includes(%q)`,
		"The invitation has ended"))
}
