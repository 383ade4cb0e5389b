package host_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
	"termhost/authz"
)

var (
	dave    = hosttest.Principal("dave", authz.Admin)
	session = ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/s1", TurnID: "t",
		ToolCallID: "c"}
)

// laterClock is a clock that a test sets forward.
type laterClock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *laterClock { return &laterClock{at: time.Unix(1_700_000_000, 0)} }

func (c *laterClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *laterClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func withClock(c *laterClock) func(*host.Config) { return func(cfg *host.Config) { cfg.Now = c.Now } }

func TestClaimsPassOnOnlyFromTheHolder(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock))
	owner, other := connect(t, h, carol, "owner"), connect(t, h, bot, "other")
	uri := owner.create("x", "/bin/cat")
	steps := []struct {
		who   *peer
		claim ahp.Claim
		want  string // in the rejection; "": accepted
	}{
		{other, ahp.ClientClaim("other"), "only an admin may seize"},
		{other, session, "only an admin may seize"},
		{owner, ahp.ClientClaim("nobody"), reasonClaim},
		{owner, ahp.Claim{}, reasonNoClaim},
		{owner, ahp.Claim{Kind: "client"}, reasonNoClaim},
		{owner, ahp.Claim{Kind: "king", Session: "x"}, reasonNoClaim},
		{owner, ahp.Claim{Kind: ahp.ClaimSession, Session: strings.Repeat("s", 257)}, reasonNoClaim},
		{owner, ahp.Claim{Kind: ahp.ClaimClient, ClientID: strings.Repeat("s", 257)}, reasonNoClaim},
		{owner, session, ""}, // a session's claim is held by the principal that made it
		{other, ahp.ClientClaim("other"), "only an admin may seize"},
		{owner, ahp.ClientClaim("other"), ""},
		{owner, ahp.ClientClaim("owner"), "only an admin may seize"},
		{other, ahp.ClientClaim("owner"), ""},
	}
	for i, s := range steps {
		clock.advance(time.Second)
		got := s.who.dispatch(uri, ahp.TerminalClaimed{Claim: s.claim})
		if s.want == "" && got != "" || !strings.Contains(got, s.want) {
			t.Fatalf("step %d: %q, want %q", i, got, s.want)
		}
		if s.want == "" && lookup(h, uri).Info(alice).Claim != s.claim {
			t.Fatalf("step %d: held by %+v", i, lookup(h, uri).Info(alice).Claim)
		}
	}
}

func TestAnAdminSeizesAndTheFormerHolderTypesNoMore(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	agent, admin := connect(t, h, bot, "agent"), connect(t, h, alice, "admin")
	uri := agent.create("x", "/bin/cat")
	if got := admin.claim(uri, "admin"); got != "" {
		t.Fatal(got)
	}
	typed := ahp.TerminalInput{Data: []byte("x")}
	if got := agent.dispatch(uri, typed); !strings.Contains(got, "needs the claim") {
		t.Errorf("the former holder's input: %q", got)
	}
	if got := rpc.DisposeTerminal(agent.c, uri); got == nil || got.Code != ahp.CodeNotPermitted ||
		!strings.Contains(string(got.Data), "rule") {
		t.Errorf("the former holder's dispose: %+v", got)
	}
	if got := admin.dispatch(uri, ahp.TerminalInput{Data: []byte("x")}); got != "" {
		t.Errorf("the new holder's input: %q", got)
	}
}

func TestASeizureDropsWhatTheFormerHolderHadQueued(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	agent, admin := connect(t, h, bot, "agent"), connect(t, h, alice, "admin")
	// The program reads nothing before it is told to, by a named pipe.
	dir := t.TempDir()
	uri := agent.create("x", "/bin/sh", "-c",
		"stty raw -echo; mkfifo "+dir+"/go; printf ready; read x <"+dir+"/go; exec cat")
	term := lookup(h, uri)
	awaitOutput(t, h, term, "ready")
	for range 8 {
		typed := ahp.TerminalInput{Data: []byte(strings.Repeat("rm -rf / ", 1<<10))}
		if got := agent.dispatch(uri, typed); got != "" {
			t.Fatal(got)
		}
	}
	if got := admin.claim(uri, "admin"); got != "" {
		t.Fatal(got)
	}
	if got := admin.dispatch(uri, ahp.TerminalInput{Data: []byte("end")}); got != "" {
		t.Fatal(got)
	}
	writeFile(t, dir+"/go", "\n")
	awaitOutput(t, h, term, "end")
	if st := state(admin.t, h, term); text(st) != "readyend" {
		t.Errorf("the program read %.100q", text(st))
	}
}

func TestOfTwoRacingClaimsExactlyOneWins(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock))
	// One token, two agents: the policy lets both.
	a, b := connect(t, h, bot, "a"), connect(t, h, bot, "b")
	for i := range 50 {
		uri := a.create("x"+string(rune('A'+i%26))+string(rune('a'+i/26)), "/bin/cat")
		a.subscribe(uri)
		if i%2 == 0 {
			b.subscribe(uri)
		}
		// The terminal is an agent session's, so neither of the two passes its own claim on.
		if got := a.dispatch(uri, ahp.TerminalClaimed{Claim: session}); got != "" {
			t.Fatal(got)
		}
		clock.advance(crossing)
		var wg sync.WaitGroup
		for _, p := range []*peer{a, b} {
			wg.Go(func() {
				p.c.Dispatch(uri, int64(1000+i),
					ahp.TerminalClaimed{Claim: ahp.ClientClaim(p.id)})
			})
		}
		wg.Wait()
		ra, rb := a.answer(int64(1000+i)).Rejection(), b.answer(int64(1000+i)).Rejection()
		if (ra == "") == (rb == "") {
			t.Fatalf("both %q and %q", ra, rb)
		}
		winner := "a"
		if rb == "" {
			winner = "b"
		}
		if got := lookup(h, uri).Info(alice).Claim; got != ahp.ClientClaim(winner) {
			t.Fatalf("%s won, but it is held by %+v", winner, got)
		}
		if e := hosttest.Dispose(h, bot, lookup(h, uri)); e != nil {
			t.Fatal(e)
		}
	}
}

func TestAClaimMadeWithKnowledgeOfTheLastIsNoRace(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock))
	first, second := connect(t, h, alice, "first"), connect(t, h, dave, "second")
	operator := connect(t, h, carol, "operator")
	uri := operator.create("x", "/bin/cat")

	if got := operator.claim(uri, operator.id); got != "" {
		t.Fatal(got)
	}
	if got := first.claim(uri, first.id); got != "" {
		t.Errorf("an admin takes from an operator at any time: %q", got)
	}
	if got := second.claim(uri, second.id); !strings.Contains(got, "at the same moment") {
		t.Errorf("two admins at the same moment: %q", got)
	}
	clock.advance(crossing)
	if got := second.claim(uri, second.id); got != "" {
		t.Errorf("an admin that looked: %q", got)
	}
	// A follower that has not been sent the last claim cannot know of it, however late it claims.
	first.subscribe(uri)
	clock.advance(time.Second)
	third := connect(t, h, dave, "third")
	third.c.Dispatch(uri, 1, ahp.TerminalClaimed{Claim: ahp.ClientClaim("third")})
	clock.advance(time.Second)
	first.c.Dispatch(uri, 500, ahp.TerminalClaimed{Claim: ahp.ClientClaim("first")})
	if got := first.answer(500).Rejection(); !strings.Contains(got, "at the same moment") {
		t.Errorf("a claim that crossed in the queue: %q", got)
	}
	first.pending()
	if got := first.claim(uri, first.id); got != "" {
		t.Errorf("after it has read of it: %q", got)
	}
	// The holder may pass it on at once.
	if got := first.claim(uri, "second"); got != "" {
		t.Error(got)
	}
	if got := second.claim(uri, "operator"); got != "" {
		t.Error(got)
	}
}

func TestASessionsClaimIsHeldByThePrincipalThatMadeIt(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	agent, thief := connect(t, h, bot, "agent"), connect(t, h, carol, "thief")
	uri := ahp.TerminalURI("x")
	if e := created(rpc.CreateTerminal(agent.c, ahp.CreateTerminalParams{Channel: uri, Claim: &session})); e != nil {
		t.Fatal(e)
	}
	if got := agent.dispatch(uri, ahp.TerminalInput{Data: []byte("\n")}); got != "" {
		t.Errorf("the claiming principal: %q", got)
	}
	// Another connection of the same principal acts for the session as well.
	again := connect(t, h, bot, "agent2")
	if got := again.dispatch(uri, ahp.TerminalInput{Data: []byte("\n")}); got != "" {
		t.Errorf("its other client: %q", got)
	}
	if got := thief.dispatch(uri, ahp.TerminalInput{Data: []byte("\n")}); got == "" {
		t.Error("a session's name gives rights to whoever knows it")
	}
}

func TestInputSharedLetsOperatorsTypeButNotObservers(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.InputShared = true })
	owner, other := connect(t, h, carol, "owner"), connect(t, h, bot, "other")
	looker := connect(t, h, eve, "looker")
	uri := owner.create("x", "/bin/cat")
	if got := other.dispatch(uri, ahp.TerminalInput{Data: []byte("x")}); got != "" {
		t.Error(got)
	}
	got := other.dispatch(uri, ahp.TerminalResized{Cols: 90, Rows: 20})
	if !strings.Contains(got, "needs the claim") {
		t.Error(got)
	}
	got = looker.dispatch(uri, ahp.TerminalInput{Data: []byte("x")})
	if !strings.Contains(got, "observers") {
		t.Error(got)
	}
	v := attach(t, h, bot, "x", host.AttachOptions{Cols: 80, Rows: 24})
	if err := v.a.Input([]byte("y")); err != nil {
		t.Error(err)
	}
}

func TestAFullInputQueueRejectsAndTheTerminalLivesOn(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := connect(t, h, carol, "owner")
	uri := p.create("x", "/bin/sh", "-c", "stty raw -echo; printf ready; exec sleep 1000")
	awaitOutput(t, h, lookup(h, uri), "ready")
	piece := []byte(strings.Repeat("x", 256<<10))
	var got string
	for range 8 {
		if got = p.dispatch(uri, ahp.TerminalInput{Data: piece}); got != "" {
			break
		}
	}
	if got != reasonQueue {
		t.Errorf("a program that does not read: %q", got)
	}
	if got := p.dispatch(uri, ahp.TerminalTitleChanged{Title: "still here"}); got != "" {
		t.Error(got)
	}
}
