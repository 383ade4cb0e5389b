package ws

import (
	"net"
	"strings"
	"testing"

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
	for _, c := range []struct {
		name    string
		status  int
		request string
	}{
		{"a token in the header", 101, handshake("/ahp", w.addr, bearer)},
		{"the scheme in another case", 101, handshake("/ahp", w.addr, "authorization: bearer "+token)},
		{"a token in the address", 101, handshake("/ahp?token="+token, w.addr)},
		{"a token in the address, as VS Code spells it", 101, handshake("/ahp?tkn="+token, w.addr)},
		{"an allowed page", 101, handshake("/ahp", w.addr, bearer, "Origin: "+goodPage)},
		{"localhost", 101, handshake("/ahp", "localhost:"+port, bearer)},
		{"localhost behind another port", 101, handshake("/ahp", "localhost:1234", bearer)},
		{"loopback of IPv6", 101, handshake("/ahp", "[::1]:7722", bearer)},
		{"an allowed host at any port", 101, handshake("/ahp", "Host.Example.com:99", bearer)},
		{"an allowed host at its port", 101, handshake("/ahp", "other.example.com:7722", bearer)},

		{"no credentials", 401, handshake("/ahp", w.addr)},
		{"another token", 401, handshake("/ahp", w.addr, "Authorization: Bearer tht_"+strings.Repeat("A", 43))},
		{"a token cut short", 401, handshake("/ahp", w.addr, bearer[:len(bearer)-1])},
		{"no token behind the scheme", 401, handshake("/ahp", w.addr, "Authorization: Bearer ")},
		{"another scheme", 401, handshake("/ahp", w.addr, "Authorization: Basic "+token)},
		{"an empty token in the address", 401, handshake("/ahp?token=", w.addr)},
		{"an allowed page without credentials", 401, handshake("/ahp", w.addr, "Origin: "+goodPage)},
		{"an allowed page with a token in the address", 401, handshake("/ahp?token="+token, w.addr, "Origin: "+goodPage)},
		{"a token in a cookie", 401, handshake("/ahp", w.addr, "Cookie: token="+token)},
		{"a token in a subprotocol", 401, handshake("/ahp", w.addr, "Sec-WebSocket-Protocol: "+token)},

		{"two credentials", 400, handshake("/ahp", w.addr, bearer, bearer)},
		{"two tokens in the address", 400, handshake("/ahp?token="+token+"&tkn="+token, w.addr)},

		{"an evil page", 403, handshake("/ahp", w.addr, bearer, "Origin: https://evil.example")},
		{"a sandboxed page", 403, handshake("/ahp", w.addr, bearer, "Origin: null")},
		{"an empty Origin", 403, handshake("/ahp", w.addr, bearer, "Origin: ")},
		{"a page of this very host", 403, handshake("/ahp", w.addr, bearer, "Origin: http://"+w.addr)},
		{"an allowed page over http", 403, handshake("/ahp", w.addr, bearer, "Origin: http://ide.example.com")},
		{"an allowed page at another port", 403, handshake("/ahp", w.addr, bearer, "Origin: "+goodPage+":8443")},
		{"an allowed page's name as a prefix", 403, handshake("/ahp", w.addr, bearer, "Origin: "+goodPage+".evil.example")},
		{"two Origins", 403, handshake("/ahp", w.addr, bearer, "Origin: "+goodPage, "Origin: https://evil.example")},
		{"a rebound name", 403, handshake("/ahp", "evil.example:"+port, bearer)},
		{"a rebound name that its page shares", 403, handshake("/ahp", "evil.example:"+port, bearer, "Origin: http://evil.example:"+port)},
		{"a name that begins like loopback", 403, handshake("/ahp", "127.0.0.1.evil.example", bearer)},
		{"a name that begins like localhost", 403, handshake("/ahp", "localhost.evil.example", bearer)},
		{"an allowed host at another port", 403, handshake("/ahp", "other.example.com:99", bearer)},
		{"an address that is not this host's", 403, handshake("/ahp", "192.0.2.1:"+port, bearer)},
		{"an evil name in the request line", 403, handshake("http://evil.example/ahp", w.addr, bearer)},
		{"no Host", 403, "GET /ahp HTTP/1.0\r\n" + bearer + "\r\n\r\n"},
		{"two Hosts", 400, handshake("/ahp", w.addr, bearer, "Host: evil.example")},

		{"no upgrade", 426, "GET /ahp HTTP/1.1\r\nHost: localhost\r\n" + bearer + "\r\n\r\n"},
		{"another method", 405, "POST /ahp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n" + bearer + "\r\n\r\n"},
		{"another path", 404, handshake("/ahp/", w.addr, bearer)},
		{"an old WebSocket", 400, strings.Replace(handshake("/ahp", w.addr, bearer), "Version: 13", "Version: 8", 1)},
	} {
		if status, body := w.raw(c.request); status != c.status {
			t.Errorf("%s: %d %q, want %d", c.name, status, body, c.status)
		}
	}
	if strings.Contains(w.log.String(), token) {
		t.Error("a token was logged")
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

func TestHealthIsForEverybodyAndMetricsForThisMachine(t *testing.T) {
	w := newWorld(t)
	if status, body := w.raw("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); status != 200 || body != "ok\n" {
		t.Errorf("health: %d %q", status, body)
	}
	status, body := w.raw("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if status != 200 || !strings.Contains(body, "\ntermhost_connections{door=\"websocket\"} 0\n") || !strings.Contains(body, "\ntermhost_terminals 0\n") {
		t.Errorf("metrics: %d %q", status, body)
	}
	proxied := "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.1\r\n"
	if status, _ := w.raw(proxied + "\r\n"); status != 401 {
		t.Errorf("metrics through a proxy: %d, want 401", status)
	}
	if status, _ := w.raw(proxied + "Authorization: Bearer " + w.token(authz.Observer, "prometheus") + "\r\n\r\n"); status != 200 {
		t.Errorf("metrics with a token: %d", status)
	}
	for _, header := range []string{"Origin: https://evil.example", "Origin: null"} {
		if status, _ := w.raw("GET /metrics HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n\r\n"); status != 403 {
			t.Errorf("metrics for a page (%s): %d, want 403", header, status)
		}
	}
	if status, _ := w.raw("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n"); status != 403 {
		t.Errorf("metrics under another name: %d, want 403", status)
	}
}
