package host_test

import (
	"fmt"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
	"termhost/ahp/store"
	"termhost/authz"
)

// guestOf returns a guest that sees one terminal.
func guestOf(t *host.Terminal, name string, role authz.Role) authz.Principal {
	return authz.Principal{ID: "guest:" + name + ":1", Name: "guest:" + name, Role: role, Guest: "1",
		Fingerprint: "SHA256:" + name, Reach: authz.ReachOf(t.ID(), t.Info(alice).CreatedAt), NoForward: true}
}

// rootLists returns the URIs of the lists that a peer was sent, each as one word.
func rootLists(p *peer) (lists []string) {
	for _, it := range p.c.Subscriber().Pull(nil, 1<<20) {
		if it.Entry == nil {
			continue
		}
		if a, ok := it.Entry.Action().(ahp.RootTerminalsChanged); ok {
			lists = append(lists, urisOf(a.Terminals))
		}
	}
	return lists
}

func urisOf(list []ahp.TerminalInfo) string {
	var uris []string
	for _, t := range list {
		uris = append(uris, t.Resource)
	}
	return strings.Join(uris, " ")
}

func TestAGuestsPeerIsToldOfNothingElse(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	create := func(name string) *host.Terminal {
		term, err := hosttest.Create(h, alice, host.CreateOptions{Name: name, Argv: sh("sleep 1000")})
		if err != nil {
			t.Fatal(err)
		}
		return term
	}
	build := create("build")
	secret := create("secret")
	host.FlushList(h)
	guest := guestOf(build, "gwen", authz.Operator)
	p := connect(t, h, guest, "gwen-client")

	var root store.View
	answer := func(dst []byte, v store.View) []byte { root = v; return append(dst, "{}"...) }
	if e := p.c.Subscribe(ahp.RootURI, answer); e != nil {
		t.Fatal(e)
	}
	for _, it := range p.c.Subscriber().Pull(nil, 1<<20) {
		if it.Post != nil {
			it.Post(nil)
		}
	}
	if got := urisOf(root.Root.Terminals); got != build.URI() {
		t.Errorf("the root's list is %q", got)
	}

	// What happens to others does not reach it, what happens to its own does.
	third := create("third")
	host.FlushList(h)
	if err := hosttest.Dispose(h, alice, third); err != nil {
		t.Fatal(err)
	}
	host.FlushList(h)
	if got := rootLists(p); got != nil {
		t.Errorf("others' terminals come and go: %q", got)
	}
	boss := connect(t, h, alice, "alice-client")
	if why := boss.dispatch(build.URI(), ahp.TerminalTitleChanged{Title: "new"}); why != "" {
		t.Fatal(why)
	}
	host.FlushList(h)
	if got := rootLists(p); len(got) != 1 || got[0] != build.URI() {
		t.Errorf("its own terminal's title: %q", got)
	}

	// A hidden terminal and one that does not exist give the same.
	same := func(what string, ask func(uri string) string) {
		t.Helper()
		hidden, unknown := ask(secret.URI()), ask("ahp-terminal:/sacred")
		if hidden == "" || hidden != strings.ReplaceAll(unknown, "sacred", "secret") {
			t.Errorf("%s: %q, and of an unknown one %q", what, hidden, unknown)
		}
	}
	text := func(e *ahp.Error) string {
		if e == nil {
			return ""
		}
		return e.Message + string(e.Data)
	}
	same("subscribe", func(uri string) string { return text(rpc.Error(p.c, p.c.Subscribe(uri, answer))) })
	same("disposeTerminal", func(uri string) string { return text(rpc.DisposeTerminal(p.c, uri)) })
	for _, a := range everyAction("gwen-client") {
		same(a.Type(), func(uri string) string { return p.dispatch(uri, a) })
	}
	same("createTerminal", func(uri string) string {
		return text(created(rpc.CreateTerminal(p.c, ahp.CreateTerminalParams{Channel: uri,
			Claim: &ahp.Claim{Kind: ahp.ClaimClient, ClientID: "gwen-client"}})))
	})
	p.c.Reject(secret.URI(), 99, ahp.Unknown{Name: "root/terminalsChanged"}, "unreadable")
	if e := p.answer(99); strings.Contains(string(e.AppendEnvelope(nil, ahp.ShapeLifecycle)),
		`"resource":"`+secret.URI()) {
		t.Errorf("a rejection has the list: %s", e.AppendEnvelope(nil, ahp.ShapeLifecycle))
	}

	// A connection that takes over, and one that reconnects, see no more.
	again := connect(t, h, guest, "gwen-client")
	if err := hosttest.Dispose(h, alice, secret); err != nil {
		t.Fatal(err)
	}
	host.FlushList(h)
	for _, list := range rootLists(again) {
		if list != build.URI() {
			t.Errorf("after a takeover the list is %q", list)
		}
	}
	again.c.Close()
	back, err := h.Connect(guest, host.DoorSubsystem)
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	replay, e := back.Reconnect(ahp.ReconnectParams{ClientID: "gwen-client",
		Subscriptions: []ahp.SubscriptionRef{ahp.RootURI, "ahp-terminal:/secret", "ahp-terminal:/sacred"}})
	if e != nil || len(replay.Missing) != 2 {
		t.Fatalf("reconnect: %+v, %v", replay, e)
	}
	for _, entry := range replay.Actions {
		if a, ok := entry.Action().(ahp.RootTerminalsChanged); ok && urisOf(a.Terminals) != build.URI() {
			t.Errorf("a reconnect gives the list %q", urisOf(a.Terminals))
		}
	}
}

// Only what was named is typed into, and only with the keyboard.
func TestAGuestTypesWhereItHoldsTheKeyboard(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	build, err := hosttest.Create(h, alice, host.CreateOptions{Name: "build", Argv: sh("exec cat")})
	if err != nil {
		t.Fatal(err)
	}
	gwen := connect(t, h, guestOf(build, "gwen", authz.Operator), "gwen-client")
	olga := connect(t, h, guestOf(build, "olga", authz.Observer), "olga-client")
	boss := connect(t, h, alice, "alice-client")
	type1 := ahp.TerminalInput{Data: []byte("x")}
	for _, p := range []*peer{gwen, olga} {
		if why := p.dispatch(build.URI(), type1); why == "" {
			t.Errorf("%s types without the keyboard", p.id)
		}
		if why := p.dispatch(build.URI(), ahp.TerminalClaimed{Claim: ahp.ClientClaim(p.id)}); why == "" {
			t.Errorf("%s takes the keyboard", p.id)
		}
	}
	give := ahp.TerminalClaimed{Claim: ahp.ClientClaim("gwen-client")}
	if why := boss.dispatch(build.URI(), give); why != "" {
		t.Fatal(why)
	}
	if why := gwen.dispatch(build.URI(), type1); why != "" {
		t.Errorf("the guest that was given the keyboard: %s", why)
	}
	if e := rpc.DisposeTerminal(gwen.c, build.URI()); e == nil {
		t.Error("a guest disposes a terminal")
	}
	// A terminal that gets the NAME later is another one.
	if err := hosttest.Dispose(h, alice, build); err != nil {
		t.Fatal(err)
	}
	if _, err := hosttest.Create(h, alice, host.CreateOptions{Name: "build", Argv: sh("exec cat")}); err != nil {
		t.Fatal(err)
	}
	if why := gwen.dispatch(build.URI(), type1); why != reasonUnknown {
		t.Errorf("in the new terminal of the NAME: %q", why)
	}
	if list, err := hosttest.List(h, gwen.c.Principal()); err != nil || len(list) != 0 {
		t.Errorf("the list is %+v, %v", list, err)
	}
}

// A keyboard must not go back to somebody who is not let in any more.
func TestTheKeyboardDoesNotComeBackToAGuestThatIsGone(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		h := hosttest.New(t)
		build, err := hosttest.Create(h, alice, host.CreateOptions{Name: "build", Argv: sh("exec cat")})
		if err != nil {
			t.Fatal(err)
		}
		guest := guestOf(build, "gwen", authz.Operator)
		gwen, err := h.Connect(guest, host.DoorSSH)
		if err != nil {
			t.Fatal(err)
		}
		defer gwen.Close()
		boss := connect(t, h, alice, "alice-client")
		if why := boss.claim(build.URI(), host.SSHClientID(guest)); why != "" {
			t.Fatal(why)
		}
		view, _, err := boss.c.Attach(build, host.AttachOptions{Cols: 80, Rows: 24})
		if err != nil {
			t.Fatal(err)
		}
		if err := view.Input([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if gone {
			gwen.Close()
		}
		view.Close()
		name := host.HolderOf(build).Principal
		if want := map[bool]string{false: guest.ID, true: alice.ID}[gone]; name != want {
			t.Errorf("the guest is gone: %v; the keyboard is %s's, want %s's", gone, name, want)
		}
	}
}

// Each connection of a guest has a root channel of its own. To the guest it is the same one.
func TestAGuestThatReconnectsStillHasTheRoot(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	owner := connect(t, h, carol, "owner")
	uri, term := owner.share("laptop", "")
	guest := guestOf(term, "g", authz.Operator)
	p := connect(t, h, guest, "guest")
	last := p.follow(ahp.RootURI).Seq
	p.c.Close()
	if why := owner.dispatch(uri, ahp.TerminalTitleChanged{Title: "renamed"}); why != "" {
		t.Fatal(why)
	}
	c, err := h.Connect(guest, host.DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, bad := c.Reconnect(ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: "guest",
		LastSeenServerSeq: last, Subscriptions: []ahp.SubscriptionRef{ahp.RootURI}})
	if bad != nil || len(r.Missing) > 0 {
		t.Fatalf("missing: %v, %v", r.Missing, bad)
	}
	for _, e := range r.Actions {
		if a, ok := e.Action().(ahp.RootTerminalsChanged); ok && a.Terminals[0].Title == "renamed" {
			return
		}
	}
	t.Errorf("it is not told what it has missed: %d actions", len(r.Actions))
}

// A subscription of AHP, and a reader of events, are about a terminal and not about its NAME.
func TestWhatFollowsATerminalEndsWithIt(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	for _, renamed := range []bool{false, true} {
		first := run(t, h, alice, "x", "read x; echo first $x")
		guest := connect(t, h, guestOf(first, "gwen", authz.Observer), fmt.Sprint("g", renamed))
		guest.subscribe(first.URI())
		events, err := guest.c.Events(first)
		hosttest.Check(t, err)
		defer events.Close()
		ann := hosttest.Conn(t, h, alice)
		if renamed {
			_, err := ann.GiveName(first, "y")
			hosttest.Check(t, err)
		} else {
			dispose(t, h, first)
		}
		second := run(t, h, alice, "x", "echo canary; read x")
		awaitOutput(t, h, second, "canary")
		hosttest.Check(t, ann.Label(second, "a=canary"))
		for _, e := range guest.pending() {
			if text := string(ahp.AppendAction(nil, e.Action(), ahp.ShapeLifecycle)); strings.Contains(text, "canary") {
				t.Errorf("renamed: %v: the guest reads %s", renamed, text)
			}
		}
		for _, e := range events.Pull(nil, 100) {
			if e.Kind == host.EventCreated || e.Kind == host.EventLabels {
				t.Errorf("renamed: %v: the guest is told of %+v", renamed, e)
			}
		}
		dispose(t, h, second)
	}
}
