package pagetest

import (
	"fmt"
	"testing"

	"termhost/ahp"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// TestALiveResizeShowsTheHostsScreen resizes a terminal that the page shows, to and fro and while
// it prints: xterm.js would lay out the lines in its own way.
func TestALiveResizeShowsTheHostsScreen(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "work")
	p := s.open(s.ticket("work") + "&debug=screen").ready()
	p.shows("work", "# ")
	agent := s.agent("codex")
	uri := ahp.TerminalURI("work")
	hosttest.Check(t, agent.Dispatch(t.Context(), uri, ahp.TerminalClaimed{Claim: ahp.ClientClaim(agent.ID())}))
	resize := func(cols, rows int) {
		t.Helper()
		hosttest.Check(t, agent.Dispatch(t.Context(), uri, ahp.TerminalResized{Cols: cols, Rows: rows}))
	}
	sizes := [][2]int{{40, 24}, {100, 30}, {30, 10}, {33, 40}, {200, 12}, {80, 24}}
	all := func() {
		t.Helper()
		for _, size := range sizes {
			resize(size[0], size[1])
			p.until(fmt.Sprintf(`document.querySelector('.bar .size').innerText === '%d×%d'`, size[0], size[1]))
			p.sameAs(s, "work")
			if t.Failed() {
				t.FailNow() // all others would take as long
			}
		}
	}
	all()
	s.ssh("send", "--enter", "work", `seq -s ' ' 500; for i in 1 2 3; do printf '%0150d\033[44mblue\033[K\033[m\n' $i; done; printf '日本 👩‍👩‍👧 é %s\n' {1..40}; printf 'x%.0s' {1..95}`)
	p.shows("work", "xxx")
	all()
	s.ssh("send", "--enter", "work", "seq 3000 | while read i; do echo line $i of those that come meanwhile; done")
	all()
	s.ssh("wait", "--command", "work")
	all()
	s.ssh("send", "--enter", "work", "vim -u NONE -c 'set nu wrap' /etc/services")
	p.shows("work", "1 ")
	all()
	s.ssh("send", "--enter", "work", ":q")
	all()
}
