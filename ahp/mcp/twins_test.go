package mcp_test

import (
	"context"
	"fmt"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/mcp"
	"termhost/authz"
)

// asked is a terminal in which a client's program asks for something.
const asked = "printf 'Name: '; read x; echo got $x; exec sleep 1000"

// holdsOne has a client run a program that asks for something.
func (a *agent) holdsOne(name string) {
	a.t.Helper()
	like(a.t, a.call("terminal_run", args{"name": name, "command": asked}), `^\[`+name+` waiting for input`)
}

// twins fails unless two clients that call themselves claude-code are the first and the second.
func twins(t *testing.T, first, second *agent, of string) {
	t.Helper()
	first.holdsOne("one")
	second.holdsOne("two")
	like(t, first.call("terminal_list", nil), `(?m)^one .* held by you .*\ntwo .* held by `+of+`/claude-code#2 `)
	like(t, second.call("terminal_list", nil), `(?m)^two .* held by you .*\none .* held by `+of+`/claude-code  `)
	for terminal, c := range map[string]*agent{"two": first, "one": second} {
		text, failed := c.callWith(t.Context(), "terminal_send", args{"terminal": terminal, "text": "stolen"})
		if !failed {
			t.Errorf("another client answers the prompt of %s: %q", terminal, text)
		}
		like(t, text, `^error: held by `+of+`/claude-code(#2)?; nothing was typed`)
	}
	// What one has read, the other has not.
	like(t, first.call("terminal_read", args{"terminal": "two"}), `\]\nName:`)
	like(t, second.call("terminal_read", args{"terminal": "one"}), `\]\nName:`)
	first.answers(`got mine\n`, args{"terminal": "one", "text": "mine"})
	second.answers(`got mine\n`, args{"terminal": "two", "text": "mine"})
}

func TestTwoClientsThatCallThemselvesTheSameAreTwo(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	server := mcp.New(mcp.Options{Version: "test"})
	alice := hosttest.Principal("alice", authz.Admin)
	first := connectTo(t, server, h, alice, "claude-code", nil)
	first.call("terminal_list", nil)
	second := connectTo(t, server, h, alice, "Claude Code", nil)
	second.call("terminal_list", nil)
	twins(t, first, second, "alice")
	third := connectTo(t, server, h, alice, "claude-code", nil)
	third.holdsOne("three")
	other := connectTo(t, server, h, hosttest.Principal("bob", authz.Admin), "claude-code", nil)
	other.holdsOne("four")
	like(t, third.call("terminal_list", nil), `(?m)^four .* held by bob/claude-code  `)
	like(t, other.call("terminal_list", nil), `(?m)^three .* held by alice/claude-code#3 `)

	// The second one's number is free when it has gone, and whoever has it has what it had.
	second.session.Close()
	gone(t, h, 3)
	again := connectTo(t, server, h, alice, "claude-code", nil)
	like(t, again.call("terminal_list", nil), `(?m)^two .* held by you `)
	first.session.Close()
	gone(t, h, 3)
	again = connectTo(t, server, h, alice, "claude-code", nil)
	like(t, again.call("terminal_list", nil), `(?m)^one .* held by you `)
}

// gone waits until so many clients are connected.
func gone(t *testing.T, h *host.Host, left int) {
	t.Helper()
	hosttest.Eventually(t, "a client has gone", func() bool { return h.Stats().Connections["mcp"] == left })
}

func TestTwoSessionsOfATokenAreTwoClients(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2024-11-05", older, "2025-11-25"} {
		w := newWeb(t, mcp.HTTPOptions{})
		token := w.token(w.alice, "ci")
		twins(t, w.agent(token, "claude-code", version), w.agent(token, "claude-code", version), "alice/ci")
	}
}

// introduce does what termhost mcp does first on each connection.
func (a *agent) introduce(instance string, number int) {
	a.t.Helper()
	hosttest.Check(a.t, a.session.Ping(a.t.Context(), &sdk.PingParams{
		Meta: sdk.Meta{mcp.MetaInstance: instance, mcp.MetaNumber: number}}))
}

// number returns a client's number, as its program learns it.
func (a *agent) number() float64 {
	a.t.Helper()
	r, err := a.session.CallTool(a.t.Context(), &sdk.CallToolParams{Name: "terminal_list"})
	hosttest.Check(a.t, err)
	n, _ := r.Meta[mcp.MetaNumber].(float64)
	return n
}

// A client whose connection is lost makes another before the host has noticed.
func TestAClientThatComesBackHasItsOwnPlaceAgain(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	server := mcp.New(mcp.Options{Version: "test"})
	alice := hosttest.Principal("alice", authz.Admin)
	var first, second *agent
	for round := range 3 {
		was := []*agent{first, second}
		// The second one is faster.
		for i, is := range []**agent{&second, &first} {
			if round == 0 {
				is = []**agent{&first, &second}[i]
			}
			*is = connectTo(t, server, h, alice, "claude-code", nil)
			name := map[**agent]string{&first: "a", &second: "b"}[is]
			(*is).introduce(name, 0)
			(*is).call("terminal_list", nil)
		}
		if round == 0 {
			twins(t, first, second, "alice")
		}
		like(t, first.call("terminal_list", nil), `(?m)^one .* held by you .*\ntwo .* held by alice/claude-code#2 `)
		like(t, second.call("terminal_list", nil), `(?m)^two .* held by you .*\none .* held by alice/claude-code  `)
		like(t, first.call("terminal_read", args{"terminal": "one"}), `^\[one running .* · 0 lines · [^\n]*\n$`)
		for _, old := range was {
			if old == nil {
				continue
			}
			if text, failed := old.callWith(t.Context(), "terminal_list", nil); !failed {
				t.Errorf("the lost connection still serves: %q", text)
			}
		}
	}
	// Another key's client with the same instance is somebody else.
	eve := connectTo(t, server, h, hosttest.Principal("eve", authz.Admin), "claude-code", nil)
	eve.introduce("a", 1)
	eve.call("terminal_list", nil)
	first.call("terminal_list", nil)
}

// After a restart the host knows nobody, and each client says which number it had.
func TestAClientGetsTheNumberThatItHad(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	server := mcp.New(mcp.Options{Version: "test"})
	alice := hosttest.Principal("alice", authz.Admin)
	for i, c := range []struct {
		instance string
		asks     int
		gets     float64
	}{{"b", 2, 2}, {"c", 2, 1}, {"d", 0, 3}, {"e", -1, 4}, {"f", 1 << 40, 5}, {"", 9, 6}, {"g", 9, 9}} {
		a := connectTo(t, server, h, alice, "claude-code", nil)
		a.introduce(c.instance, c.asks)
		if got := a.number(); got != c.gets {
			t.Errorf("client %d asks for %d and gets %v", i, c.asks, got)
		}
		a.introduce("late", 1)
		if got := a.number(); got != c.gets {
			t.Errorf("client %d has become number %v", i, got)
		}
	}
}

// Tokens and clients of AHP choose their names, too.
func TestNoClientIsCalledAsAnotherIs(t *testing.T) {
	t.Parallel()
	alice := hosttest.Principal("alice", authz.Admin)
	token := authz.Principal{ID: alice.ID + "/claude-code", Name: "alice/claude-code", Role: authz.Operator,
		Fingerprint: alice.Fingerprint, Token: "claude-code"}
	for _, order := range [][]string{{"mcp", "token", "ahp"}, {"token", "ahp", "mcp"}, {"ahp", "mcp", "token"}} {
		h := hosttest.New(t)
		names := map[string]string{}
		for _, kind := range order {
			var c *host.Conn
			var err error
			switch kind {
			case "mcp":
				c, err = h.ConnectMCP(alice, host.MCPClient{Name: "claude-code"}, authz.Source{})
			case "token":
				c, err = h.Connect(token, host.DoorWebSocket)
			case "ahp":
				c, err = h.Connect(alice, host.DoorWebSocket)
			}
			hosttest.Check(t, err)
			defer c.Close()
			if kind != "mcp" {
				id := map[string]string{"token": "bot", "ahp": "claude-code"}[kind]
				_, err := c.Initialize(ahp.InitializeParams{ClientID: id, ProtocolVersions: []string{"0.6.0"}})
				hosttest.Check(t, err)
			}
			if other := names[c.Name()]; other != "" {
				t.Errorf("%v: %s is called %s as %s is", order, kind, c.Name(), other)
			}
			names[c.Name()] = kind
		}
	}
}

// Many clients of one name come and go, and each has a place of its own.
func TestManyClientsOfOneNameHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	alice := hosttest.Principal("alice", authz.Admin)
	const clients = 200
	conns := make(chan *host.Conn, clients)
	for i := range clients {
		go func() {
			instance := ""
			if i%2 == 0 {
				instance = fmt.Sprint(i)
			}
			c, err := h.ConnectMCP(alice, host.MCPClient{Name: "x", Instance: instance, Number: i % 7}, authz.Source{})
			if err != nil {
				t.Error(err)
			}
			conns <- c
		}()
	}
	names, ids := map[string]bool{}, map[string]bool{}
	var all []*host.Conn
	for range clients {
		c := <-conns
		all = append(all, c)
		names[c.Name()], ids[c.Principal().ID] = true, true
	}
	if len(names) != clients || len(ids) != clients {
		t.Errorf("%d clients have %d names and %d IDs", clients, len(names), len(ids))
	}
	for _, c := range all {
		c.End(context.Canceled)
		c.Close()
	}
	c, err := h.ConnectMCP(alice, host.MCPClient{Name: "x"}, authz.Source{})
	hosttest.Check(t, err)
	defer c.Close()
	if c.Name() != "alice/x" {
		t.Errorf("when all have gone, the next one is %s", c.Name())
	}
}
