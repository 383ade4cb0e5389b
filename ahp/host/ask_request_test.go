package host_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/store"
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
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "exec cat")
	holder := attach(t, h, carol, "x", window)
	p := connect(t, h, page(dave), "p")
	uri := ahp.TerminalURI("x")
	p.subscribe(uri)
	asked, e := p.c.Ask(term, nil)
	if e != nil || asked != (host.Asked{Holder: "carol", Here: true}) {
		t.Fatalf("asked %+v, %v", asked, e)
	}
	want := host.Note{Kind: host.NoteAsked, Who: "dave/page", First: "dave/page"}
	if got := holder.noted(); got != want {
		t.Errorf("the holder is told %+v", got)
	}
	if name, err := holder.giveAsked(); name != "dave/page" || err != nil {
		t.Fatalf("given to %q, %v", name, err)
	}
	if _, err := p.c.Ask(term, nil); !strings.Contains(message(err), "you have the keyboard") {
		t.Errorf("the holder asks: %v", err)
	}
	// The lender's leaving takes it from nobody who is there.
	again := attach(t, h, carol, "x", window)
	holder.a.Close()
	if _, _, err := again.ask(); err != nil {
		t.Fatal(err)
	}
	back, e := p.c.HandBack(lookup(h, uri), nil, false)
	if e != nil || back != (host.HandedBack{To: "carol", Asked: true}) {
		t.Errorf("handed %+v, %v", back, e)
	}
	if got := again.noted(); got != (host.Note{Kind: host.NoteGiven, Who: "dave/page", To: "carol",
		Yours: true}) {
		t.Errorf("who asked is told %+v", got)
	}
}

// A client that has the keyboard on loan and does not come back has it no longer.
func TestALoanToAClientThatStaysAwayEnds(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.ClientGrace = time.Millisecond })
	term := run(t, h, carol, "x", "exec cat")
	holder := attach(t, h, carol, "x", window)
	uri := ahp.TerminalURI("x")
	for range 2 {
		p := connect(t, h, page(dave), "p")
		p.subscribe(uri)
		if _, e := p.c.Ask(term, nil); e != nil {
			t.Fatal(e)
		}
		if name, err := holder.giveAsked(); name != "dave/page" || err != nil {
			t.Fatalf("given to %q, %v", name, err)
		}
		p.c.Close()
		awaitHolder(t, h, term, "carol")
	}
}

func TestPagesGuardAndAgentsDoNot(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "exec cat")
	token := carol
	token.ID, token.Name, token.Token = carol.ID+"/bot", "carol/bot", "bot"
	for name, p := range map[string]authz.Principal{
		"an agent": token, "its key by AHP": carol, "an observer": eve, "a stranger's page": page(dave),
	} {
		if err := connect(t, h, p, name).c.SetGuard(term, true); !isDenied(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	own := connect(t, h, page(carol), "own")
	for _, on := range []bool{true, false} {
		if e := own.c.SetGuard(term, on); e != nil || term.Guarded() != on {
			t.Errorf("the person's page sets it to %v: %v", on, e)
		}
	}
}

// A request that comes while the holder's client subscribes is told, whichever is first.
func TestARequestIsToldToAClientThatSubscribesMeanwhile(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	run(t, h, carol, "x", "exec cat")
	asker := attach(t, h, dave, "x", window)
	uri := ahp.TerminalURI("x")
	for i := range 200 {
		p := connect(t, h, carol, "p")
		p.c.Subscriber().WantAsked()
		if why := p.claim(uri, "p"); why != "" { // which ends the last request
			t.Fatal(why)
		}
		asked := make(chan error, 1)
		ask := func() {
			_, _, err := asker.ask()
			asked <- err
		}
		if i == 0 {
			ask()
		} else {
			go ask()
		}
		p.subscribe(uri)
		if err := <-asked; err != nil {
			t.Fatal(err)
		}
		p.until("the request", func(e *store.Entry) bool {
			_, ok := e.Action().(store.Asked)
			return ok
		})
		if names, holds := p.c.AskedBy(uri); !slices.Equal(names, []string{"dave"}) || !holds {
			t.Fatalf("it is asked by %q", names)
		}
		p.c.Close()
	}
}

// A page asks an SSH session, and leaves.
func TestARequestEndsWithItsPage(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	run(t, h, carol, "x", "exec cat")
	holder := attach(t, h, carol, "x", window)
	p := connect(t, h, page(dave), "p")
	if _, e := p.c.Ask(find(t, h, "x"), nil); e != nil {
		t.Fatal(e)
	}
	if got := holder.noted(); got.Kind != host.NoteAsked {
		t.Errorf("the holder is told %+v", got)
	}
	p.c.Close()
	if got := holder.noted(); got != (host.Note{Kind: host.NoteUnasked, Who: "dave/page"}) {
		t.Errorf("the holder is told %+v", got)
	}
	if name, err := holder.giveAsked(); name != "" || err != nil {
		t.Errorf("given to %q, %v", name, err)
	}
}

// A request ends with the one who has made it, and after ten minutes. The holder is told, and then
// gives the keyboard to nobody.
func TestARequestEndsWithItsViewer(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, func(c *host.Config) { c.Now = clock.Now })
	run(t, h, carol, "x", "exec cat")
	uri := ahp.TerminalURI("x")
	p := connect(t, h, carol, "p")
	p.c.Subscriber().WantAsked()
	p.claim(uri, "p")
	p.follow(ahp.RootURI) // a page that shows another terminal is told as well
	for what, leaves := range map[string]func(asker *viewer){
		"closed":  func(asker *viewer) { asker.a.Close() },
		"too old": func(*viewer) { clock.advance(requestTime); host.Tend(h) },
	} {
		asker := attach(t, h, dave, "x", window)
		if _, _, err := asker.ask(); err != nil {
			t.Fatal(err)
		}
		told := func(by string) {
			t.Helper()
			p.until("the request of "+by, func(e *store.Entry) bool {
				a, ok := e.Action().(store.Asked)
				return ok && a.By == by
			})
		}
		told("dave")
		leaves(asker)
		told("")
		if names, _ := p.c.AskedBy(uri); len(names) > 0 {
			t.Errorf("%s: it is still asked by %q", what, names)
		}
		if back, e := p.c.HandBack(lookup(h, uri), nil, true); e != nil || back != (host.HandedBack{}) {
			t.Errorf("%s: handed %+v, %v", what, back, e)
		}
	}
}

// A page that takes the keyboard has it on loan, as an SSH session has: hidden, it keeps it, it can
// hand it back after it has connected anew, and it loses it when it stays away.
func TestAPageTakesTheKeyboardOnLoan(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, func(c *host.Config) { c.ClientGrace, c.Now = time.Millisecond, clock.Now })
	term := run(t, h, carol, "x", "exec cat")
	uri := ahp.TerminalURI("x")
	lender := func() string { return state(t, h, term).Termhost.Lender }
	for _, leaves := range []bool{false, true} {
		clock.advance(crossing)
		viewer := attach(t, h, carol, "x", window)
		p := connect(t, h, page(carol), "p")
		if why := p.claim(uri, "p"); why != "" || lender() != "carol" {
			t.Fatalf("%q, and the lender is %q", why, lender())
		}
		p.subscribe(uri)
		p.c.Unsubscribe(uri)
		viewer.a.Close()
		if _, c := viewer.a.Holder(); c != ahp.ClientClaim("p") {
			t.Errorf("a page that hides it has lost it to %v", c)
		}
		if leaves {
			p.c.Close()
			awaitHolder(t, h, term, "carol")
			break
		}
		p = connect(t, h, page(carol), "p")
		if back, e := p.c.HandBack(lookup(h, uri), nil, false); e != nil || back != (host.HandedBack{To: "carol"}) {
			t.Errorf("handed %+v, %v", back, e)
		}
		if lender() != "" {
			t.Errorf("the lender is %q", lender())
		}
	}
}

// The pages of one person have names of their own.
func TestPagesOfOnePersonAreToldApart(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "exec cat")
	uri := ahp.TerminalURI("x")
	holder := ""
	names := func() (all []string) {
		viewers, err := hosttest.Conn(t, h, carol).Viewers(term)
		if err != nil {
			t.Fatal(err)
		}
		holder = ""
		for _, v := range viewers {
			all = append(all, v.Name)
			if v.Holds {
				holder += v.Name
			}
		}
		slices.Sort(all)
		return all
	}
	var pages []*peer
	for _, id := range []string{"a", "b", "c"} {
		p := connect(t, h, page(carol), id)
		p.subscribe(uri)
		pages = append(pages, p)
	}
	if got := names(); !slices.Equal(got, []string{"carol/page", "carol/page#2", "carol/page#3"}) {
		t.Errorf("three pages are %q", got)
	}
	pages[1].claim(uri, "b")
	if names(); holder != "carol/page#2" {
		t.Errorf("%q holds it", holder)
	}
	asked, e := pages[0].c.Ask(lookup(h, uri), nil)
	if e != nil || asked.Holder != "carol/page#2" {
		t.Errorf("asked %+v, %v", asked, e)
	}
	// A page that is loaded anew, and one that is new, have the numbers that are free.
	pages[1].c.Close()
	pages[2].c.Close()
	connect(t, h, page(carol), "d").subscribe(uri)
	connect(t, h, page(carol), "b").subscribe(uri)
	if got := names(); !slices.Equal(got, []string{"carol/page", "carol/page#2", "carol/page#3"}) {
		t.Errorf("after reloads there are %q", got)
	}
	// What a page has on loan goes back when somebody ends its view.
	if _, n, err := door(t, h, alice, host.DoorSSH).Kick(term, "carol/page#2"); n != 1 || err != nil {
		t.Errorf("%d kicked, %v", n, err)
	}
	awaitHolder(t, h, term, "carol")
}
