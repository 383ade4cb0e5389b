package ws

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"termhost/authz"
)

// create makes a terminal that runs a script of /bin/sh.
func (s *socket) create(clientID, name, script string) {
	s.t.Helper()
	s.send(`{"jsonrpc":"2.0","id":"create %s","method":"createTerminal","params":{"channel":"ahp-terminal:/%s","claim":{"kind":"client","clientId":%q},"_meta":{"termhost":{"command":"/bin/sh","args":["-c",%q]}}}}`,
		name, name, clientID, script)
	if msg := s.until(`"id":"create ` + name); !strings.Contains(msg, `"result":null`) {
		s.t.Fatal(msg)
	}
}

func (s *socket) subscribe(name string) {
	s.t.Helper()
	s.send(`{"jsonrpc":"2.0","id":"subscribe %s","method":"subscribe","params":{"channel":"ahp-terminal:/%s"}}`, name, name)
	if msg := s.until(`"id":"subscribe ` + name); !strings.Contains(msg, `"result":`) {
		s.t.Fatal(msg)
	}
}

func TestARevokedTokenEndsItsConnections(t *testing.T) {
	w := newWorld(t)
	other := w.dial(w.token(authz.Operator, "other"))
	s := w.dial(w.token(authz.Operator, "agent"))
	s.initialize("agent")
	check(t, w.authority.Revoke(w.grant, "agent"))
	if code, reason := s.closed(); code != websocket.ClosePolicyViolation || reason != "your token is no longer valid" {
		t.Errorf("closed with %d %q", code, reason)
	}
	other.initialize("other") // another token of the same key is as good as before
}

func TestATokenThatExpiresEndsItsConnections(t *testing.T) {
	w := newWorld(t)
	secret, _, err := w.authority.Mint(w.grant, "short", authz.Operator, 4*time.Second)
	check(t, err)
	s := w.dial(secret)
	s.initialize("agent")
	if code, reason := s.closed(); code != websocket.ClosePolicyViolation || !strings.Contains(reason, "expired") && !strings.Contains(reason, "no longer valid") {
		t.Errorf("closed with %d %q", code, reason)
	}
}

func TestAnotherConnectionOfTheClientTakesOver(t *testing.T) {
	w := newWorld(t)
	token := w.token(authz.Operator, "agent")
	first, second := w.dial(token), w.dial(token)
	first.initialize("same")
	second.initialize("same")
	if code, reason := first.closed(); code != websocket.ClosePolicyViolation || !strings.Contains(reason, "taken over") {
		t.Errorf("closed with %d %q", code, reason)
	}
}

func TestShutdownSaysGoodbye(t *testing.T) {
	w := newWorld(t)
	s := w.dial(w.token(authz.Operator, "agent"))
	s.initialize("agent")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- w.server.Shutdown(ctx) }()
	if code, reason := s.closed(); code != websocket.CloseGoingAway || reason != "the host is shutting down" {
		t.Errorf("closed with %d %q", code, reason)
	}
	check(t, <-ended)
	if _, err := net.Dial("tcp", w.addr); err == nil {
		t.Error("the door is still open")
	}
}

func TestAStalledPeerIsClosedAndSlowsNobody(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.stall = 2 * time.Second })
	token := w.token(authz.Operator, "agent")
	s := w.dial(token)
	s.initialize("healthy")
	// 20 MiB, once everybody listens.
	s.create("healthy", "flood", `read go; head -c 20971520 /dev/zero | tr '\0' x; echo; echo the end`)
	s.subscribe("flood")
	stalled, r, _ := w.upgraded(token)
	defer stalled.Close()
	for _, msg := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["0.5.0"],"clientId":"stalled","initialSubscriptions":["ahp-terminal:/flood"]}}`,
	} {
		_, err := stalled.Write(frame(0x81, true, uint64(len(msg)), []byte(msg)))
		check(t, err)
	}
	_, err := io.ReadFull(r, make([]byte, 2)) // the answer has begun: it is subscribed, and reads no more
	check(t, err)
	w.connections(2)
	s.send(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/flood","clientSeq":1,"action":{"type":"terminal/input","data":"\r"}}}`)
	s.until("the end")
	w.connections(1)
	s.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	s.until(`"id":7,"result":null`)
	if !strings.Contains(w.log.String(), "took nothing") {
		t.Error("the log does not say why the stalled peer was closed")
	}
}

// TestNothingSecretIsLogged looks for what nobody may read later in a log of
// the finest grain.
func TestNothingSecretIsLogged(t *testing.T) {
	w := newWorld(t)
	token := w.token(authz.Operator, "agent")
	const canary = "c4n4ry"
	if status, _ := w.raw(handshake("/ahp?token="+token+"&x="+canary, "localhost", "Cookie: "+canary)); status != 101 {
		t.Fatal(status)
	}
	w.raw(handshake("/ahp?token="+canary, "localhost"))
	w.raw(handshake("/"+canary, "localhost", "X-Secret: "+canary))
	w.raw(handshake("/ahp", canary+".example", "Origin: https://"+canary))
	s := w.dial(token)
	s.initialize("agent")
	s.create("agent", "t", "stty -echo; read x; echo output "+canary)
	s.subscribe("t")
	s.send(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/t","clientSeq":1,"action":{"type":"terminal/input","data":"` + canary + `\r"}}}`)
	s.until("output " + canary)
	s.send(`{"jsonrpc":"2.0","id":9,"method":"` + canary + `"}`)
	s.send(`not json ` + canary)
	s.until(`-32700`)
	if log := w.log.String(); strings.Contains(log, canary) || strings.Contains(log, token) || strings.Contains(log, token[4:]) {
		t.Errorf("the log tells: %s", log)
	}
}

func BenchmarkIdleWebSocket(b *testing.B) {
	w := newWorld(b, func(c *Config) { c.MaxConnections, c.Log = 100_000, slog.New(slog.DiscardHandler) })
	token := w.token(authz.Operator, "agent")
	const sockets = 250 // a principal has 256 clientIds at most
	for range b.N {
		before := memory()
		conns := make([]net.Conn, sockets)
		for i := range conns {
			c, r, _ := w.upgraded(token)
			msg := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["0.5.0"],"clientId":"idle-%d","initialSubscriptions":["ahp-root://"]}}`, i)
			c.Write(frame(0x81, true, uint64(len(msg)), []byte(msg)))
			r.ReadByte()
			conns[i] = c
		}
		after := memory()
		b.ReportMetric(float64(after.bytes-before.bytes)/sockets, "B/socket")
		b.ReportMetric(float64(after.goroutines-before.goroutines)/sockets, "goroutines/socket")
		for _, c := range conns {
			c.Close()
		}
		w.connections(0)
	}
}
