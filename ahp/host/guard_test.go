package host_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
	"termhost/authz"
)

// guarded is a terminal that an agent holds, and two people who may decide.
type guarded struct {
	t     *testing.T
	h     *host.Host
	term  *host.Terminal
	agent *peer
	ann   *host.Conn // a person: alice, whose token the agent has
	bob   *host.Conn // another admin
	dir   string     // the home directory
}

func newGuarded(t *testing.T, line string) *guarded {
	t.Helper()
	h := hosttest.New(t)
	g := &guarded{t: t, h: h, agent: connect(t, h, bot, "agent")}
	g.agent.create("x", "/bin/sh", "-c", line)
	g.term = lookup(h, ahp.TerminalURI("x"))
	g.ann, g.bob = door(t, h, alice, host.DoorSSH), door(t, h, hosttest.Principal("bob", authz.Admin), host.DoorSSH)
	if err := g.ann.SetGuard(g.term, true); err != nil {
		t.Fatal(err)
	}
	return g
}

func door(t testing.TB, h *host.Host, p authz.Principal, door string) *host.Conn {
	t.Helper()
	c, err := h.Connect(p, door)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// asks has the agent dispatch input, which must be held, and returns its clientSeq.
func (g *guarded) asks(text string) (seq int64) {
	g.t.Helper()
	looker := door(g.t, g.h, hosttest.Principal("looker", authz.Admin), host.DoorSSH)
	defer looker.Close()
	list := func() []host.HeldInput {
		g.t.Helper()
		list, err := looker.Asks(g.term)
		hosttest.Check(g.t, err)
		return list
	}
	before := list()
	g.agent.seq++
	g.agent.c.Dispatch(g.term.URI(), g.agent.seq, ahp.TerminalInput{Data: []byte(text)})
	if held := list(); len(held) != len(before)+1 || held[len(before)].By != g.agent.c.Name() {
		g.t.Fatalf("%q is not held", text)
	}
	return g.agent.seq
}

// decides decides about an ask; "": about the first that c is shown now.
func (g *guarded) decides(c *host.Conn, ask string, d host.Decision, reason string) host.HeldInput {
	g.t.Helper()
	if ask == "" {
		if _, err := c.Asks(); err != nil {
			g.t.Fatal(err)
		}
	}
	is, err := c.Decide(g.term, nil, ask, d, reason)
	if err != nil {
		g.t.Fatal(err)
	}
	return is
}

func (g *guarded) rejected(seq int64, want string) {
	g.t.Helper()
	if got := g.agent.answer(seq).Rejection(); got != want {
		g.t.Errorf("the agent is told %q, want %q", got, want)
	}
}

// first returns the name of what is decided first.
func (g *guarded) first() string {
	g.t.Helper()
	list, err := door(g.t, g.h, hosttest.Principal("bob", authz.Admin), host.DoorSSH).Asks()
	if err != nil || len(list) == 0 {
		g.t.Fatalf("held: %+v, %v", list, err)
	}
	return list[0].Ask
}

// holds checks what is held, in order.
func (g *guarded) holds(want ...string) {
	g.t.Helper()
	list, err := g.bob.Asks()
	if err != nil {
		g.t.Fatal(err)
	}
	var got []string
	for _, k := range list {
		got = append(got, k.Text)
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		g.t.Fatalf("held: %q, want %q", got, want)
	}
}

func TestAnAgentsInputIsTypedWhenAPersonApproves(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	first, second, third := g.asks("one\r"), g.asks("two\r"), g.asks("three\r")
	info := g.term.Info(alice)
	if info.Waiting != host.WaitingApproval || !info.Guarded {
		t.Errorf("listed as %+v", info)
	}
	g.holds("one\r", "two\r", "three\r")
	if is := g.decides(g.ann, "", host.ApproveOnce, ""); is.Text != "one\r" || is.By != "alice/bot" {
		t.Errorf("decided about %+v", is)
	}
	g.rejected(first, "")
	g.decides(g.bob, "", host.RefuseOnce, "not\x1b now")
	g.rejected(second, "refused by bob: not now")
	g.decides(g.ann, "", host.RefuseOnce, "")
	g.rejected(third, "refused by alice")
	awaitOutput(t, g.h, g.term, "one\r\none\r\n")
	if st := state(g.t, g.h, g.term); strings.Contains(text(st), "t") {
		t.Errorf("something refused was typed: %q", text(st))
	}
	if info := g.term.Info(alice); info.Waiting == host.WaitingApproval {
		t.Errorf("listed as %+v", info)
	}
}

func TestADecisionIsNoNewsOfTheProgram(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "read x")
	waitsFor(t, g.h, g.term, g.ann)
	l := listen(t, g.h, alice, g.term)
	g.asks("one\r")
	g.decides(g.ann, "", host.RefuseOnce, "")
	l.until(host.EventRefused)
	for _, e := range l.past {
		if e.Kind == host.EventWaits {
			t.Error("a program that has waited all the time is told to wait")
		}
	}
}

func TestRootSaysThatSomethingIsHeld(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	g.asks("rm -rf \x1b[31m/\r")
	host.FlushList(g.h)
	if meta := rootList(t, g.h, alice)[0].Termhost; meta.Waiting != "approval" || !meta.Guarded {
		t.Fatalf("root says %+v", meta)
	}
	g.decides(g.ann, "", host.RefuseOnce, "")
	host.FlushList(g.h)
	if meta := rootList(t, g.h, alice)[0].Termhost; meta.Waiting != "" {
		t.Errorf("root says %+v afterwards", meta)
	}
}

func TestOnlyABareInterruptPassesAGuard(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, `trap 'echo caught' INT; echo ready; while :; do sleep 1000 & wait; done`)
	awaitOutput(t, g.h, g.term, "ready")
	g.asks("\x03ls\r")
	if why := g.agent.dispatch(g.term.URI(), ahp.TerminalInput{Data: []byte("\x03")}); why != "" {
		t.Errorf("ctrl-C is refused: %s", why)
	}
	awaitOutput(t, g.h, g.term, "caught")
	g.asks("")
	g.asks("\x04")
	g.holds("\x03ls\r", "", "\x04")
}

func TestWhoMayApprove(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	g.asks("x")
	inside := alice
	inside.Inside = true
	hidden := authz.Principal{ID: "guest:g:1", Name: "guest:g", Role: authz.Operator,
		Fingerprint: "SHA256:g", Guest: "1", Reach: authz.ReachOf("other", time.Unix(1, 0))}
	for name, c := range map[string]*host.Conn{
		"an observer":                door(t, g.h, eve, host.DoorSSH),
		"an operator without it":     door(t, g.h, carol, host.DoorSSH),
		"the agent":                  g.agent.c,
		"the agent's token over ssh": door(t, g.h, bot, host.DoorSSH),
		"AHP with the person's key":  door(t, g.h, alice, host.DoorSubsystem),
		"AHP of this machine":        door(t, g.h, authz.ForUID(1000), host.DoorUnix),
		"from inside a terminal":     door(t, g.h, inside, host.DoorSSH),
		"a guest of another one":     door(t, g.h, hidden, host.DoorSSH),
	} {
		var denied *authz.Denied
		_, err := c.Decide(g.term, nil, g.first(), host.ApproveOnce, "")
		if !errors.As(err, &denied) {
			t.Errorf("%s approves: %v", name, err)
		}
		if err := c.SetGuard(g.term, false); !errors.As(err, &denied) {
			t.Errorf("%s turns the guard off: %v", name, err)
		}
	}
	if list, err := door(t, g.h, hidden, host.DoorSSH).Asks(); err != nil || len(list) != 0 {
		t.Errorf("a guest is shown what is held in a hidden terminal: %+v, %v", list, err)
	}
	g.holds("x")
	// An operator may decide about what its own token types.
	low := alice
	low.Role = authz.Operator
	g.decides(door(t, g.h, low, host.DoorSSH), "", host.RefuseOnce, "")
}

func TestNobodyApprovesWhatTheyWereNotShown(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	harmless := g.asks("ls\r")
	g.holds("ls\r") // bob looks
	other := connect(t, g.h, bot, "other")
	g.decides(g.ann, "", host.RefuseOnce, "")
	g.rejected(harmless, "refused by alice")
	other.c.Dispatch(g.term.URI(), 1, ahp.TerminalInput{Data: []byte("rm -rf /\r")})
	var gone *host.GoneError
	if _, err := g.bob.Decide(g.term, nil, "", host.ApproveOnce, ""); !errors.As(err, &gone) || !gone.Newer ||
		gone.Last != "refused by alice" {
		t.Fatalf("bob approves what he has not seen: %v", err)
	}
	var unseen *host.UnseenError
	if _, err := g.ann.Decide(g.term, nil, "", host.ApproveOnce, ""); !errors.As(err, &unseen) {
		t.Fatalf("ann approves what she has not seen: %v", err)
	}
	if _, err := g.bob.Decide(g.term, nil, "nosuch", host.ApproveOnce, ""); !errors.As(err, &gone) {
		t.Fatalf("an ask that never was: %v", err)
	}
	g.holds("rm -rf /\r") // now he has
	g.decides(g.bob, "", host.RefuseOnce, "")
	if _, err := g.bob.Decide(g.term, nil, "", host.ApproveOnce, ""); !errors.As(err, &gone) || gone.Newer {
		t.Fatalf("approving nothing: %v", err)
	}
}

// The bytes belong to the agent's message, whose memory is used again.
func TestWhatIsHeldDoesNotChangeWithTheAgentsMemory(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	p := []byte("good\r")
	g.agent.c.Dispatch(g.term.URI(), 1, ahp.TerminalInput{Data: p})
	copy(p, "evil")
	g.decides(g.ann, "", host.ApproveOnce, "")
	awaitOutput(t, g.h, g.term, "good\r\n")
}

func TestOneOfTwoDecisionsCounts(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	for round := range 50 {
		seq := g.asks(fmt.Sprintf("<%d>\r", round))
		list, err := g.ann.Asks()
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		var racing sync.WaitGroup
		errs := make([]error, 2)
		for i, c := range []*host.Conn{g.ann, g.bob} {
			racing.Go(func() { _, errs[i] = c.Decide(g.term, nil, list[0].Ask, host.Decision(2*i), "") })
		}
		racing.Wait()
		var gone *host.GoneError
		won := errs[0] == nil
		if won == (errs[1] == nil) || !errors.As(errors.Join(errs...), &gone) {
			t.Fatalf("round %d: %v", round, errs)
		}
		if refused := g.agent.answer(seq).Rejection() != ""; refused == won {
			t.Fatalf("round %d: approved is %v, refused is %v", round, won, refused)
		}
	}
}

func TestWhatEndsTheWaitForApproval(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(*guarded)
		want string
	}{
		"the program ends": {func(g *guarded) { _ = hosttest.Dispose(g.h, alice, g.term) }, reasonExited},
		"a person takes the keyboard": {func(g *guarded) {
			v := attach(g.t, g.h, alice, "x", window)
			if err := v.a.Input([]byte("k")); err != nil {
				g.t.Error(err)
			}
		}, "alice has the keyboard now"},
		"the guard is turned off": {func(g *guarded) {
			if err := g.bob.SetGuard(g.term, false); err != nil {
				g.t.Error(err)
			}
		}, unguarded},
		"nobody answers": {func(g *guarded) {
			host.SetApprovalTime(g.h, time.Millisecond)
			g.agent.seq++
			g.agent.c.Dispatch(g.term.URI(), g.agent.seq, ahp.TerminalInput{Data: []byte("late")})
		}, "nobody answered in 10m"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t, "exec cat")
			seq := g.asks("x")
			c.end(g)
			if name == "nobody answers" {
				seq = g.agent.seq
			}
			g.rejected(seq, c.want)
		})
	}
	g := newGuarded(t, "exec cat")
	v := attach(t, g.h, alice, "x", window)
	<-v.a.AskingChanged()
	g.asks("x")
	<-v.a.AskingChanged()
	if is, ok := v.a.Asking(); !ok || is.Text != "x" {
		t.Fatalf("the viewer is asked %+v %v", is, ok)
	}
	g.agent.c.Close()
	<-v.a.AskingChanged()
	if is, ok := v.a.Asking(); ok {
		t.Errorf("after its agent has left: %+v", is)
	}
	if n := v.noted(); n.Kind != host.NoteGone || n.Agent != "alice/bot" {
		t.Errorf("the viewer is told %+v", n)
	}
}

func TestAFloodOfAsksIsBounded(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	if why := g.agent.dispatch(g.term.URI(),
		ahp.TerminalInput{Data: bytes.Repeat([]byte{'\n'}, maxHeldText+1)}); !strings.Contains(why, "and at most 16384 bytes of yours wait") {
		t.Errorf("too much: %q", why)
	}
	for range maxHeldInputs {
		g.asks("x")
	}
	if why := g.agent.dispatch(g.term.URI(), ahp.TerminalInput{Data: []byte("x")}); why !=
		"the terminal is guarded, and too much waits for approval already" {
		t.Errorf("too many: %q", why)
	}
	for range maxHeldInputs {
		g.decides(g.ann, "", host.RefuseOnce, "")
	}
	g.agent.pending()
	g.asks("again")
}

func TestWhatATokenSendsWaitsForItsAnswer(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	token := door(t, g.h, bot, host.DoorSSH)
	sent := make(chan error)
	send := func() { sent <- token.Send(t.Context(), g.term, []byte("hi\r")) }
	v := attach(t, g.h, alice, "x", window)
	await := func() {
		t.Helper()
		for {
			if _, ok := v.a.Asking(); ok {
				return
			}
			<-v.a.AskingChanged()
		}
	}
	go send()
	await()
	g.decides(g.ann, "", host.RefuseOnce, "no")
	if err := <-sent; err == nil || err.Error() != "refused by alice: no" {
		t.Errorf("refused: %v", err)
	}
	go send()
	await()
	g.decides(g.ann, "", host.ApproveOnce, "")
	if err := <-sent; err != nil {
		t.Errorf("approved: %v", err)
	}
	awaitOutput(t, g.h, g.term, "hi\r\nhi\r\n")
	if err := g.ann.Send(t.Context(), g.term, []byte("person\r")); err != nil {
		t.Errorf("a person sends: %v", err)
	}
	awaitOutput(t, g.h, g.term, "person\r\nperson\r\n")
}

func TestWhatCannotBeGuarded(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.GuardAgents = true })
	ann := door(t, h, alice, host.DoorSSH)
	term, starting, err := begin(door(t, h, bot, host.DoorSSH),
		host.CreateOptions{Name: "server", Argv: sh("exec cat")})
	hosttest.Check(t, err)
	if !term.Info(alice).Guarded || starting == nil {
		t.Error("guard_agents does not guard a new terminal")
	}
	owner := connect(t, h, carol, "owner")
	claim := ahp.ClientClaim("owner")
	uri := ahp.TerminalURI("client")
	if e := created(rpc.CreateTerminal(owner.c, ahp.CreateTerminalParams{Channel: uri, Claim: &claim,
		ExecutionTarget: ahp.ExecutorClient})); e != nil {
		t.Fatal(e)
	}
	var denied *authz.Denied
	client := lookup(h, uri)
	if err := ann.SetGuard(client, true); !errors.As(err, &denied) ||
		denied.Rule != "client-executed terminals are observation-only" || client.Guarded() {
		t.Errorf("a client-executed terminal: %v", err)
	}
	over := run(t, h, alice, "over", "exit 0")
	<-over.Done()
	if err := ann.SetGuard(over, false); err != host.ErrExited {
		t.Errorf("one that has exited: %v", err)
	}
}

func TestAPersonEditsWhatAnAgentWants(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	first, second := g.asks("rm all\r"), g.asks("more\r")
	v := attach(t, g.h, alice, "x", window)
	is, ok := v.a.Asking()
	if !ok || is.Behind != 1 || is.All {
		t.Fatalf("asked %+v %v", is, ok)
	}
	if err := v.decide(is.Ask, host.EditIt); err != nil {
		t.Fatal(err)
	}
	g.rejected(first, "taken by alice, who edits it")
	g.rejected(second, "alice has the keyboard now")
	if who, _ := v.a.Holder(); who != "alice" {
		t.Errorf("held by %s", who)
	}
	v.shows("rm all")
	if err := v.decide(is.Ask, host.EditIt); err == nil {
		t.Error("edited twice")
	}
}

// What a person edits is still the agent's text: it does not stand in the answer for a secret.
func TestNobodyEditsWhatAnAgentWantsIntoASecret(t *testing.T) {
	t.Parallel()
	begin := filepath.Join(t.TempDir(), "begin")
	if err := syscall.Mkfifo(begin, 0o600); err != nil {
		t.Fatal(err)
	}
	g := newGuarded(t, ": <'"+begin+"'; stty -echo; printf 'Password: '; read x; echo got $x")
	g.asks("leak")
	if err := os.WriteFile(begin, nil, 0); err != nil {
		t.Fatal(err)
	}
	hosttest.Eventually(t, "a secret is asked for", func() bool {
		return strings.HasPrefix(host.Question(g.term), "Password:")
	})
	v := attach(t, g.h, alice, "x", window)
	is, ok := v.a.Asking()
	if !ok {
		t.Fatal("nothing is asked")
	}
	if err := v.decide(is.Ask, host.EditIt); ruleIn(err) != "a person must type this" {
		t.Errorf("edited: %v", err)
	}
}

func TestAGuardIsThereAfterARestart(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	other := run(t, g.h, carol, "other", "exec cat")
	for _, on := range []bool{true, false} {
		if err := g.ann.SetGuard(other, on); err != nil {
			t.Fatal(err)
		}
	}
	later := after(t, killed(t, g.h))
	for name, want := range map[string]bool{"x": true, "other": false} {
		if term := find(t, later, name); term.Guarded() != want || term.Info(alice).Guarded != want {
			t.Errorf("%s is guarded: %v, listed as %+v", name, term.Guarded(), term.Info(alice))
		}
	}
}
