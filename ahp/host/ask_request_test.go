package host

import (
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// page is a web page of p's.
func page(p authz.Principal) authz.Principal {
	p.ID, p.Name, p.Token, p.Role = p.ID+"/page", p.Name+"/page", "page", authz.Operator
	return p
}

// An SSH session and a client of AHP ask each other for the keyboard, and get it on loan.
func TestClientsAskAsSSHDoes(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	run(t, h, carol, "x", "exec cat")
	holder := attach(t, h, carol, "x", window)
	p := connect(t, h, page(dave), "p")
	uri := ahp.TerminalURI("x")
	p.subscribe(uri)
	asked, e := p.c.Ask(uri)
	if e != nil || asked != (Asked{Holder: "carol", Here: true}) {
		t.Fatalf("asked %+v, %v", asked, e)
	}
	want := Note{Kind: NoteAsked, Who: "dave/page", First: "dave/page"}
	if got := holder.noted(); got != want {
		t.Errorf("the holder is told %+v", got)
	}
	if name, err := holder.a.GiveAsked(); name != "dave/page" || err != nil {
		t.Fatalf("given to %q, %v", name, err)
	}
	if _, e := p.c.Ask(uri); e == nil || !strings.Contains(e.Message, "you have the keyboard") {
		t.Errorf("the holder asks: %v", e)
	}
	// The lender's leaving takes it from nobody who is there.
	again := attach(t, h, carol, "x", window)
	holder.a.Close()
	if _, _, err := again.a.Ask(); err != nil {
		t.Fatal(err)
	}
	back, e := p.c.HandBack(uri)
	if e != nil || back != (HandedBack{To: "carol", Asked: true}) {
		t.Errorf("handed %+v, %v", back, e)
	}
	if got := again.noted(); got != (Note{Kind: NoteGiven, Who: "dave/page", To: "carol",
		Yours: true}) {
		t.Errorf("who asked is told %+v", got)
	}
}

// A client that has the keyboard on loan and does not come back has it no longer.
func TestALoanToAClientThatStaysAwayEnds(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(c *Config) { c.ClientGrace = time.Millisecond })
	term := run(t, h, carol, "x", "exec cat")
	holder := attach(t, h, carol, "x", window)
	uri := ahp.TerminalURI("x")
	for range 2 {
		p := connect(t, h, page(dave), "p")
		p.subscribe(uri)
		if _, e := p.c.Ask(uri); e != nil {
			t.Fatal(e)
		}
		if name, err := holder.a.GiveAsked(); name != "dave/page" || err != nil {
			t.Fatalf("given to %q, %v", name, err)
		}
		p.c.Close()
		term.awaitHolder(t, "carol")
	}
}

func TestPagesGuardAndAgentsDoNot(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	term := run(t, h, carol, "x", "exec cat")
	uri := ahp.TerminalURI("x")
	token := carol
	token.ID, token.Name, token.Token = carol.ID+"/bot", "carol/bot", "bot"
	for name, p := range map[string]authz.Principal{
		"an agent": token, "its key by AHP": carol, "an observer": eve, "a stranger's page": page(dave),
	} {
		if e := connect(t, h, p, name).c.Guard(uri, true); e == nil || e.Code != ahp.CodeNotPermitted {
			t.Errorf("%s: %v", name, e)
		}
	}
	own := connect(t, h, page(carol), "own")
	for _, on := range []bool{true, false} {
		if e := own.c.Guard(uri, on); e != nil || term.Guarded() != on {
			t.Errorf("the person's page sets it to %v: %v", on, e)
		}
	}
}
