package acp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

// patience bounds the wait for anything that must come.
const patience = hosttest.Patience

var (
	alice = hosttest.Principal("alice", authz.Admin)
	bot   = authz.Principal{ID: "SHA256:alice/bot", Name: "alice/bot", Role: authz.Operator,
		Fingerprint: "SHA256:alice", Token: "bot"}
	carol = hosttest.Principal("carol", authz.Operator)
	eve   = hosttest.Principal("eve", authz.Observer)
)

// check ends the test if err is not nil.
var check = hosttest.Check

// peer is an agent that calls the methods themselves, without a connection in between.
type peer struct {
	t testing.TB
	s *Terminals
	c *host.Conn
}

func connect(t testing.TB, h *host.Host, p authz.Principal) *peer {
	t.Helper()
	return join(t, h, NewMethods(h, nil), p)
}

// join is connect for a host of several connections, which share their Methods.
func join(t testing.TB, h *host.Host, m *Methods, p authz.Principal) *peer {
	t.Helper()
	return joinAs(t, h, m, p, "go-"+rand.Text())
}

// joinAs is join with a clientId.
func joinAs(t testing.TB, h *host.Host, m *Methods, p authz.Principal, id string) *peer {
	t.Helper()
	c, err := h.Connect(p, host.DoorSubsystem)
	check(t, err)
	a := &peer{t, m.Terminals(c), c}
	t.Cleanup(a.leave)
	hello := ahp.InitializeParams{Channel: ahp.RootURI, ClientID: id,
		ProtocolVersions: ahp.SupportedVersions()}
	if _, e := c.Initialize(hello); e != nil {
		t.Fatal(e)
	}
	a.s.Begin()
	return a
}

// leave ends the peer's connection.
func (a *peer) leave() {
	a.s.Close()
	a.c.Close()
}

// call asks and waits for the answer, which it decodes into result.
func (a *peer) call(method string, params, result any) *ahp.Error {
	a.t.Helper()
	raw, err := json.Marshal(params)
	check(a.t, err)
	r := a.s.Handle(method, raw)
	var answer json.RawMessage
	switch {
	case r.Error != nil:
		return r.Error
	case r.Wait != nil:
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		var e *ahp.Error
		if answer, e = r.Wait(ctx); e != nil {
			return e
		}
	default:
		answer = r.Result(nil)
	}
	if result != nil {
		check(a.t, json.Unmarshal(answer, result))
	}
	return nil
}

// must is call for a request that has to succeed.
func (a *peer) must(method string, params, result any) {
	a.t.Helper()
	if e := a.call(method, params, result); e != nil {
		a.t.Fatalf("%s: %d %s", method, e.Code, e.Message)
	}
}

// refused is call for a request that has to be refused, with a code.
func (a *peer) refused(method string, p params, code int) *ahp.Error {
	a.t.Helper()
	e := a.call(method, p, nil)
	if e == nil || e.Code != code {
		a.t.Fatalf("%s %v: %+v, want code %d", method, p, e, code)
	}
	return e
}

// params are the params of a request.
type params map[string]any

// command returns the params that run a program.
func command(name string, args ...string) params {
	return params{"sessionId": "s", "command": name, "args": args}
}

// with returns p with one more param.
func (p params) with(name string, value any) params {
	p = maps.Clone(p)
	p[name] = value
	return p
}

// create starts a command and returns the terminal's id and NAME.
func (a *peer) create(p params) (id, name string) {
	a.t.Helper()
	var r wire.CreateResult
	a.must(wire.MethodCreate, p, &r)
	return r.TerminalID, r.Meta.Termhost.Name
}

// sh starts a line of shell.
func (a *peer) sh(line string) (id, name string) {
	a.t.Helper()
	return a.create(command("sh", "-c", line))
}

// of returns the params of a request about a terminal.
func of(id string) params { return params{"sessionId": "s", "terminalId": id} }

func (a *peer) output(id string) wire.OutputResult {
	a.t.Helper()
	var r wire.OutputResult
	a.must(wire.MethodOutput, of(id), &r)
	return r
}

func (a *peer) wait(id string) wire.ExitStatus {
	a.t.Helper()
	var r wire.ExitStatus
	a.must(wire.MethodWait, of(id), &r)
	return r
}

// run runs a command to its end.
func (a *peer) run(p params) (wire.OutputResult, wire.ExitStatus) {
	a.t.Helper()
	id, _ := a.create(p)
	st := a.wait(id)
	return a.output(id), st
}

// sees asks for the output until it satisfies ok: ACP has no event that tells of output.
func (a *peer) sees(id string, ok func(string) bool) string {
	a.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		out := a.output(id).Output
		if ok(out) {
			return out
		}
		if time.Now().After(deadline) {
			a.t.Fatalf("it has not come, but this: %q", out)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func wantCode(t testing.TB, st wire.ExitStatus, code int) {
	t.Helper()
	if st.ExitCode == nil || *st.ExitCode != code || st.Signal != nil {
		t.Fatalf("exit status %s, want code %d", ahp.Encode(st), code)
	}
}

func wantSignal(t testing.TB, st wire.ExitStatus, signal string) {
	t.Helper()
	if st.Signal == nil || *st.Signal != signal || st.ExitCode != nil {
		t.Fatalf("exit status %s, want signal %s", ahp.Encode(st), signal)
	}
}
