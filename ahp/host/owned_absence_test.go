package host_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
)

func TestAnOwnerThatIsGoneTakesItsTerminalAlong(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	owner, watcher := connect(t, h, carol, "owner"), connect(t, h, eve, "watcher")
	uri, term := owner.share("laptop", "")
	kept, _ := owner.share("kept", "")
	zero := 0
	if why := owner.dispatch(kept, ahp.TerminalExited{ExitCode: &zero}); why != "" {
		t.Fatal(why)
	}
	watcher.subscribe(uri)
	owner.c.Close()
	e := watcher.until("the exit", ofType("terminal/exited"))
	if a := e.Action().(ahp.TerminalExited); *a.ExitCode != -1 || e.Origin() != nil {
		t.Errorf("it ended with %d", *a.ExitCode)
	}
	wait(t, "its going", term.Gone())
	if lookup(h, uri) != nil {
		t.Error("it is in the catalogue")
	}
	if lookup(h, kept) == nil {
		t.Error("a terminal that had exited in good order is not listed any more")
	}
}

func TestATerminalWaitsForItsOwner(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	owner := connect(t, h, carol, "owner")
	uri, term := owner.share("laptop", "1h")
	other, _ := owner.share("other", "1h")
	owner.print(uri, "before ")
	viewer, left := attach(t, h, alice, "laptop", window), time.Now()
	owner.c.Close()
	if exited(term) {
		t.Fatal("it did not wait")
	}
	info := term.Info(eve)
	if info.AwaySince.Before(left.UTC()) || info.AwaySince.After(time.Now().UTC()) ||
		info.State != host.StateRunning {
		t.Errorf("it is %s, and its owner away since %s", info.State, info.AwaySince)
	}
	if n := viewer.noted(); n != (host.Note{Kind: host.NoteAway, Who: "carol/owner"}) {
		t.Errorf("who watches is told %+v", n)
	}
	if at := state(owner.t, h, term).Termhost.AwaySince; at != info.AwaySince.Format(time.RFC3339) {
		t.Errorf("clients of AHP are told %q", at)
	}
	c, err := h.Connect(carol, host.DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if e := hosttest.Dispose(h, alice, lookup(h, other)); e != nil {
		t.Fatal(e)
	}
	r, e := c.Reconnect(ahp.ReconnectParams{ClientID: "owner", LastSeenServerSeq: 1,
		Subscriptions: []ahp.SubscriptionRef{ahp.SubscriptionRef(uri)}})
	if e != nil {
		t.Fatal(e)
	}
	if n := viewer.noted(); n.Kind != host.NoteBack || !term.AwaySince().IsZero() ||
		state(owner.t, h, term).Termhost.AwaySince != "" {
		t.Errorf("who watches is told %+v", n)
	}
	if got := r.Owned[uri]; got.ClientSeq != owner.seq || got.Ended != "" {
		t.Errorf("the host has got %+v, sent was %d", got, owner.seq)
	}
	if got := r.Owned[other]; !strings.Contains(got.Ended, "alice") {
		t.Errorf("the other one is said to have ended because of %q", got.Ended)
	}
	again := &peer{t: t, h: h, c: c, id: "owner", seq: owner.seq}
	again.print(uri, "after")
	if st := state(again.t, h, term); text(st) != "before after" {
		t.Errorf("the content is %q", text(st))
	}
	if host.KeptOf(h).Absences > 0 {
		t.Error("it waits for an owner that is there")
	}
}

func TestATerminalDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.ClientGrace = time.Millisecond }) // owners may ask for more
	owner := connect(t, h, carol, "owner")
	_, term := owner.share("laptop", "24h")
	owner.c.Close()
	wait(t, "its end", term.Gone())
	if st, ok := term.Exit(); !ok || st.Code != -1 {
		t.Errorf("it ended with %d", st.Code)
	}
}

func TestATakeOverIsNoLossOfTheOwner(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	first := connect(t, h, carol, "owner")
	uri, term := first.share("laptop", "")
	second := connect(t, h, carol, "owner")
	first.c.Close()
	second.print(uri, "here")
	if exited(term) {
		t.Error("it has ended with the older connection")
	}
}

func TestATerminalOfAForwardedConnectionWaitsForNobody(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	c, err := h.Connect(carol, host.DoorForward)
	if err != nil {
		t.Fatal(err)
	}
	if _, e := c.Initialize(initParams("1.0.0", "owner")); e != nil {
		t.Fatal(e)
	}
	_, term := (&peer{t: t, h: h, c: c, id: "owner"}).share("laptop", "1h")
	c.Close()
	wait(t, "its end", term.Gone())
}

func TestAnExpiryEndsTheWait(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	p := carol
	p.Expires = time.Now().Add(2 * time.Second)
	owner := connect(t, h, p, "owner")
	_, term := owner.share("laptop", "1h")
	owner.c.Close()
	wait(t, "its end", term.Gone())
}

func TestWhoDisposesATerminalIsToldToItsOwner(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	for _, follows := range []bool{false, true} {
		owner, admin := connect(t, h, carol, "owner"), connect(t, h, alice, "admin")
		uri, term := owner.share("laptop", "1h")
		if follows {
			owner.subscribe(uri)
		}
		if e := rpc.DisposeTerminal(admin.c, uri); e != nil {
			t.Fatal(e)
		}
		ends := 0
		for _, e := range owner.pending() {
			if a, ok := e.Action().(ahp.TerminalExited); ok && a.Notice == "disposed by alice/admin" &&
				*a.ExitCode == -1 {
				ends++
			}
		}
		if ends != 1 {
			t.Errorf("follows=%v: the owner was told %d times", follows, ends)
		}
		wait(t, "its going", term.Gone())
		owner.c.Close()
	}
}

func TestAnSSHSessionOfTheKeyMayDispose(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	owner := connect(t, h, carol, "owner")
	_, term := owner.share("laptop", "")
	if err := hosttest.Dispose(h, bot, term); !isDenied(err) {
		t.Errorf("another operator: %v", err)
	}
	if err := hosttest.Dispose(h, carol, term); err != nil {
		t.Error(err)
	}
}

func TestAShareEndsWithItsSSHSession(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	c, err := h.Connect(carol, host.DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	hosttest.Conn(t, h, alice) // who disposes below
	clients := h.Stats().Clients
	for _, proper := range []bool{true, false} {
		s, err := c.Share(host.ShareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		term := s.Terminal()
		if proper {
			s.Exit(0)
		}
		s.Close()
		st, ok := term.Exit()
		if listed := lookup(h, term.URI()) != nil; !ok || listed != proper || (st.Code == 0) != proper {
			t.Errorf("proper=%v: it ended with %d and is listed: %v", proper, st.Code, listed)
		}
		if err := hosttest.Dispose(h, carol, term); err != nil {
			t.Error(err)
		}
	}
	disposed, err := c.Share(host.ShareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dispose(t, h, disposed.Terminal())
	disposed.Close()
	if n := h.Stats().Clients; n != clients {
		t.Errorf("%d clientIds of shares that are gone are kept", n-clients)
	}
}

// outputBurst is how many seconds' worth an owner may send at once.
const outputBurst = 4

// delayed reports whether a connection's reader must not read on yet.
func delayed(t *testing.T, c *host.Conn) bool {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return c.WaitOutput(ctx) != nil
}

func TestAnOwnerThatFloodsIsReadLaterAndTold(t *testing.T) {
	t.Parallel()
	clock := newClock()
	const rate = 1 << 20
	h := hosttest.New(t, withClock(clock), func(c *host.Config) { c.ClientOutputRate = rate })
	owner := connect(t, h, carol, "owner")
	uri, _ := owner.share("laptop", "")
	told := 0
	print := func(n int) {
		t.Helper()
		owner.seq++
		owner.c.Dispatch(uri, owner.seq, ahp.TerminalOutput{Data: make([]byte, n)})
		if owner.answer(owner.seq).Action().(ahp.TerminalOutput).Notice != "" {
			told++
		}
	}
	for range outputBurst * 4 { // a burst passes
		print(rate / 4)
		if delayed(t, owner.c) {
			t.Fatal("within the burst it is delayed")
		}
	}
	for range 3 {
		print(rate / 2)
	}
	clock.advance(3*time.Second/2 - time.Millisecond)
	if !delayed(t, owner.c) {
		t.Error("1.5 s beyond the burst it is delayed by less")
	}
	if told != 1 {
		t.Errorf("the owner was told %d times", told)
	}
	clock.advance(2 * time.Millisecond)
	if delayed(t, owner.c) {
		t.Error("after its debt is paid it is delayed")
	}
	other := connect(t, h, carol, "other")
	if delayed(t, other.c) {
		t.Error("another clientId is delayed")
	}
	for _, rest := range []struct {
		time time.Duration
		told int // in all, after a burst and more
	}{{time.Second, 1}, {time.Minute, 2}} { // only after the longer one a burst passes again
		clock.advance(rest.time)
		for range outputBurst + 1 {
			print(rate)
		}
		if told != rest.told {
			t.Errorf("after %s the owner has been told %d times", rest.time, told)
		}
	}
}

func TestNothingThatIsShownPassesByTheRate(t *testing.T) {
	t.Parallel()
	clock := newClock()
	const rate, size = 64 << 10, 32 << 10
	text := strings.Repeat("x", size)
	for name, action := range map[string]func(n int) ahp.Action{
		"command lines": func(n int) ahp.Action {
			return ahp.TerminalCommandExecuted{CommandID: strconv.Itoa(n), CommandLine: text}
		},
		"titles":       func(int) ahp.Action { return ahp.TerminalTitleChanged{Title: text} },
		"command ids":  func(int) ahp.Action { return ahp.TerminalCommandExecuted{CommandID: text} },
		"ids of ended": func(int) ahp.Action { return ahp.TerminalCommandFinished{CommandID: text} },
	} {
		t.Run(name, func(t *testing.T) {
			h := hosttest.New(t, withClock(clock), func(c *host.Config) { c.ClientOutputRate = rate })
			owner := connect(t, h, carol, "owner")
			uri, _ := owner.share("laptop", "")
			const burst = outputBurst * rate / size
			for n := range burst + 2 {
				owner.seq++
				owner.c.Dispatch(uri, owner.seq, action(n))
			}
			clock.advance(time.Second - time.Millisecond)
			if !delayed(t, owner.c) {
				t.Error("a second beyond the burst it is delayed by less")
			}
			owner.seq++
			owner.c.Dispatch(uri, owner.seq, ahp.TerminalOutput{Data: []byte("x")})
			if owner.answer(owner.seq).Action().(ahp.TerminalOutput).Notice == "" {
				t.Error("the owner is not told with its next output")
			}
		})
	}
}
