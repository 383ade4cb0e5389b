package host_test

import (
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
	"termhost/ahp/store"
)

// mirror folds entries into a state, as a client does.
func mirror(st ahp.TerminalState, uri string, entries []*store.Entry) ahp.TerminalState {
	for _, e := range entries {
		if e.Channel() == uri && e.Rejection() == "" {
			st.ApplyCopy(e.Action())
		}
	}
	return st
}

func reconnect(t *testing.T, h *host.Host, id string, lastSeen uint64,
	refs ...ahp.SubscriptionRef) (*peer, host.Replay) {
	t.Helper()
	c, err := h.Connect(carol, host.DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	r, e := c.Reconnect(ahp.ReconnectParams{ClientID: id, LastSeenServerSeq: lastSeen,
		Subscriptions: refs})
	if e != nil {
		t.Fatal(e)
	}
	return &peer{t: t, h: h, c: c, id: id}, r
}

func TestReconnectReplaysWhatWasMissed(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := connect(t, h, carol, "c")
	uri := p.create("x", "/bin/sh", "-c",
		"stty -icanon -echo; printf one; read x; printf two; read x; printf three; read x")
	other := p.create("gone", "/bin/cat")
	p.subscribe(other)
	term := lookup(h, uri)
	awaitOutput(t, h, term, "one")
	st := p.subscribe(uri)
	before := p.pending()
	st = mirror(st, uri, before)
	seen := h.Stats().ServerSeq
	p.dispatch(uri, ahp.TerminalInput{Data: []byte("\r")})
	awaitOutput(t, h, term, "two") // is on its way when the connection is lost
	p.c.Close()
	if err := hosttest.Dispose(h, carol, lookup(h, other)); err != nil {
		t.Fatal(err)
	}

	fresh, r := reconnect(t, h, "c", seen, ahp.SubscriptionRef(uri), ahp.SubscriptionRef(other),
		"ahp-terminal:/never", "no uri")
	if got := strings.Join(r.Missing, " "); got != other+" ahp-terminal:/never no uri" {
		t.Errorf("missing %q", got)
	}
	for _, e := range r.Actions {
		if e.Action().Type() == "terminal/cleared" {
			t.Error("it was rebuilt, not replayed")
		}
		if e.Seq() <= seen {
			t.Error("a replayed action has been seen before")
		}
	}
	st = mirror(st, uri, r.Actions)
	if text(st) != "onetwo" {
		t.Errorf("after the replay it is %q", text(st))
	}
	if got := fresh.dispatch(uri, ahp.TerminalInput{Data: []byte("\r")}); got != "" {
		t.Fatalf("the clientId holds nothing after it came back: %q", got)
	}
	awaitOutput(t, h, term, "three")
	if st = mirror(st, uri, fresh.pending()); text(st) != "onetwothree" {
		t.Errorf("then it is %q", text(st))
	}
	if fresh.c.Shape() != ahp.ShapeExitCode {
		t.Errorf("the shape is %v", fresh.c.Shape())
	}
}

func TestReconnectRebuildsWhatTheLogHasNot(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.LogBytes = 128 << 10; c.ScrollbackBytes = 64 << 10 })
	p := connect(t, h, carol, "c")
	uri := p.create("x", "/bin/sh", "-c",
		"stty -icanon -echo -onlcr; printf one; read x; yes 0123456789 | head -c 1000000; printf '\\033]2;titled\\007end'; read x")
	term := lookup(h, uri)
	awaitOutput(t, h, term, "one")
	st := p.subscribe(uri)
	st = mirror(st, uri, p.pending())
	seen := h.Stats().ServerSeq
	p.dispatch(uri, ahp.TerminalInput{Data: []byte("\r")})
	p.c.Close()
	awaitOutput(t, h, term, "end")
	awaitTitle(t, h, term, "titled")
	_, r := reconnect(t, h, "c", seen, ahp.SubscriptionRef(uri))
	st = mirror(st, uri, r.Actions)
	now := state(p.t, h, term)
	if text(st) != text(now) || st.Title != "titled" || st.Claim != now.Claim || st.Cols != now.Cols {
		t.Errorf("the rebuilt state is %d bytes titled %q, the host's %d titled %q",
			len(text(st)), st.Title, len(text(now)), now.Title)
	}
	if len(text(now)) > 200<<10 {
		t.Errorf("the content was not trimmed: %d bytes", len(text(now)))
	}
}

func TestReconnectOfAnUnknownClientLeavesTheConnectionOpen(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	c, err := h.Connect(carol, host.DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Reconnect(ahp.ReconnectParams{ClientID: "who"})
	if e := rpc.Error(c, err); e == nil || e.Code != ahp.CodeNotFound {
		t.Errorf("%+v", err)
	}
	if _, e := c.Initialize(initParams("1.2.3", "who")); e != nil {
		t.Errorf("initialize afterwards: %v", e)
	}
}

func TestReconnectTakesOverALiveConnection(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	old := connect(t, h, carol, "c")
	uri := old.create("x", "/bin/cat")
	old.subscribe(uri)
	fresh, _ := reconnect(t, h, "c", h.Stats().ServerSeq, ahp.SubscriptionRef(uri))
	wait(t, "the older connection's end", old.c.Context().Done())
	if got := fresh.dispatch(uri, ahp.TerminalInput{Data: []byte("x")}); got != "" {
		t.Error(got)
	}
	// The older connection, which has not noticed yet, cannot subscribe again.
	if e := old.c.Subscribe(uri, nil); e == nil {
		t.Error("the older connection subscribes")
	}
}

func TestAnObserversReconnectMissesNothingAndAForcedKeySeesNothing(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	uri := connect(t, h, carol, "c").create("x", "/bin/cat")
	forced := carol
	forced.ID, forced.Command = "SHA256:forced", "date"
	c, err := h.Connect(forced, host.DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, e := c.Initialize(ahp.InitializeParams{ProtocolVersions: []string{"0.5.0"},
		ClientID: "f", InitialSubscriptions: []ahp.SubscriptionRef{ahp.SubscriptionRef(uri),
			ahp.RootURI}}); e != nil {
		t.Fatal(e)
	}
	if c.Subscriptions() != 0 {
		t.Error("a key with a forced command subscribes")
	}
	if e := rpc.Error(c, c.Subscribe(uri, nil)); e == nil || e.Code != ahp.CodeNotPermitted {
		t.Errorf("%+v", e)
	}
	if _, err := hosttest.List(h, forced); err == nil {
		t.Error("a key with a forced command lists")
	}
}

func TestNothingIsReplayedToWhoHasSeenTheSnapshotsOfInitialize(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, withoutLookout) // that the program waits would be news
	term, err := hosttest.Create(h, carol, host.CreateOptions{Name: "x", Argv: sh("echo ready; cat")})
	if err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, h, term, "ready")
	c, err := h.Connect(carol, host.DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	hello, e := c.Initialize(ahp.InitializeParams{Channel: ahp.RootURI,
		ProtocolVersions: []string{"0.5.0"}, ClientID: "c",
		InitialSubscriptions: []ahp.SubscriptionRef{ahp.RootURI, ahp.SubscriptionRef(term.URI())}})
	if e != nil {
		t.Fatal(e)
	}
	snapshots, serverSeq := hello.Snapshots.Start()
	for _, v := range snapshots {
		if v.Seq != serverSeq {
			t.Errorf("the snapshot of %s is of %d, the answer of %d", v.URI, v.Seq, serverSeq)
		}
	}
	c.Close()
	_, r := reconnect(t, h, "c", serverSeq, ahp.RootURI, ahp.SubscriptionRef(term.URI()))
	if len(r.Actions) != 0 {
		t.Errorf("%d actions are replayed, the first is %s", len(r.Actions), r.Actions[0].Action().Type())
	}
}

// The terminal that the client means is gone. Another one has its URI now, of which the client gets
// nothing until it subscribes.
func TestReconnectMissesATerminalWhoseURIIsAnothersNow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		behind bool
	}{{"that was read", false}, {"that was being caught up with", true}} {
		t.Run(c.name, func(t *testing.T) {
			h := hosttest.New(t, func(c *host.Config) { c.LogBytes = 4 << 10 })
			p, owner := connect(t, h, carol, "c"), connect(t, h, carol, "owner")
			uri, _ := owner.share("x", "")
			p.subscribe(uri)
			if c.behind {
				for range 10 {
					owner.print(uri, strings.Repeat("x", 1<<10))
				}
			}
			seen := h.Stats().ServerSeq
			p.c.Close()
			if err := hosttest.Dispose(h, carol, lookup(h, uri)); err != nil {
				t.Fatal(err)
			}
			owner.share("x", "")
			fresh, r := reconnect(t, h, "c", seen, ahp.SubscriptionRef(uri),
				ahp.SubscriptionRef(ahp.RootURI))
			if len(r.Missing) != 1 || r.Missing[0] != uri {
				t.Errorf("missing %q", r.Missing)
			}
			for _, e := range r.Actions {
				if e.Channel() == uri {
					t.Errorf("it is told %s of the other terminal", e.Action().Type())
				}
			}
			if st := fresh.subscribe(uri); st.Title != "x" {
				t.Errorf("the new one is %+v", st)
			}
		})
	}
}
