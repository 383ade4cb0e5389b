package acp

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"go.uber.org/goleak"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/authz"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what a test waits for and must come.
const patience = 30 * time.Second

var (
	alice = authz.Principal{ID: "SHA256:alice", Name: "alice", Role: authz.Admin, Fingerprint: "SHA256:alice"}
	bot   = authz.Principal{ID: "SHA256:alice/bot", Name: "alice/bot", Role: authz.Operator, Fingerprint: "SHA256:alice", Token: "bot"}
	carol = authz.Principal{ID: "SHA256:carol", Name: "carol", Role: authz.Operator, Fingerprint: "SHA256:carol"}
	eve   = authz.Principal{ID: "SHA256:eve", Name: "eve", Role: authz.Observer, Fingerprint: "SHA256:eve"}
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newHost(t testing.TB, change ...func(*host.Config)) *host.Host {
	t.Helper()
	cfg := host.Config{Shell: "/bin/sh", Version: "test", MaxExited: 64}
	for _, f := range change {
		f(&cfg)
	}
	h, err := host.New(cfg)
	check(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := h.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return h
}

// peer is an agent at the methods themselves.
type peer struct {
	t testing.TB
	s *Terminals
	c *host.Conn
}

func connect(t testing.TB, h *host.Host, p authz.Principal) *peer {
	t.Helper()
	return join(t, h, NewMethods(h, nil), p)
}

// join is connect to a host whose other connections have the same Methods.
func join(t testing.TB, h *host.Host, m *Methods, p authz.Principal) *peer {
	t.Helper()
	c, err := h.Connect(p, host.DoorSubsystem)
	check(t, err)
	s := m.Terminals(c)
	a := &peer{t, s, c}
	t.Cleanup(a.leave)
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

// must is call for what has to succeed.
func (a *peer) must(method string, params, result any) {
	a.t.Helper()
	if e := a.call(method, params, result); e != nil {
		a.t.Fatalf("%s: %d %s", method, e.Code, e.Message)
	}
}

type params map[string]any

// create starts a command in session "s" and returns the terminal's id and NAME.
func (a *peer) create(p params) (id, name string) {
	a.t.Helper()
	if p["sessionId"] == nil {
		p["sessionId"] = "s"
	}
	var r createResult
	a.must(methodCreate, p, &r)
	return r.TerminalID, r.Meta.Termhost.Name
}

// sh starts a line of shell.
func (a *peer) sh(line string) (id, name string) {
	a.t.Helper()
	return a.create(params{"command": "sh", "args": []string{"-c", line}})
}

func of(id string) params { return params{"sessionId": "s", "terminalId": id} }

func (a *peer) output(id string) outputResult {
	a.t.Helper()
	var r outputResult
	a.must(methodOutput, of(id), &r)
	return r
}

func (a *peer) wait(id string) exitStatus {
	a.t.Helper()
	var r exitStatus
	a.must(methodWait, of(id), &r)
	return r
}

// run runs a command to its end.
func (a *peer) run(p params) (outputResult, exitStatus) {
	a.t.Helper()
	id, _ := a.create(p)
	st := a.wait(id)
	return a.output(id), st
}

// sees polls until the output satisfies ok. Output comes without an event here:
// ACP has none.
func (a *peer) sees(id string, ok func(string) bool) string {
	a.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		out := a.output(id).Output
		if ok(out) {
			return out
		}
		if time.Now().After(deadline) {
			a.t.Fatalf("never printed; but this: %q", out)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func wantCode(t testing.TB, st exitStatus, code int) {
	t.Helper()
	if st.ExitCode == nil || *st.ExitCode != code || st.Signal != nil {
		t.Fatalf("exit status %s, want code %d", encode(st), code)
	}
}

func wantSignal(t testing.TB, st exitStatus, signal string) {
	t.Helper()
	if st.Signal == nil || *st.Signal != signal || st.ExitCode != nil {
		t.Fatalf("exit status %s, want signal %s", encode(st), signal)
	}
}
