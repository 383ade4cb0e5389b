package host_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
	"termhost/ahp/store"
	"termhost/authz"
)

// everyAction is one of each action that a peer can put into a dispatchAction.
func everyAction(own string) []ahp.Action {
	code := 0
	return []ahp.Action{
		ahp.TerminalInput{Data: []byte("s3cret")},
		ahp.TerminalResized{Cols: 100, Rows: 30},
		ahp.TerminalTitleChanged{Title: "new title"},
		ahp.TerminalClaimed{Claim: ahp.ClientClaim(own)},
		ahp.TerminalCleared{},
		ahp.TerminalData{Data: []byte("forged")},
		ahp.TerminalOutput{Data: []byte("forged")},
		ahp.TerminalCwdChanged{Cwd: "file:///forged"},
		ahp.TerminalExited{ExitCode: &code},
		ahp.TerminalCommandDetectionAvailable{},
		ahp.TerminalCommandExecuted{CommandID: "x", CommandLine: "forged"},
		ahp.TerminalCommandFinished{CommandID: "x"},
		ahp.RootTerminalsChanged{},
		ahp.RootAgentsChanged{},
		ahp.RootActiveSessionsChanged{},
		ahp.RootConfigChanged{},
		ahp.Unknown{Name: "terminal/unheard", Raw: json.RawMessage(`{"type":"terminal/unheard","x":1}`)},
	}
}

// mayDispatch is design.md section 8 for server-executed terminals.
func mayDispatch(p authz.Principal, holds bool, a ahp.Action) bool {
	if p.Role == authz.Observer {
		return false
	}
	switch a.(type) {
	case ahp.TerminalInput, ahp.TerminalResized, ahp.TerminalTitleChanged, ahp.TerminalCleared:
		return holds
	case ahp.TerminalClaimed:
		return holds || p.Role == authz.Admin
	}
	return false
}

// ruleOf returns a part of what the refusal must say.
func ruleOf(p authz.Principal, a ahp.Action) string {
	switch a.(type) {
	case ahp.TerminalOutput, ahp.TerminalExited, ahp.TerminalCommandExecuted,
		ahp.TerminalCommandFinished:
		return "comes from the host only"
	case ahp.TerminalInput, ahp.TerminalResized, ahp.TerminalTitleChanged, ahp.TerminalCleared:
		if p.Role == authz.Observer {
			return "observers may only look"
		}
		return "needs the claim"
	case ahp.TerminalClaimed:
		if p.Role == authz.Observer {
			return "observers may only look"
		}
		return "only an admin may seize it"
	}
	return "not dispatched by clients"
}

func TestEveryActionOfEverySenderOnAServerTerminal(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.MaxTerminals = 300 })
	owner := connect(t, h, carol, "owner")
	watcher := connect(t, h, eve, "watcher")
	senders := []struct {
		name  string
		p     authz.Principal
		holds bool
	}{
		{"admin", alice, false},
		{"operator", bot, false},
		{"holder", carol, true},
		{"observer", eve, false},
	}
	for _, s := range senders {
		for i, a := range everyAction("sender-" + s.name) {
			t.Run(s.name+"/"+strings.ReplaceAll(a.Type(), "/", "."), func(t *testing.T) {
				// Raw mode, so that nothing but the action changes the state.
				uri := owner.create("t-"+s.name+"-"+string(rune('a'+i)), "/bin/sh", "-c",
					"stty raw -echo; printf ready; exec sleep 1000")
				term := lookup(h, uri)
				awaitOutput(t, h, term, "ready")
				watcher.subscribe(uri)
				sender := connect(t, h, s.p, "sender-"+s.name)
				sender.t = t
				before := state(sender.t, h, term)
				watcher.pending()

				got := sender.dispatch(uri, a)
				after := state(sender.t, h, term)
				if mayDispatch(s.p, s.holds, a) {
					if got != "" {
						t.Errorf("refused: %s", got)
					}
					return
				}
				if want := ruleOf(s.p, a); !strings.Contains(got, want) {
					t.Errorf("rejection %q, want %q", got, want)
				}
				if !reflect.DeepEqual(before, after) {
					t.Errorf("a refused action changed the state\nfrom %+v\nto   %+v", before, after)
				}
				for _, e := range watcher.pending() {
					if e.Channel() == uri {
						t.Errorf("another subscriber was told: %s %s", e.Action().Type(), e.Rejection())
					}
				}
			})
		}
	}
}

func TestRefusedActionsAreFollowedByTheTruthToTheirSenderOnly(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	owner, other := connect(t, h, carol, "owner"), connect(t, h, bot, "other")
	uri := owner.create("x", "/bin/cat")
	owner.subscribe(uri)
	owner.pending()
	want := map[ahp.Action]ahp.Action{
		ahp.TerminalClaimed{Claim: ahp.ClientClaim("other")}: ahp.TerminalClaimed{Claim: ahp.ClientClaim("owner")},
		ahp.TerminalResized{Cols: 5, Rows: 5}:                ahp.TerminalResized{Cols: 80, Rows: 24},
		ahp.TerminalTitleChanged{Title: "mine"}:              ahp.TerminalTitleChanged{Title: "x"},
	}
	for a, truth := range want {
		if other.dispatch(uri, a) == "" {
			t.Fatalf("%s was not refused", a.Type())
		}
		e := other.until("the truth", func(e *store.Entry) bool { return e.Action().Type() == a.Type() })
		if e.Action() != truth || e.Origin() != nil || e.Rejection() != "" {
			t.Errorf("after the refusal came %+v, want %+v", e.Action(), truth)
		}
	}
	if seen := owner.pending(); len(seen) > 0 {
		t.Errorf("the holder was told of refused actions: %s", seen[0].Action().Type())
	}
	// The same for an action that the door could not read.
	other.c.Reject(uri, 99, ahp.Unknown{Name: "terminal/resized",
		Raw: json.RawMessage(`{"type":"terminal/resized","cols":"no"}`)}, "cols is not a number")
	other.answer(99)
	other.until("the size", is(ahp.TerminalResized{Cols: 80, Rows: 24}))
}

func TestARefusalRepeatsNeitherKeysNorBulk(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	owner, other := connect(t, h, carol, "owner"), connect(t, h, bot, "other")
	uri := owner.create("x", "/bin/cat")
	bulk := strings.Repeat("s3cret", 1<<16)
	for i, a := range []ahp.Action{
		ahp.TerminalInput{Data: []byte(bulk)},
		ahp.TerminalData{Data: []byte(bulk)},
		ahp.TerminalOutput{Data: []byte(bulk)},
		ahp.TerminalTitleChanged{Title: bulk},
		ahp.TerminalCommandExecuted{CommandID: bulk, CommandLine: bulk},
		ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: bulk}},
		ahp.TerminalCwdChanged{Cwd: bulk},
		ahp.Unknown{Name: bulk, Raw: json.RawMessage(`"` + bulk + `"`)},
	} {
		for _, channel := range []string{uri, ahp.RootURI, "ahp-terminal:/none", "no uri"} {
			seq := int64(1000 + i)
			other.c.Dispatch(channel, seq, a)
			e := other.answer(seq)
			if e.Rejection() == "" {
				t.Fatalf("%T on %s was not refused", a, channel)
			}
			envelope := e.AppendEnvelope(nil, ahp.ShapeExitCode)
			if len(envelope) > 4<<10 || !json.Valid(envelope) {
				t.Errorf("%T: the refusal takes %d bytes: %.100s", a, len(envelope), envelope)
			}
			if _, ok := a.(ahp.TerminalInput); ok && strings.Contains(string(envelope), "s3cret") {
				t.Error("a refusal repeats what was typed")
			}
		}
	}
}

func size(cols, rows int) ahp.TerminalResized { return ahp.TerminalResized{Cols: cols, Rows: rows} }

func TestResizeBounds(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := connect(t, h, carol, "owner")
	uri := p.create("x", "/bin/cat")
	for _, s := range []ahp.TerminalResized{size(0, 24), size(80, 0), size(-1, 24),
		size(1001, 24), size(80, 501), size(1<<30, 1<<30)} {
		if got := p.dispatch(uri, s); got != reasonSize {
			t.Errorf("%v: %q", s, got)
		}
	}
	for _, s := range []ahp.TerminalResized{size(1, 1), size(1000, 500)} {
		if got := p.dispatch(uri, s); got != "" {
			t.Errorf("%v: %q", s, got)
		}
		if st := state(p.t, h, lookup(h, uri)); st.Cols != s.Cols || st.Rows != s.Rows {
			t.Errorf("the size is %dx%d after %v", st.Cols, st.Rows, s)
		}
	}
}

func TestAfterTheExit(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := connect(t, h, carol, "owner")
	uri := p.create("x", "/bin/sh", "-c", "exit 3")
	wait(t, "exit", lookup(h, uri).Done())
	for _, a := range []ahp.Action{ahp.TerminalInput{Data: []byte("x")},
		ahp.TerminalResized{Cols: 90, Rows: 30}} {
		if got := p.dispatch(uri, a); got != reasonExited {
			t.Errorf("%s: %q", a.Type(), got)
		}
	}
	for _, a := range []ahp.Action{ahp.TerminalTitleChanged{Title: "done"}, ahp.TerminalCleared{}} {
		if got := p.dispatch(uri, a); got != "" {
			t.Errorf("%s: %q", a.Type(), got)
		}
	}
}

func TestEveryAcceptedActionIsEchoedToASenderThatDoesNotSubscribe(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := connect(t, h, carol, "owner")
	uri := p.create("x", "/bin/cat")
	for _, a := range []ahp.Action{
		ahp.TerminalInput{Data: []byte("x")}, ahp.TerminalResized{Cols: 90, Rows: 30},
		ahp.TerminalTitleChanged{Title: "t"}, ahp.TerminalCleared{},
		ahp.TerminalClaimed{Claim: ahp.ClientClaim("owner")},
	} {
		if got := p.dispatch(uri, a); got != "" {
			t.Errorf("%s: %q", a.Type(), got)
		}
	}
	p.subscribe(uri)
	p.seq = 100
	if got := p.dispatch(uri, ahp.TerminalResized{Cols: 91, Rows: 30}); got != "" {
		t.Error(got)
	}
	p.dispatch(uri, ahp.TerminalTitleChanged{Title: "last"})
	n := 0
	for _, e := range append(p.pending(), p.seen...) {
		if e.Origin() != nil && e.Origin().ClientSeq == 101 {
			n++
		}
	}
	if n > 0 {
		t.Errorf("a subscriber's echo came %d times too often", n)
	}
}

// Answers wait in memory until the peer reads them. A peer that sends megabytes and reads nothing
// must not fill the host's memory with what it has sent.
func TestARefusalHoldsLittleOfWhatWasRefused(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := connect(t, h, carol, "c")
	long := strings.Repeat("x", 1<<20)
	uri := p.create("x", "/bin/cat")
	for _, a := range []ahp.Action{
		ahp.TerminalData{Data: []byte(long)}, ahp.TerminalInput{Data: []byte(long + long)},
		ahp.TerminalOutput{Data: []byte(long), Notice: long},
		ahp.TerminalExited{Notice: long}, ahp.TerminalCwdChanged{Cwd: long},
		ahp.TerminalCommandExecuted{CommandID: long, CommandLine: long},
		ahp.TerminalCommandFinished{CommandID: long}, ahp.TerminalClaimed{Claim: ahp.ClientClaim(long)},
		ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: long, Chat: long,
			TurnID: long, ToolCallID: long}},
		ahp.Unknown{Name: long, Raw: []byte(long)},
	} {
		p.seq++
		p.c.Dispatch(uri, p.seq, a)
		e := p.answer(p.seq)
		if n := len(e.AppendEnvelope(nil, ahp.ShapeLifecycle)); e.Rejection() == "" || n > 4<<10 {
			t.Errorf("%s: %q, %d bytes", a.Type(), e.Rejection(), n)
		}
	}
	claim := ahp.ClientClaim("c")
	for _, params := range []ahp.CreateTerminalParams{
		{Channel: ahp.TerminalURI("y"), Claim: &claim,
			Meta: &ahp.CreateTerminalMeta{Termhost: &ahp.CreateTerminalExtras{Command: long}}},
		{Channel: ahp.TerminalURI("y"), Claim: &claim, Cwd: "file:///" + long},
		{Channel: long, Claim: &claim},
		{Channel: ahp.TerminalURI("y"), Claim: &claim, ExecutionTarget: long},
	} {
		e := created(rpc.CreateTerminal(p.c, params))
		if e == nil || len(e.Message)+len(e.Data) > 4<<10 {
			t.Errorf("createTerminal: %.100v", e)
		}
	}
}
