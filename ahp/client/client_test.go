package client_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/ws"
	"termhost/authz"
)

func TestMain(m *testing.M) {
	hosttest.Main(m, hosttest.Program{Variable: agentsVariable, Run: runAgents})
}

// patience is how long a test waits for what must come.
const patience = hosttest.Patience

// bearers is an Authenticator for which a principal's name is its token.
type bearers map[string]authz.Principal

func (b bearers) AuthenticateToken(secret string, _ net.Addr) (authz.Grant, error) {
	p, ok := b[secret]
	if !ok {
		return authz.Grant{}, errors.New("unknown token")
	}
	return authz.Grant{Principal: p}, nil
}

func (b bearers) AuthenticatePage(secret string, _ authz.PageProof, remote net.Addr) (
	authz.Grant, error) {
	return b.AuthenticateToken(secret, remote)
}

func (bearers) ProveHost(authz.PageProof, int, string) string { return "" }

func (bearers) AuthenticateUID(uid uint32) authz.Grant {
	return authz.Grant{Principal: authz.ForUID(uid)}
}

func (bearers) Track(authz.Grant, func(error)) func() { return func() {} }

func principals() bearers {
	b := bearers{}
	for name, role := range map[string]authz.Role{"alice": authz.Admin, "ann": authz.Admin,
		"bob": authz.Operator, "carol": authz.Operator, "eve": authz.Observer} {
		b[name] = hosttest.Principal(name, role)
	}
	return b
}

// world is a host with its HTTP door.
type world struct {
	t    testing.TB
	ctx  context.Context
	host *host.Host
	url  string
}

func newWorld(t testing.TB, change ...func(*host.Config)) *world {
	t.Helper()
	h := hosttest.New(t, change...)
	server := ws.New(ws.Config{Host: h, Authority: principals(), RequestsPerSecond: -1})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	var serving sync.WaitGroup
	serving.Go(func() { check(t, server.Serve(l)) })
	t.Cleanup(func() {
		server.Stop()
		check(t, h.Shutdown(ctx))
		check(t, server.Shutdown(ctx))
		serving.Wait()
		cancel()
	})
	return &world{t: t, ctx: ctx, host: h, url: "ws://" + l.Addr().String() + "/ahp"}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func (w *world) dialer(token string) client.Dialer {
	return client.WebSocket(w.url, client.WebSocketOptions{Token: token})
}

func (w *world) connect(token string, change ...func(*client.Config)) *client.Client {
	w.t.Helper()
	cfg := client.Config{Dial: w.dialer(token), MinBackoff: time.Millisecond}
	for _, f := range change {
		f(&cfg)
	}
	c, err := client.Connect(w.ctx, cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	return c
}

// run makes a terminal that runs a script of /bin/sh, and follows it.
func (w *world) run(c *client.Client, name, script string) *client.Mirror {
	w.t.Helper()
	return w.follow(c, w.create(c, name, script))
}

// create makes a terminal that runs a script of /bin/sh, and returns its URI.
func (w *world) create(c *client.Client, name, script string) string {
	w.t.Helper()
	p := ahp.CreateTerminalParams{Channel: ahp.TerminalURI(name), Meta: &ahp.CreateTerminalMeta{
		Termhost: &ahp.CreateTerminalExtras{Command: "/bin/sh", Args: []string{"-c", script}}}}
	if err := c.CreateTerminal(w.ctx, p); err != nil {
		w.t.Fatal(err)
	}
	return p.Channel
}

// waits waits until ok returns true for a terminal's state.
func (w *world) waits(m *client.Mirror, ok func(*ahp.TerminalState) bool) {
	w.t.Helper()
	check(w.t, m.WaitTerminal(w.ctx, ok))
}

// types sends text as a terminal's input.
func (w *world) types(c *client.Client, m *client.Mirror, text string) {
	w.t.Helper()
	check(w.t, c.Dispatch(w.ctx, m.URI(), ahp.TerminalInput{Data: []byte(text)}))
}

func (w *world) follow(c *client.Client, uri string) *client.Mirror {
	w.t.Helper()
	m, err := c.Subscribe(w.ctx, uri)
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// sees waits until a terminal's output contains text.
func (w *world) sees(m *client.Mirror, text string) {
	w.t.Helper()
	seen := func(s *ahp.TerminalState) bool { return strings.Contains(client.Text(s), text) }
	if err := m.WaitTerminal(w.ctx, seen); err != nil {
		st := m.Terminal()
		w.t.Fatalf("never saw %q: %v in %q", text, err, client.Text(&st))
	}
}

func TestAClientWorksInATerminal(t *testing.T) {
	w := newWorld(t)
	alice, eve := w.connect("alice"), w.connect("eve")
	root := w.follow(eve, ahp.RootURI)
	term := w.run(alice, "work", "read line; echo got $line; exit 3")
	watching := w.follow(eve, term.URI())
	check(t, root.WaitRoot(w.ctx, func(s *ahp.RootState) bool { return len(s.Terminals) == 1 }))
	check(t, alice.Ping(w.ctx))
	w.types(alice, term, "hello\r")
	w.sees(term, "got hello")
	w.sees(watching, "got hello")
	w.waits(watching, func(s *ahp.TerminalState) bool { return s.Exited && *s.ExitCode == 3 })
	check(t, alice.Dispatch(w.ctx, term.URI(), ahp.TerminalTitleChanged{Title: "done"}))
	if st := term.Terminal(); st.Title != "done" {
		t.Errorf("the title is %q when Dispatch returns", st.Title)
	}
	check(t, alice.DisposeTerminal(w.ctx, term.URI()))
	var refused *ahp.Error
	_, err := alice.Subscribe(w.ctx, term.URI())
	if !errors.As(err, &refused) || refused.Code != ahp.CodeNotFound {
		t.Errorf("a disposed terminal: %v", err)
	}
}

func TestARejectionSaysWhyAndChangesNothing(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.connect("alice"), w.connect("bob")
	term := w.run(alice, "hers", "read line")
	his := w.follow(bob, term.URI())
	before := his.Terminal()
	for _, a := range []ahp.Action{
		ahp.TerminalInput{Data: []byte("x")},
		ahp.TerminalResized{Cols: 11, Rows: 7},
		ahp.TerminalTitleChanged{Title: "his"},
		ahp.TerminalClaimed{Claim: ahp.ClientClaim(bob.ID())},
		ahp.TerminalCleared{},
		ahp.TerminalData{Data: []byte("forged")},
		ahp.TerminalExited{},
	} {
		var rejected *client.Rejected
		err := bob.Dispatch(w.ctx, term.URI(), a)
		if !errors.As(err, &rejected) || rejected.Reason == "" {
			t.Errorf("%s: %v", a.Type(), err)
		}
	}
	check(t, bob.Ping(w.ctx))
	after := his.Terminal()
	if after.Title != before.Title || after.Cols != before.Cols || after.Claim != before.Claim ||
		after.Exited || client.Text(&after) != client.Text(&before) {
		t.Errorf("the mirror was %+v and is %+v", before, after)
	}
}

func TestARefusedClientEnds(t *testing.T) {
	w := newWorld(t)
	_, err := client.Connect(w.ctx, client.Config{Dial: w.dialer("mallory")})
	var he *client.HandshakeError
	if !errors.Is(err, client.ErrRefused) || !errors.As(err, &he) ||
		he.Status != http.StatusUnauthorized || !strings.Contains(he.Reason, "ssh HOST token") {
		t.Errorf("an unknown token: %v", err)
	}
	unknown := client.Config{Dial: w.dialer("bob"), Versions: []string{"7.0.0"}}
	_, err = client.Connect(w.ctx, unknown)
	var refused *ahp.Error
	if !errors.As(err, &refused) || refused.Code != ahp.CodeVersion {
		t.Errorf("an unknown version: %v", err)
	}
}
