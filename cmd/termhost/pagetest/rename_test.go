package pagetest

import (
	"testing"

	"termhost/ahp/hosttest/slowtest"
)

// TestARenamedTerminalOnThePage has its NAME everywhere at once: list, tab, pane and address.
func TestARenamedTerminalOnThePage(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	s.ssh("new", "-d", "-n", "other")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	s.ssh("rename", "build", "api")
	p.until(`[...document.querySelectorAll('.entry')].some((e) => e.getAttribute('aria-label').startsWith('api,'))`)
	p.until(`document.querySelector('[role=tab]').getAttribute('aria-label') === 'api'`)
	p.shows("api", "# ")
	p.click("tab", "api")
	p.shot("renamed")

	// Another one with the old NAME is another one.
	s.ssh("new", "-d", "-n", "build")
	p.until(`document.querySelectorAll('.entry').length === 3`)
	s.ssh("send", "--enter", "build", "echo sec''ond")
	q := s.open(s.ticket("build") + "&debug=screen").ready()
	q.shows("build", "second")
	q = s.open(s.ticket("api") + "&debug=screen").ready()
	q.shows("api", "# ")
}
