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

	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
)

func TestARevokedTokenEndsItsConnections(t *testing.T) {
	w := newWorld(t)
	other := w.dial(w.token(authz.Operator, "other"))
	s := w.dial(w.token(authz.Operator, "agent"))
	s.initialize("agent")
	check(t, w.authority.RevokeToken(w.grant, "agent"))
	code, reason := s.closed()
	if code != websocket.ClosePolicyViolation || reason != "your token is no longer valid" {
		t.Errorf("closed with %d %q", code, reason)
	}
	other.initialize("other") // another token of the same key is as good as before
}

func TestATokenThatExpiresEndsItsConnections(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	w := newWorld(t)
	secret, _, err := w.authority.MintToken(w.grant,
		authz.TokenRequest{Name: "short", Role: authz.Operator, TTL: 10 * time.Second})
	check(t, err)
	s := w.dial(secret)
	s.initialize("agent")
	code, reason := s.closed()
	if code != websocket.ClosePolicyViolation ||
		!strings.Contains(reason, "expired") && !strings.Contains(reason, "no longer valid") {
		t.Errorf("closed with %d %q", code, reason)
	}
}

func TestAnotherConnectionOfTheClientTakesOver(t *testing.T) {
	w := newWorld(t)
	token := w.token(authz.Operator, "agent")
	first, second := w.dial(token), w.dial(token)
	first.initialize("same")
	second.initialize("same")
	code, reason := first.closed()
	if code != websocket.ClosePolicyViolation || !strings.Contains(reason, "taken over") {
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
	code, reason := s.closed()
	if code != websocket.CloseGoingAway || reason != "the host is shutting down" {
		t.Errorf("closed with %d %q", code, reason)
	}
	check(t, <-ended)
	if _, err := net.Dial("tcp", w.addr); err == nil {
		t.Error("the door is still open")
	}
}

func TestAStalledPeerIsClosedAndSlowsNobody(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.stall = 5 * time.Second })
	token := w.token(authz.Operator, "agent")
	s := w.dial(token)
	s.initialize("healthy")
	// 20 MiB, once all have subscribed.
	const flood = `read go; head -c 20971520 /dev/zero | tr '\0' x; echo; echo the end`
	s.create("healthy", "flood", flood)
	s.subscribe("flood")
	stalled, r, _ := w.upgraded(token)
	defer stalled.Close()
	msg := hello("stalled", "ahp-terminal:/flood")
	_, err := stalled.Write(frame(0x81, true, uint64(len(msg)), []byte(msg)))
	check(t, err)
	// When the answer begins it is subscribed. It reads no more than that.
	_, err = io.ReadFull(r, make([]byte, 2))
	check(t, err)
	w.connections(2)
	s.types("flood", "")
	s.until("the end")
	w.connections(1)
	s.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	s.until(`"id":7,"result":null`)
	if !strings.Contains(w.log.String(), "took nothing") {
		t.Error("the log does not say why the stalled peer was closed")
	}
}

// TestNothingSecretIsLogged looks for secrets in a log of all levels.
func TestNothingSecretIsLogged(t *testing.T) {
	w := newWorld(t)
	token := w.token(authz.Operator, "agent")
	const canary = "c4n4ry"
	status, _ := w.raw(handshake("/ahp?token="+token+"&x="+canary, "localhost", "Cookie: "+canary))
	if status != 101 {
		t.Fatal(status)
	}
	w.raw(handshake("/ahp?token="+canary, "localhost"))
	w.raw(handshake("/"+canary, "localhost", "X-Secret: "+canary))
	w.raw(handshake("/ahp", canary+".example", "Origin: https://"+canary))
	s := w.dial(token)
	s.initialize("agent")
	s.create("agent", "t", "read go; stty -icanon -echo; echo ready; read x; echo output "+canary)
	s.subscribe("t")
	s.types("t", "")
	s.until("ready") // what is typed before is not for a hidden line
	s.types("t", canary)
	s.until("output " + canary)
	s.send(`{"jsonrpc":"2.0","id":9,"method":"` + canary + `"}`)
	s.send(`not json ` + canary)
	s.until(`-32700`)
	log := w.log.String()
	for _, secret := range []string{canary, token, token[4:]} {
		if strings.Contains(log, secret) {
			t.Errorf("the log has %q: %s", secret, log)
		}
	}
}

func BenchmarkIdleWebSocket(b *testing.B) {
	w := newWorld(b, func(c *Config) {
		c.MaxConnections, c.Log = 100_000, slog.New(slog.DiscardHandler)
	})
	token := w.token(authz.Operator, "agent")
	const sockets = 250 // a principal has 256 clientIds at most
	for range b.N {
		before := memory()
		conns := make([]net.Conn, sockets)
		for i := range conns {
			c, r, _ := w.upgraded(token)
			msg := hello(fmt.Sprintf("idle-%d", i), "ahp-root://")
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
