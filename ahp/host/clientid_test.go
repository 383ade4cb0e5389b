package host_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
	"termhost/ahp/store"
	"termhost/authz"
)

// initialize tries to use a clientId on a new connection.
func initialize(t *testing.T, h *host.Host, p authz.Principal, id string) (*host.Conn, *ahp.Error) {
	t.Helper()
	c, err := h.Connect(p, host.DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	_, err = c.Initialize(initParams("0.5.0", id))
	return c, rpc.Error(c, err)
}

func TestAForeignClientIDIsRefusedAndNothingReplayed(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	owner := connect(t, h, carol, "owner")
	uri := owner.create("x", "/bin/cat")
	for _, connected := range []bool{true, false} {
		if !connected {
			owner.c.Close()
		}
		c, e := initialize(t, h, bot, "owner")
		if e == nil || e.Code != ahp.CodeNotPermitted || !strings.Contains(string(e.Data), "rule") {
			t.Errorf("initialize: %+v", e)
		}
		r, err := c.Reconnect(ahp.ReconnectParams{ClientID: "owner",
			Subscriptions: []ahp.SubscriptionRef{ahp.SubscriptionRef(uri), ahp.RootURI}})
		if e := rpc.Error(c, err); e == nil || e.Code != ahp.CodeNotPermitted || len(r.Actions) > 0 {
			t.Errorf("reconnect: %+v with %d actions", e, len(r.Actions))
		}
		if c.Initialized() || c.Subscriptions() > 0 {
			t.Error("a refused connection follows something")
		}
	}
}

func TestClientIDsThatNobodyMayChoose(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	for id, code := range map[string]int{
		"":                                    ahp.CodeInvalidParams,
		strings.Repeat("x", 257):              ahp.CodeInvalidParams,
		"ssh:":                                ahp.CodeNotPermitted,
		"SSH:" + host.SSHClientID(bot)[4:]:    ahp.CodeNotPermitted,
		host.SSHClientID(bot):                 ahp.CodeNotPermitted,
		host.SSHClientID(alice) + "somewhere": ahp.CodeNotPermitted,
	} {
		if _, e := initialize(t, h, bot, id); e == nil || e.Code != code {
			t.Errorf("%.20q: %+v, want %d", id, e, code)
		}
		c, err := h.Connect(bot, host.DoorWebSocket)
		if err != nil {
			t.Fatal(err)
		}
		if _, e := c.Reconnect(ahp.ReconnectParams{ClientID: id}); e == nil {
			t.Errorf("%.20q: reconnects", id)
		}
		c.Close()
	}
	if _, e := initialize(t, h, bot, strings.Repeat("x", 256)); e != nil {
		t.Error(e)
	}
}

func TestAPrincipalHasAtMost256ClientIDs(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock), func(c *host.Config) { c.MaxWebSockets = 2000 })
	var last *host.Conn
	for i := range 256 {
		c, e := initialize(t, h, bot, fmt.Sprintf("c%d", i))
		if e != nil {
			t.Fatal(e)
		}
		last = c
	}
	if _, e := initialize(t, h, bot, "one too many"); e == nil || e.Code != ahp.CodeLimit {
		t.Errorf("the 257th: %+v", e)
	}
	if _, e := initialize(t, h, carol, "another's"); e != nil {
		t.Errorf("another principal: %v", e)
	}
	last.Close()
	if _, e := initialize(t, h, bot, "too early"); e == nil {
		t.Error("a clientId is free as soon as it leaves")
	}
	clock.advance(10 * time.Minute)
	if _, e := initialize(t, h, bot, "in time"); e != nil {
		t.Errorf("after ten minutes: %v", e)
	}
}

func TestAnObserverHasAtMost8ClientIDs(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	for i := range 8 {
		if _, e := initialize(t, h, eve, fmt.Sprintf("c%d", i)); e != nil {
			t.Fatal(e)
		}
	}
	if _, e := initialize(t, h, eve, "one too many"); e == nil || e.Code != ahp.CodeLimit ||
		!strings.Contains(e.Message, "8 clientIds") {
		t.Errorf("the 9th: %+v", e)
	}
}

func TestAClientIDIsBoundForTenMinutesOrAsLongAsItHoldsAClaim(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock))
	holder, guest := connect(t, h, carol, "holder"), connect(t, h, carol, "guest")
	uri := holder.create("x", "/bin/cat")
	holder.c.Close()
	guest.c.Close()
	clock.advance(10*time.Minute - time.Second)
	if _, e := initialize(t, h, bot, "guest"); e == nil {
		t.Error("free after less than ten minutes")
	}
	clock.advance(time.Second)
	if _, e := initialize(t, h, bot, "guest"); e != nil {
		t.Errorf("not free after ten minutes: %v", e)
	}
	if _, e := initialize(t, h, bot, "holder"); e == nil {
		t.Error("free although it holds a claim")
	}
	if err := hosttest.Dispose(h, carol, lookup(h, uri)); err != nil {
		t.Fatal(err)
	}
	if _, e := initialize(t, h, bot, "holder"); e != nil {
		t.Errorf("not free after its terminal went: %v", e)
	}
}

func TestANewerConnectionTakesOver(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	old := connect(t, h, carol, "c")
	uri := old.create("x", "/bin/cat")
	old.subscribe(uri)
	c, e := initialize(t, h, carol, "c")
	if e != nil {
		t.Fatal(e)
	}
	wait(t, "the older connection's end", old.c.Context().Done())
	if got := context.Cause(old.c.Context()); message(got) != takenOver {
		t.Errorf("it ended with %v", got)
	}
	term := lookup(h, uri)
	before, seq := state(t, h, term), h.Stats().ServerSeq
	old.c.Dispatch(uri, 77, ahp.TerminalTitleChanged{Title: "from the grave"})
	old.c.Dispatch(uri, 78, ahp.TerminalInput{Data: []byte("from the grave\n")})
	old.c.Reject(uri, 79, ahp.Unknown{Name: "x"}, "x")
	if got := rpc.DisposeTerminal(old.c, uri); got == nil {
		t.Error("the older connection disposes")
	}
	claim := ahp.ClientClaim("c")
	params := ahp.CreateTerminalParams{Channel: "ahp-terminal:/y", Claim: &claim}
	if got := created(rpc.CreateTerminal(old.c, params)); got == nil {
		t.Error("the older connection creates")
	}
	if got := old.c.Subscribe(uri, nil); got == nil {
		t.Error("the older connection subscribes")
	}
	if after := state(t, h, term); after.Title != before.Title || h.Stats().ServerSeq != seq {
		t.Error("the older connection still changes things")
	}
	// The close of the older connection does not disconnect the client.
	old.c.Close()
	fresh := &peer{t: t, h: h, c: c, id: "c"}
	if got := fresh.dispatch(uri, ahp.TerminalInput{Data: []byte("x")}); got != "" {
		t.Errorf("the newer connection holds nothing: %q", got)
	}
	if _, e := initialize(t, h, bot, "c"); e == nil {
		t.Error("the clientId is free although it is connected")
	}
}

func TestATakeOverGoesOnWithTheOlderConnectionsSubscriptions(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	old := connect(t, h, carol, "c")
	uri := old.create("x", "/bin/sh", "-c", "echo before; cat")
	awaitOutput(t, h, lookup(h, uri), "before")
	old.subscribe(uri)
	c, e := initialize(t, h, carol, "c")
	if e != nil {
		t.Fatal(e)
	}
	fresh := &peer{t: t, h: h, c: c, id: "c"}
	// The host does not know the reader's state: so the present state comes first.
	fresh.until("the state's beginning", ofType("terminal/cleared"))
	says := func(what string) func(*store.Entry) bool {
		return func(e *store.Entry) bool {
			d, ok := e.Action().(ahp.TerminalData)
			return ok && strings.Contains(string(d.Data), what)
		}
	}
	fresh.until("the state", says("before"))
	if got := fresh.dispatch(uri, ahp.TerminalInput{Data: []byte("after\n")}); got != "" {
		t.Fatal(got)
	}
	fresh.until("what follows", says("after"))
}

func TestSSHSessionsOfAKeyShareAClientIDThatATokenDoesNot(t *testing.T) {
	t.Parallel()
	if host.SSHClientID(alice) == host.SSHClientID(bot) {
		t.Error("a token shares its key's clientId")
	}
	// Half of all fingerprints have a slash.
	slashed := authz.Principal{ID: "SHA256:iF8mentqTaLXZh/0Y7kMoA3yyejcPLZlcEF91GfooRU"}
	if id := host.SSHClientID(slashed); id != "ssh:iF8mentqTaLX" {
		t.Errorf("got %q, want a prefix of the fingerprint", id)
	}
	slashed.ID, slashed.Token = slashed.ID+"/bot", "bot"
	if id := host.SSHClientID(slashed); id != "ssh:iF8mentqTaLX/bot" {
		t.Errorf("got %q, want the key's and the token's name", id)
	}
	clock := newClock()
	h := hosttest.New(t, withClock(clock))
	agent := connect(t, h, bot, "agent")
	uri := agent.create("x", "/bin/cat")
	c, err := h.Connect(carol, host.DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	clock.advance(time.Hour) // connected, not forgotten
	if got := agent.claim(uri, host.SSHClientID(carol)); got != "" {
		t.Errorf("passing the claim to a connected person: %q", got)
	}
	if err := c.Send(t.Context(), lookup(h, uri), []byte("x")); err != nil {
		t.Errorf("the one that was given the claim cannot type: %v", err)
	}
	c.Close()
}

func TestAPrincipalsExpiryEndsItsConnections(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := carol
	p.Expires = time.Now().Add(20 * time.Millisecond)
	c, err := h.Connect(p, host.DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	wait(t, "the end", c.Context().Done())
	if got := context.Cause(c.Context()).Error(); !strings.Contains(got, "expired") {
		t.Error(got)
	}
	if _, err := h.Connect(p, host.DoorWebSocket); err == nil {
		t.Error("an expired principal connects")
	}
	if _, err := h.Connect(authz.Principal{}, host.DoorWebSocket); err == nil {
		t.Error("nobody connects")
	}
}

func TestAConnectionThatHasEndedCountsNoMore(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	a, b := connect(t, h, carol, "a"), connect(t, h, bot, "b")
	uri := a.create("x", "/bin/cat")
	v := attach(t, h, carol, "x", host.AttachOptions{Cols: 80, Rows: 24})
	gone := errors.New("the key was removed")
	a.c.End(gone)
	v.c.End(gone)
	wait(t, "the end", a.c.Context().Done())
	if got := context.Cause(a.c.Context()); got != gone {
		t.Error(got)
	}
	if b.c.Context().Err() != nil {
		t.Error("another's connection ended")
	}
	if err := v.a.Input([]byte("x")); err != gone {
		t.Errorf("a viewer whose key went types: %v", err)
	}
	if err := v.a.Claim(); err != gone {
		t.Errorf("a viewer whose key went claims: %v", err)
	}
	a.c.Dispatch(uri, 1, ahp.TerminalTitleChanged{Title: "after"})
	if st := state(a.t, h, lookup(h, uri)); st.Title == "after" {
		t.Error("an ended connection still changes things")
	}
}
