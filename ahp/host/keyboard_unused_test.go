package host_test

import (
	"slices"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// unused returns the NAMEs of the terminals whose keyboard a peer may take and nobody else would
// lose, and of which of them a closed page had it.
func unused(tb testing.TB, p *peer) (names, windows []string) {
	tb.Helper()
	list, err := p.c.Unused()
	hosttest.Check(tb, err)
	for _, u := range list {
		names = append(names, u.Terminal.Name())
		if u.Window {
			windows = append(windows, u.Terminal.Name())
		}
	}
	return names, windows
}

func TestWhoseKeyboardIsUnused(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	run(t, h, carol, "ssh", "exec cat")
	agent := connect(t, h, bot, "agent")
	agent.create("agent", "/bin/cat")
	session := lookup(h, agent.create("session", "/bin/cat"))
	agent.dispatch(session.URI(), ahp.TerminalClaimed{Claim: sessionClaim})
	window := connect(t, h, page(carol), "w1")
	window.create("window", "/bin/cat")
	own, admins := connect(t, h, page(carol), "w2"), connect(t, h, pageOf(alice, authz.Admin), "w3")
	own.create("own", "/bin/cat")
	expect := func(p *peer, what string, names, windows []string) {
		t.Helper()
		if n, w := unused(t, p); !slices.Equal(n, names) || !slices.Equal(w, windows) {
			t.Errorf("%s: unused are %q, of closed windows %q; want %q, %q", what, n, w, names, windows)
		}
	}
	expect(own, "all are here", []string{"ssh"}, nil)
	expect(admins, "carol has no ssh session", []string{"ssh"}, nil)
	viewer := attach(t, h, carol, "ssh", host.AttachOptions{Cols: 80, Rows: 24})
	expect(own, "she has one", []string{"ssh"}, nil)
	expect(admins, "carol has one", nil, nil)
	viewer.c.Close()
	window.c.Close()
	agent.c.Close()
	expect(own, "nobody is here", []string{"ssh", "window"}, []string{"window"}) // an agent's is not an operator's to take
	expect(admins, "nobody is here", []string{"ssh", "agent", "window"}, nil)
	expect(connect(t, h, authz.Principal{ID: "SHA256:dan", Name: "dan", Role: authz.Observer}, "w4"),
		"an observer", nil, nil)
	run(t, h, carol, "over", "true")
	hosttest.Eventually(t, "it has exited", func() bool {
		n, _ := unused(t, own)
		return !slices.Contains(n, "over")
	})
	connect(t, h, page(carol), "w1") // is loaded anew
	expect(own, "the window is back", []string{"ssh"}, nil)
}

// TestAClosedWindowGetsNothingBack: a page that takes the keyboard from a closed one of the same
// person has it as that one had it.
func TestAClosedWindowGetsNothingBack(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	agent := connect(t, h, bot, "agent")
	uri := agent.create("t", "/bin/cat")
	lent := lookup(h, uri)
	taken := func(p *peer, uri string) {
		t.Helper()
		hosttest.Eventually(t, p.id+" has it", func() bool { return p.claim(uri, p.id) == "" })
	}
	for _, id := range []string{"w1", "w2", "w1"} {
		p := connect(t, h, pageOf(alice, authz.Admin), id)
		taken(p, uri)
		p.c.Close()
	}
	last := connect(t, h, pageOf(alice, authz.Admin), "w3")
	taken(last, uri)
	back, err := last.c.HandBack(lent, nil, false)
	hosttest.Check(t, err)
	if want := "bot"; !strings.Contains(back.To, want) {
		t.Errorf("it was handed back to %q, want %s", back.To, want)
	}
	// Whoever has it from nobody hands it back to nobody.
	first, second := connect(t, h, page(carol), "w4"), connect(t, h, page(carol), "w5")
	own := lookup(h, first.create("own", "/bin/cat"))
	first.c.Close()
	taken(second, own.URI())
	back, err = second.c.HandBack(own, nil, false)
	hosttest.Check(t, err)
	if back.To != "" {
		t.Errorf("it was handed back to %q, a closed window", back.To)
	}
}
