package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/transport"
)

// agent is a program connected to the host over AHP.
type agent struct {
	client  *client.Client
	mirrors map[string]*client.Mirror
	cut     func() // closes the connection

	mu    sync.Mutex
	times int // connections so far
}

// cmdAgent lets agents work over the host's WebSocket.
//
//	agent NAME connects TOKEN-FILE       its clientId is NAME
//	! agent NAME connects TOKEN-FILE     the host refuses it
//	agent NAME creates TERMINAL [COMMAND ARGS...]
//	agent NAME follows TERMINAL          subscribes
//	agent NAME sees TERMINAL REGEXP      in its output, waiting for it
//	agent NAME types TERMINAL TEXT
//	agent NAME claims TERMINAL [FOR-AGENT]
//	agent NAME insists TERMINAL          claims until nobody claims at the same moment
//	agent NAME races OTHER TERMINAL      both claim it at once; one wins
//	! agent NAME VERB ... REASON         is refused with a reason that matches
//	agent NAME waits TERMINAL            for its exit; sets $STATUS
//	agent NAME lists TERMINAL            waits until it is in the root's list
//	agent NAME misses TERMINAL           waits until it is not
//	agent NAME disposes TERMINAL
//	agent NAME loses                     its connection, and connects again
//	agent NAME sums TERMINAL             sets $SUM to the output's SHA-256
func cmdAgent(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: agent NAME VERB ...")
	}
	s, name, verb, rest := storyOf(ts), args[0], args[1], args[2:]
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if verb == "connects" {
		a, err := connectAgent(ctx, ts, name, rest)
		switch {
		case neg && err == nil:
			ts.Fatalf("%s was let in", name)
		case neg:
			ts.Logf("%v", err)
		default:
			ts.Check(err)
			s.agents[name] = a
		}
		return
	}
	a := s.agents[name]
	if a == nil {
		ts.Fatalf("%s is not connected", name)
	}
	if verb == "races" {
		ts.Check(a.races(ctx, s.agents[rest[0]], agentURI(rest[1])))
		return
	}
	act := map[string]func(context.Context, *testscript.TestScript, []string) error{
		"creates": a.creates, "follows": a.follows, "sees": a.sees, "types": a.types,
		"claims": a.claims, "insists": a.insists, "waits": a.waits, "lists": a.lists,
		"misses": a.misses, "disposes": a.disposes, "loses": a.loses, "sums": a.sums,
	}[verb]
	if act == nil {
		ts.Fatalf("an agent does not %q", verb)
	}
	if !neg {
		ts.Check(act(ctx, ts, rest))
		return
	}
	reason := rest[len(rest)-1]
	err := act(ctx, ts, rest[:len(rest)-1])
	if err == nil {
		ts.Fatalf("it was not refused")
	}
	if !regexp.MustCompile(reason).MatchString(err.Error()) {
		ts.Fatalf("it was refused with %q, want %q", err, reason)
	}
}

func connectAgent(ctx context.Context, ts *testscript.TestScript, name string,
	args []string) (*agent, error) {
	token := strings.TrimSpace(ts.ReadFile(args[0]))
	a := &agent{mirrors: map[string]*client.Mirror{}}
	dial := client.WebSocket(ts.Getenv("URL"), client.WebSocketOptions{Token: token})
	counted := func(ctx context.Context) (transport.Transport, error) {
		t, err := dial(ctx)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.times++
		a.cut = func() { t.Close("cut by the test") }
		return t, err
	}
	c, err := client.Connect(ctx, client.Config{ClientID: name, MinBackoff: 1,
		MirrorBytes: 64 << 20, Dial: counted})
	a.client = c
	return a, err
}

func (a *agent) creates(ctx context.Context, _ *testscript.TestScript, args []string) error {
	p := ahp.CreateTerminalParams{Channel: agentURI(args[0])}
	if len(args) > 1 {
		extras := &ahp.CreateTerminalExtras{Command: args[1], Args: args[2:]}
		p.Meta = &ahp.CreateTerminalMeta{Termhost: extras}
	}
	return a.client.CreateTerminal(ctx, p)
}

func (a *agent) mirror(ctx context.Context, name string) (*client.Mirror, error) {
	if m := a.mirrors[name]; m != nil {
		return m, nil
	}
	m, err := a.client.Subscribe(ctx, agentURI(name))
	if err == nil {
		a.mirrors[name] = m
	}
	return m, err
}

func (a *agent) follows(ctx context.Context, _ *testscript.TestScript, args []string) error {
	_, err := a.mirror(ctx, args[0])
	return err
}

func (a *agent) sees(ctx context.Context, _ *testscript.TestScript, args []string) error {
	m, err := a.mirror(ctx, args[0])
	if err != nil {
		return err
	}
	re := regexp.MustCompile(strings.Join(args[1:], " "))
	var shown []byte // the output that was not searched yet, and a little before it
	seen := 0
	err = m.WaitTerminal(ctx, func(st *ahp.TerminalState) bool {
		shown = append(shown[max(0, len(shown)-matchOverlap):], outputFrom(st, seen)...)
		seen = outputLen(st)
		return re.Match(escapes.ReplaceAll(shown, nil))
	})
	if err != nil {
		return fmt.Errorf("%w; the output ends with %q",
			err, shown[max(0, len(shown)-matchOverlap):])
	}
	return nil
}

// matchOverlap is how much of the output, in bytes, is searched again when more has come: more than
// anything that a script waits for.
const matchOverlap = 2 << 10

func outputLen(st *ahp.TerminalState) (n int) {
	for i := range st.Content {
		n += st.Content[i].Text.Len()
	}
	return n
}

// outputFrom returns a terminal's output from an offset on.
func outputFrom(st *ahp.TerminalState, from int) (out []byte) {
	for i := range st.Content {
		for _, chunk := range st.Content[i].Text.Chunks() {
			if from < len(chunk) {
				out = append(out, chunk[max(from, 0):]...)
			}
			from = max(from-len(chunk), 0)
		}
	}
	return out
}

func (a *agent) types(ctx context.Context, _ *testscript.TestScript, args []string) error {
	text, err := strconv.Unquote(`"` + strings.Join(args[1:], " ") + `"`)
	if err != nil {
		return err
	}
	return a.client.Dispatch(ctx, agentURI(args[0]), ahp.TerminalInput{Data: []byte(text)})
}

func (a *agent) claims(ctx context.Context, _ *testscript.TestScript, args []string) error {
	id := a.client.ID()
	if len(args) > 1 {
		id = args[1]
	}
	claimed := ahp.TerminalClaimed{Claim: ahp.ClientClaim(id)}
	return a.client.Dispatch(ctx, agentURI(args[0]), claimed)
}

func (a *agent) insists(ctx context.Context, ts *testscript.TestScript, args []string) error {
	for {
		err := a.claims(ctx, ts, args)
		var rejected *client.Rejected
		if !errors.As(err, &rejected) || !strings.Contains(rejected.Reason, "at the same moment") {
			return err
		}
	}
}

// sameMoment is how far apart claims may be and the host still takes them for made at the same
// moment.
const sameMoment = 50 * time.Millisecond

// races has two agents claim a terminal at the same time. Exactly one may win, and both must then
// agree on which one. Claims that a busy machine has kept apart are made again.
func (a *agent) races(ctx context.Context, other *agent, uri string) error {
	both := []*agent{a, other}
	errs := make([]error, len(both))
	for apart := true; apart; {
		start := time.Now()
		var wg sync.WaitGroup
		for i, racer := range both {
			wg.Go(func() {
				claimed := ahp.TerminalClaimed{Claim: ahp.ClientClaim(racer.client.ID())}
				errs[i] = racer.client.Dispatch(ctx, uri, claimed)
			})
		}
		wg.Wait()
		apart = errs[0] == nil && errs[1] == nil && time.Since(start) >= sameMoment && ctx.Err() == nil
	}
	winner := -1
	for i, err := range errs {
		var rejected *client.Rejected
		switch {
		case err == nil && winner >= 0:
			return errors.New("both have won")
		case err == nil:
			winner = i
		case !errors.As(err, &rejected):
			return err
		}
	}
	if winner < 0 {
		return fmt.Errorf("nobody has won: %v", errs)
	}
	for _, racer := range both {
		m, err := racer.client.Subscribe(ctx, uri)
		if err != nil {
			return err
		}
		holder := m.Terminal().Claim.ClientID
		m.Close()
		if holder != both[winner].client.ID() {
			return fmt.Errorf("%s takes %s for the holder, but %s has won",
				racer.client.ID(), holder, both[winner].client.ID())
		}
	}
	return nil
}

func (a *agent) waits(ctx context.Context, ts *testscript.TestScript, args []string) error {
	m, err := a.mirror(ctx, args[0])
	if err != nil {
		return err
	}
	exited := func(st *ahp.TerminalState) bool { return st.Exited }
	if err := m.WaitTerminal(ctx, exited); err != nil {
		return err
	}
	st := m.Terminal()
	ts.Setenv("STATUS", strconv.Itoa(*st.ExitCode))
	return nil
}

func (a *agent) lists(ctx context.Context, _ *testscript.TestScript, args []string) error {
	return a.waitRoot(ctx, func(st *ahp.RootState) bool { return isListed(st, args[0]) })
}

func (a *agent) misses(ctx context.Context, _ *testscript.TestScript, args []string) error {
	return a.waitRoot(ctx, func(st *ahp.RootState) bool { return !isListed(st, args[0]) })
}

// waitRoot waits until the root's state satisfies ok.
func (a *agent) waitRoot(ctx context.Context, ok func(*ahp.RootState) bool) error {
	m, err := a.client.Subscribe(ctx, ahp.RootURI)
	if err != nil {
		return err
	}
	defer m.Close()
	return m.WaitRoot(ctx, ok)
}

// isListed reports whether the root lists a terminal with that name.
func isListed(root *ahp.RootState, name string) bool {
	return slices.ContainsFunc(root.Terminals, func(t ahp.TerminalInfo) bool {
		return strings.HasSuffix(t.Resource, "/"+name)
	})
}

func (a *agent) disposes(ctx context.Context, _ *testscript.TestScript, args []string) error {
	return a.client.DisposeTerminal(ctx, agentURI(args[0]))
}

func (a *agent) loses(ctx context.Context, _ *testscript.TestScript, _ []string) error {
	a.mu.Lock()
	before, cut := a.times, a.cut
	a.mu.Unlock()
	cut()
	for ctx.Err() == nil {
		err := a.client.Ping(ctx)
		a.mu.Lock()
		again := a.times > before
		a.mu.Unlock()
		if err == nil && again {
			return nil
		}
		if err != nil && !errors.Is(err, client.ErrLost) {
			return err
		}
	}
	return context.Cause(ctx)
}

func (a *agent) sums(ctx context.Context, ts *testscript.TestScript, args []string) error {
	m, err := a.mirror(ctx, args[0])
	if err != nil {
		return err
	}
	st := m.Terminal()
	sum := sha256.Sum256([]byte(client.Text(&st)))
	ts.Setenv("SUM", hex.EncodeToString(sum[:]))
	return nil
}

// agentURI is the URI of a terminal NAME or, of another host, HOST/NAME.
func agentURI(name string) string {
	if strings.Contains(name, "/") {
		return "ahp-terminal://" + name
	}
	return ahp.TerminalURI(name)
}
