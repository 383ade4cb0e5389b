package host

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	alice = authz.Principal{ID: "SHA256:alice", Name: "alice", Role: authz.Admin, Fingerprint: "SHA256:alice"}
	bot   = authz.Principal{ID: "SHA256:alice/bot", Name: "alice/bot", Role: authz.Operator, Fingerprint: "SHA256:alice", Token: "bot"}
	carol = authz.Principal{ID: "SHA256:carol", Name: "carol", Role: authz.Operator, Fingerprint: "SHA256:carol"}
	eve   = authz.Principal{ID: "SHA256:eve", Name: "eve", Role: authz.Observer, Fingerprint: "SHA256:eve"}
)

func newHost(t testing.TB, change ...func(*Config)) *Host {
	t.Helper()
	cfg := Config{Shell: "/bin/sh", StateDir: t.TempDir(), Version: "test", MaxExited: 64}
	for _, f := range change {
		f(&cfg)
	}
	h, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := h.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return h
}

// peer is an AHP client of the host without a wire: what it pulls, it folds
// into mirrors.
type peer struct {
	t    testing.TB
	c    *Conn
	id   string
	seen []*store.Entry
}

func connect(t testing.TB, h *Host, p authz.Principal, clientID string) *peer {
	t.Helper()
	c, err := h.Connect(p, DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, e := c.Initialize(ahp.InitializeParams{Channel: ahp.RootURI, ProtocolVersions: []string{"0.5.0"}, ClientID: clientID}); e != nil {
		t.Fatalf("initialize: %v", e)
	}
	return &peer{t: t, c: c, id: clientID}
}

// until pulls until an entry satisfies want and returns it.
func (p *peer) until(what string, want func(*store.Entry) bool) *store.Entry {
	p.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		for _, it := range p.c.sub.Pull(nil, 1<<20) {
			if it.Entry == nil {
				continue
			}
			p.seen = append(p.seen, it.Entry)
		}
		for i, e := range p.seen {
			if want(e) {
				p.seen = p.seen[i+1:]
				return e
			}
		}
		select {
		case <-p.c.sub.Signal():
		case <-deadline:
			p.t.Fatalf("%s: never came", what)
		}
	}
}

// answer returns the echo or the rejection of the peer's action.
func (p *peer) answer(seq int64) *store.Entry {
	p.t.Helper()
	return p.until("the answer", func(e *store.Entry) bool {
		o := e.Origin()
		return o != nil && o.ClientID == p.id && o.ClientSeq == seq
	})
}

func (p *peer) create(name, command string, args ...string) string {
	p.t.Helper()
	uri := ahp.TerminalURI(name)
	claim := ahp.ClientClaim(p.id)
	params := ahp.CreateTerminalParams{Channel: uri, Claim: &claim}
	if command != "" {
		params.Meta = &ahp.CreateTerminalMeta{Termhost: &ahp.CreateTerminalExtras{Command: command, Args: args}}
	}
	if e := p.c.CreateTerminal(params); e != nil {
		p.t.Fatalf("createTerminal: %v", e)
	}
	return uri
}

func text(st ahp.TerminalState) string {
	var b strings.Builder
	for _, p := range st.Content {
		b.WriteString(p.Text.String())
	}
	return b.String()
}

func TestATerminalRunsACommandAndTellsItsExit(t *testing.T) {
	h := newHost(t)
	p := connect(t, h, bot, "agent")
	uri := p.create("job", "/bin/sh", "-c", "echo hello; exit 7")
	term := h.lookup(uri)
	<-term.Done()
	view, e := p.c.Subscribe(uri)
	if e != nil {
		t.Fatal(e)
	}
	if got := text(*view.Terminal); got != "hello\r\n" {
		t.Errorf("output is %q", got)
	}
	if !view.Terminal.Exited || *view.Terminal.ExitCode != 7 {
		t.Errorf("exit is %v %v, want 7", view.Terminal.Exited, view.Terminal.ExitCode)
	}
}

func TestInputIsAcknowledgedWithoutItsKeysAndOnlyToItsSender(t *testing.T) {
	h := newHost(t)
	p := connect(t, h, bot, "agent")
	other := connect(t, h, eve, "watcher")
	uri := p.create("cat", "/bin/cat")
	for _, c := range []*peer{p, other} {
		if _, e := c.c.Subscribe(uri); e != nil {
			t.Fatal(e)
		}
	}
	p.c.Dispatch(uri, 1, ahp.TerminalInput{Data: []byte("secret\r")})
	a := p.answer(1)
	if d := a.Action().(ahp.TerminalInput).Data; len(d) != 0 {
		t.Errorf("the acknowledgement carries %q", d)
	}
	other.until("the echo of the pty", func(e *store.Entry) bool {
		if _, ok := e.Action().(ahp.TerminalInput); ok {
			t.Error("a watcher saw input")
		}
		d, ok := e.Action().(ahp.TerminalData)
		return ok && strings.Contains(string(d.Data), "secret")
	})
}
