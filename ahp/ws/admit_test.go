package ws

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"termhost/ahp/host"
	"termhost/authz"
)

const goodPage = "https://ide.example.com"

func TestWhoMayUpgrade(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.AllowedOrigins = []string{goodPage}
		c.AllowedHosts = []string{"host.example.com", "other.example.com:7722"}
	})
	token := w.token(authz.Operator, "agent")
	bearer := "Authorization: Bearer " + token
	_, port, _ := net.SplitHostPort(w.addr)
	// to is a handshake with the host's own address and these headers, auth one that
	// has the token as well, and named one with another Host.
	to := func(headers ...string) string { return handshake("/ahp", w.addr, headers...) }
	auth := func(headers ...string) string { return to(append(headers, bearer)...) }
	named := func(host string) string { return handshake("/ahp", host, bearer) }
	const offers = "Sec-WebSocket-Protocol: termhost.ahp, termhost.token."
	const evilPage = "Origin: https://evil.example"
	for _, c := range []struct {
		name    string
		status  int
		request string
	}{
		{"a token in the header", 101, to(bearer)},
		{"the scheme in another case", 101, to("authorization: bearer " + token)},
		{"a token in the address", 101, handshake("/ahp?token="+token, w.addr)},
		{"a token in the address, as VS Code spells it", 101, handshake("/ahp?tkn="+token, w.addr)},
		{"an allowed page", 101, auth("Origin: " + goodPage)},
		{"an allowed page with a token in a subprotocol", 101,
			to(offers+token, "Origin: "+goodPage)},
		{"a program with a token in a subprotocol", 101, to(offers + token)},
		{"a page of this very host", 101, auth("Origin: http://" + w.addr)},
		{"a page of this very host behind a proxy that ends TLS", 101,
			auth("Origin: https://" + w.addr)},
		{"localhost", 101, named("localhost:" + port)},
		{"localhost behind another port", 101, named("localhost:1234")},
		{"loopback of IPv6", 101, named("[::1]:7722")},
		{"an allowed host at any port", 101, named("Host.Example.com:99")},
		{"an allowed host at its port", 101, named("other.example.com:7722")},

		{"no credentials", 401, to()},
		{"another token", 401, to("Authorization: Bearer tht_" + strings.Repeat("A", 43))},
		{"a token cut short", 401, to(bearer[:len(bearer)-1])},
		{"no token behind the scheme", 401, to("Authorization: Bearer ")},
		{"another scheme", 401, to("Authorization: Basic " + token)},
		{"an empty token in the address", 401, handshake("/ahp?token=", w.addr)},
		{"an allowed page without credentials", 401, to("Origin: " + goodPage)},
		{"an allowed page with a token in the address", 401,
			handshake("/ahp?token="+token, w.addr, "Origin: "+goodPage)},
		{"a token in a cookie", 401, to("Cookie: token=" + token)},
		{"a token as a subprotocol of its own", 401, to("Sec-WebSocket-Protocol: " + token)},
		{"another token in a subprotocol", 401, to(offers + "tht_" + strings.Repeat("A", 43))},
		{"an empty token in a subprotocol", 401, to(offers)},

		{"two credentials", 400, handshake("/ahp", w.addr, bearer, bearer)},
		{"two tokens in subprotocols", 400, to(offers + token + ", termhost.token." + token)},
		{"a token in a subprotocol and one in the header", 400, auth(offers + token)},
		{"a token in a subprotocol and none to speak", 400,
			to("Sec-WebSocket-Protocol: termhost.token." + token)},
		{"two tokens in the address", 400, handshake("/ahp?token="+token+"&tkn="+token, w.addr)},

		{"an evil page", 403, auth(evilPage)},
		{"an evil page with a token in a subprotocol", 403, to(offers+token, evilPage)},
		{"a sandboxed page", 403, auth("Origin: null")},
		{"an empty Origin", 403, auth("Origin: ")},
		{"a page of this very host without a token", 403, to("Origin: http://" + w.addr)},
		{"a page of this very host at another port", 403, auth("Origin: http://127.0.0.1:1")},
		{"a page of this very host under another of its names", 403,
			auth("Origin: http://localhost:" + port)},
		{"an allowed page over http", 403, auth("Origin: http://ide.example.com")},
		{"an allowed page at another port", 403, auth("Origin: " + goodPage + ":8443")},
		{"an allowed page's name as a prefix", 403, auth("Origin: " + goodPage + ".evil.example")},
		{"two Origins", 403, auth("Origin: "+goodPage, evilPage)},
		{"a rebound name", 403, named("evil.example:" + port)},
		{"a rebound name that its page shares", 403,
			handshake("/ahp", "evil.example:"+port, bearer, "Origin: http://evil.example:"+port)},
		{"a name that begins like loopback", 403, named("127.0.0.1.evil.example")},
		{"a name that begins like localhost", 403, named("localhost.evil.example")},
		{"an allowed host at another port", 403, named("other.example.com:99")},
		{"an address that is not this host's", 403, named("192.0.2.1:" + port)},
		{"an evil name in the request line", 403,
			handshake("http://evil.example/ahp", w.addr, bearer)},
		{"no Host", 403, "GET /ahp HTTP/1.0\r\n" + bearer + "\r\n\r\n"},
		{"two Hosts", 400, auth("Host: evil.example")},

		{"no upgrade", 426, "GET /ahp HTTP/1.1\r\nHost: localhost\r\n" + bearer + "\r\n\r\n"},
		{"another method", 405, strings.Replace(to(bearer), "GET", "DELETE", 1)},
		{"another path", 404, handshake("/ahp/", w.addr, bearer)},
		{"an old WebSocket", 400, strings.Replace(to(bearer), "Version: 13", "Version: 8", 1)},
	} {
		if status, body := w.raw(c.request); status != c.status {
			t.Errorf("%s: %d %q, want %d", c.name, status, body, c.status)
		}
	}
	if strings.Contains(w.log.String(), token) {
		t.Error("a token was logged")
	}
}

func TestAPageIsAnsweredWithTheSubprotocolAndNeverWithItsToken(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.AllowedOrigins = []string{goodPage} })
	token := w.token(authz.Operator, "pages")
	dialer := websocket.Dialer{Subprotocols: []string{"termhost.token." + token, "termhost.ahp"}}
	c, resp, err := dialer.Dial("ws://"+w.addr+"/ahp", http.Header{"Origin": {goodPage}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Subprotocol() != "termhost.ahp" || strings.Contains(fmt.Sprint(resp.Header), token) {
		t.Errorf("the answer selects %q: %v", c.Subprotocol(), resp.Header)
	}
}

func TestNothingIsUpgradedOnceAllConnectionsAreTaken(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.MaxConnections = 1 })
	token := w.token(authz.Operator, "agent")
	first := w.dial(token)
	status, body := w.raw(handshake("/ahp", w.addr, "Authorization: Bearer "+token))
	if status != 503 || !strings.Contains(body, "http.max_connections") {
		t.Errorf("a second connection got %d %q", status, body)
	}
	first.initialize("a") // the first is unharmed
}

func TestASourceOfBadTokensWaitsAndAGoodTokenDoesNot(t *testing.T) {
	w := newWorld(t)
	good := w.token(authz.Observer, "agent")
	ask := func(from, token string) int {
		d := &door{name: host.DoorWebSocket, remote: &net.TCPAddr{IP: net.ParseIP(from), Port: 1}}
		r := httptest.NewRequest("GET", "http://localhost/ahp", nil)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		answer := httptest.NewRecorder()
		w.server.ServeHTTP(answer, r.WithContext(context.WithValue(t.Context(), doorKey{}, d)))
		return answer.Code
	}
	const far, other, near = "192.0.2.1", "192.0.2.2", "127.0.0.1"
	// Three times admit.AuthPenalty is less than admit.MinPenalty as soon as a moment has passed.
	for i, want := range []int{401, 401, 401, 429, 429} {
		if got := ask(far, "tht_bad"); got != want {
			t.Errorf("bad token %d: %d, want %d", i, got, want)
		}
	}
	if got := ask(far, ""); got != 429 {
		t.Errorf("no token from there: %d", got)
	}
	if got := ask(other, "tht_bad"); got != 401 {
		t.Errorf("a bad token from elsewhere: %d", got)
	}
	if got := ask(far, good); got == 401 || got == 429 { // it is no upgrade, which is told
		t.Errorf("a good token from there: %d", got)
	}
	for range 10 {
		if got := ask(near, "tht_bad"); got != 401 {
			t.Errorf("a bad token from this machine: %d", got)
		}
	}
}

func TestHealthIsForEverybodyAndMetricsForThisMachine(t *testing.T) {
	w := newWorld(t)
	status, body := w.raw("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if status != 200 || body != "ok\n" {
		t.Errorf("health: %d %q", status, body)
	}
	const metrics = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
	status, body = w.raw(metrics + "\r\n")
	if status != 200 || !strings.Contains(body, "\ntermhost_terminals 0\n") {
		t.Errorf("metrics: %d %q", status, body)
	}
	for _, door := range authz.Doors() {
		if line := fmt.Sprintf("\ntermhost_connections{door=%q} 0\n", door.Name); !strings.Contains(body, line) {
			t.Errorf("the metrics have no %q", line)
		}
	}
	const proxied = metrics + "X-Forwarded-For: 192.0.2.1\r\n"
	for _, header := range []string{"X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https",
		"Forwarded: for=192.0.2.1", "Via: 1.1 proxy", "X-Real-IP: 192.0.2.1", "X-Forwarded-For:"} {
		if status, _ := w.raw(metrics + header + "\r\n\r\n"); status != 401 {
			t.Errorf("metrics through a proxy (%s): %d, want 401", header, status)
		}
	}
	bearer := "Authorization: Bearer " + w.token(authz.Observer, "prometheus") + "\r\n\r\n"
	if status, _ := w.raw(proxied + bearer); status != 200 {
		t.Errorf("metrics with a token: %d", status)
	}
	for _, header := range []string{"Origin: https://evil.example", "Origin: null"} {
		if status, _ := w.raw(metrics + header + "\r\n\r\n"); status != 403 {
			t.Errorf("metrics for a page (%s): %d, want 403", header, status)
		}
	}
	if status, _ := w.raw("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n"); status != 403 {
		t.Errorf("metrics under another name: %d, want 403", status)
	}
}

// A peer that sends a nonce is told first of all that this is the host; another one is not.
func TestTheHostProvesItselfFirst(t *testing.T) {
	w := newWorld(t)
	token, nonce := w.token(authz.Operator, "agent"), strings.Repeat("A", 22)
	for _, offered := range []string{"termhost.nonce." + nonce, "termhost.nonce.", "other"} {
		dialer := websocket.Dialer{Subprotocols: []string{"termhost.ahp", "termhost.token." + token, offered}}
		c, _, err := dialer.Dial("ws://"+w.addr+"/ahp", nil)
		check(t, err)
		check(t, c.WriteMessage(websocket.TextMessage,
			[]byte(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://"}}`)))
		check(t, c.SetReadDeadline(time.Now().Add(patience)))
		_, first, err := c.ReadMessage()
		check(t, err)
		c.Close()
		if proves := strings.Contains(string(first), "termhost/proof"); proves != strings.HasSuffix(offered, nonce) {
			t.Errorf("to %s the first message is %s", offered, first)
		}
	}
}
