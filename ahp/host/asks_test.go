package host_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/store"
	"termhost/authz"
)

// pageOf returns a web page of somebody's.
func pageOf(p authz.Principal, role authz.Role) authz.Principal {
	p.Token, p.Role = "page", role
	if role != authz.Operator {
		p.Token += "-" + role.String()
	}
	p.ID += "/" + p.Token
	return p
}

func TestAnAskHasANameThatIsNeverUsedAgain(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	second := newGuardedIn(t, g.h, "y")
	g.asks("one")
	second.asks("two")
	if got := []string{g.first(), second.own()}; !slices.Equal(
		got, []string{"@1", "@2"}) {
		t.Fatalf("named %q", got)
	}
	g.decides(g.ann, "@1", host.RefuseOnce, "")
	g.agent.pending()
	g.asks("three")
	if got := g.first(); got != "@3" {
		t.Errorf("after a decision: %s", got)
	}
	later := after(t, killed(t, g.h))
	if got := newGuardedIn(t, later, "z").asked("four"); got != "@4" {
		t.Errorf("after a restart: %s", got)
	}
	again := after(t, killed(t, later)) // the file was written anew meanwhile
	if got := newGuardedIn(t, again, "z2").asked("five"); got != "@5" {
		t.Errorf("after two: %s", got)
	}
}

// asked has the agent dispatch input, which must be held, and returns what it is called.
func (g *guarded) asked(text string) string {
	g.t.Helper()
	g.asks(text)
	return g.first()
}

// own returns what the first input is called that is held in g's terminal, of several.
func (g *guarded) own() string {
	g.t.Helper()
	list, err := g.ann.Asks(g.term)
	if err != nil || len(list) == 0 {
		g.t.Fatalf("held: %+v, %v", list, err)
	}
	return list[0].Ask
}

// newGuardedIn is newGuarded for one more terminal of a host.
func newGuardedIn(t *testing.T, h *host.Host, name string) *guarded {
	t.Helper()
	g := &guarded{t: t, h: h, agent: connect(t, h, bot, "agent of "+name)}
	g.agent.create(name, "/bin/sh", "-c", "exec cat")
	g.term = lookup(h, ahp.TerminalURI(name))
	g.ann = door(t, h, alice, host.DoorSSH)
	if err := g.ann.SetGuard(g.term, true); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestByNameAPersonDecidesInTheOrderInWhichItWasShown(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	var unseen *host.UnseenError
	var gone *host.GoneError
	if _, err := g.bob.Decide(g.term, nil, "", host.ApproveOnce, ""); !errors.As(err, &gone) || gone.Newer {
		t.Errorf("nothing is held: %v", err)
	}
	g.asks("one\r")
	if _, err := g.bob.Decide(g.term, nil, "", host.RefuseOnce, ""); !errors.As(err, &unseen) {
		t.Fatalf("one who was shown nothing decides: %v", err)
	}
	g.asks("two\r")
	g.holds("one\r", "two\r") // bob looks
	g.asks("three\r")
	for _, want := range []string{"one\r", "two\r"} {
		if is, err := g.bob.Decide(g.term, nil, "", host.RefuseOnce, ""); err != nil || is.Text != want {
			t.Fatalf("decided about %q: %v", is.Text, err)
		}
	}
	if _, err := g.bob.Decide(g.term, nil, "", host.ApproveOnce, ""); !errors.As(err, &unseen) {
		t.Fatalf("what came after he had looked: %v", err)
	}
	// What is withdrawn is not replaced by what was shown behind it.
	g.agent.pending()
	g.asks("four\r")
	g.holds("three\r", "four\r")
	g.decides(g.ann, g.first(), host.RefuseOnce, "")
	if _, err := g.bob.Decide(g.term, nil, "", host.ApproveOnce, ""); !errors.As(err, &gone) || gone.Ask !=
		"@3" || !gone.Newer {
		t.Fatalf("the first of what he was shown is gone: %v", err)
	}
	if _, err := g.bob.Decide(g.term, nil, "@9", host.ApproveOnce, ""); !errors.As(err, &gone) {
		t.Errorf("one that never was: %v", err)
	}
	g.agent.pending()
	g.asks("five\r")
	if _, err := g.bob.Decide(g.term, nil, "@5", host.ApproveOnce, ""); err == nil ||
		err.Error() != "@4 came before @5, and has to be decided first" {
		t.Errorf("out of order: %v", err)
	}
	g.holds("four\r", "five\r")
	g.decides(g.bob, "@4", host.RefuseOnce, "") // by its name, which counts as well
	if is, err := g.bob.Decide(g.term, nil, "", host.RefuseOnce, ""); err != nil || is.Ask != "@5" {
		t.Errorf("the next one: %+v, %v", is, err)
	}
}

// heldTexts returns the texts that a list has.
func heldTexts(list []ahp.TerminalAsk) string {
	var all []string
	for _, a := range list {
		all = append(all, a.Text)
	}
	return strings.Join(all, "|")
}

// told returns the texts of the newest notification of asks that a peer has been sent; "none": it
// was sent none.
func (p *peer) told(uri string) string {
	p.t.Helper()
	text := "none"
	for _, e := range p.pending() {
		if _, ok := e.Action().(store.Asks); ok && e.Channel() == uri {
			list, _ := p.c.ReadableAsks(uri)
			text = heldTexts(list)
		}
	}
	return text
}

func TestWhatIsHeldIsForThoseWhoDecideAndTheAgentItself(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	uri := g.term.URI()
	low := alice
	low.Role = authz.Operator
	readOnly := alice
	readOnly.ReadOnly = true
	other := bot
	other.ID, other.Name, other.Token = alice.ID+"/other", "alice/other", "other"
	readers := map[string]struct {
		who  authz.Principal
		want string
	}{
		"an admin":              {hosttest.Principal("bob", authz.Admin), "echo geheim\r"},
		"an operator":           {hosttest.Principal("olga", authz.Operator), "echo geheim\r"},
		"a page":                {pageOf(alice, authz.Operator), "echo geheim\r"},
		"the agent":             {bot, "echo geheim\r"},
		"another agent":         {other, ""},
		"an observer":           {eve, ""},
		"an observer's page":    {pageOf(alice, authz.Observer), ""},
		"a guest that may type": {guestOf(g.term, "gwen", authz.Operator), ""},
		"a read-only key":       {readOnly, ""},
	}
	peers := map[string]*peer{}
	for name, r := range readers {
		p := connect(t, g.h, r.who, name)
		p.c.Subscriber().WantAsks()
		if st := p.subscribe(uri); len(st.Asks) > 0 {
			t.Errorf("%s is shown %+v before anything is asked", name, st.Asks)
		}
		if got := p.told(uri); got != "none" {
			t.Errorf("%s is told %q before anything is asked", name, got)
		}
		peers[name] = p
	}
	g.asks("echo geheim\r")
	for name, p := range peers {
		want := readers[name].want
		told := "none"
		if want != "" {
			told = want
		}
		if got := p.told(uri); got != told {
			t.Errorf("%s is told %q", name, got)
		}
		if got := heldTexts(p.subscribe(uri).Asks); got != want {
			t.Errorf("%s subscribes and is shown %q", name, got)
		}
		if got := p.told(uri); got != told {
			t.Errorf("%s has subscribed anew and is told %q", name, got)
		}
		list, err := p.c.Asks()
		if err != nil || len(list) > 0 != (want != "") {
			t.Errorf("%s lists %+v, %v", name, list, err)
		}
		quiet := connect(t, g.h, readers[name].who, name+"'s other")
		quiet.subscribe(uri)
		if got := quiet.told(uri); got != "none" {
			t.Errorf("%s has not asked for notifications and is told %q", name, got)
		}
		root := p.follow(ahp.RootURI).Root
		if text := string(root.AppendJSON(nil, p.c.Shape())); strings.Contains(text, "geheim") {
			t.Errorf("%s reads in the root's list: %s", name, text)
		}
	}
	for name, p := range peers { // they do not see what happens next
		p.c.Close()
		again, err := g.h.Connect(readers[name].who, host.DoorWebSocket)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		p.c = again
	}
	g.decides(g.ann, "", host.RefuseOnce, "")
	for name, p := range peers {
		p.c.Subscriber().WantAsks()
		if _, e := p.c.Reconnect(ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: name,
			Subscriptions: []ahp.SubscriptionRef{ahp.SubscriptionRef(uri)}}); e != nil {
			t.Fatal(e)
		}
		told := "none"
		if want := readers[name].want; want != "" || name == "another agent" {
			told = ""
		}
		if got := p.told(uri); got != told {
			t.Errorf("%s has come back and is told %q", name, got)
		}
	}
}

// An MCP client is an agent, whatever its key.
func TestAnMCPClientReadsItsOwnAsksOnly(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	g.asks("echo geheim\r")
	for name, c := range map[string]struct {
		who  authz.Principal
		want int
	}{"of an admin": {alice, 0}, "with the agent's token": {bot, 1}} {
		list, err := door(t, g.h, c.who, host.DoorMCP).Asks()
		if err != nil || len(list) != c.want {
			t.Errorf("an MCP client %s lists %+v, %v", name, list, err)
		}
	}
}

func TestThoseWhoReadAsksAreToldOfTheirEnd(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	p := connect(t, g.h, hosttest.Principal("bob", authz.Admin), "bob")
	p.c.Subscriber().WantAsks()
	p.subscribe(g.term.URI())
	g.asks("one")
	g.asks("two")
	for _, want := range []string{"one|two", "two", ""} {
		if got := p.told(g.term.URI()); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
		if want != "" {
			g.decides(g.ann, "", host.RefuseOnce, "")
		}
	}
}

func TestEventsNameAnAskAndDoNotSayWhatItIs(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	l := listen(t, g.h, eve, g.term)
	g.asks("echo geheim\r")
	asked := l.until(host.EventAsks)
	g.decides(g.ann, "", host.RefuseOnce, "")
	refused := l.until(host.EventRefused)
	if asked.Ask != "@1" || refused.Ask != "@1" {
		t.Errorf("events %+v and %+v", asked, refused)
	}
	for name, who := range map[string]struct {
		who  authz.Principal
		want string
	}{
		"an observer":           {eve, ""},
		"a guest that may type": {guestOf(g.term, "gwen", authz.Operator), ""},
		"one who decides":       {alice, "it says geheim"},
		"the agent":             {bot, "it says geheim"},
	} {
		l := listen(t, g.h, who.who, g.term)
		g.asks("echo geheim\r")
		g.decides(g.ann, "", host.RefuseOnce, "it says geheim")
		if got := l.until(host.EventRefused); got.Reason != who.want {
			t.Errorf("%s is told the reason %q", name, got.Reason)
		}
	}
	if text := fmt.Sprintf("%+v", append(l.past, asked, refused)); strings.Contains(text, "geheim") {
		t.Errorf("events: %s", text)
	}
}

// A page of the person decides as the person's SSH sessions do, and edits at its own keyboard.
func TestAPageDecides(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	p := connect(t, g.h, pageOf(alice, authz.Operator), "page")
	first := g.asks("rm all\r")
	if _, err := p.c.Decide(g.term, nil, "@1", host.ApproveAll, ""); message(err) != untold {
		t.Errorf("yes to all where nothing tells of commands: %v", err)
	}
	if _, err := p.c.Decide(g.term, nil, "@1", host.EditIt, ""); err != nil {
		t.Fatal(err)
	}
	g.rejected(first, "taken by alice, who edits it")
	if c := g.term.Info(alice).Claim; c != ahp.ClientClaim("page") {
		t.Errorf("the claim is %+v", c)
	}
	awaitOutput(t, g.h, g.term, "rm all")
	if why := p.dispatch(g.term.URI(), ahp.TerminalInput{Data: []byte(" but this\r")}); why != "" {
		t.Errorf("the page types: %s", why)
	}
	awaitOutput(t, g.h, g.term, "rm all but this\r\n")
	if _, err := p.c.Decide(g.term, nil, "@1", host.EditIt, ""); !strings.Contains(message(err),
		": it was taken by alice, who edits it") {
		t.Errorf("edited twice: %v", err)
	}
}
