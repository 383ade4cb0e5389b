package ws

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termhost/authz"
	"termhost/cmd/termhost/config"
)

// whoami is a route's handler that tells the peer what the door knows of it.
func whoami(w http.ResponseWriter, r *http.Request, p Peer) error {
	_, err := fmt.Fprintf(w, "%s %s: %q", r.Method, p.Door, p.Principal.Name)
	return err
}

func withRoutes(c *Config) {
	c.Routes = []Route{
		{Path: "/mcp", Methods: []string{"POST"}, Handle: whoami},
		{Path: "/here", Access: ThisMachine, Handle: whoami},
		{Path: "/socket", Access: UnixPeer, Handle: whoami},
		{Path: "/page/", Access: Anyone, Handle: whoami},
		{Path: "/page/private/", Handle: whoami},
		{Path: "/healthz", Handle: whoami}, // the Server's own row counts
		{Path: "/refused", Access: Anyone, Handle: fails(
			fmt.Errorf("wrapped: %w", &Refusal{http.StatusTeapot, "it is a teapot"}))},
		{Path: "/broken", Access: Anyone, Handle: fails(errors.New("a detail of the host's"))},
	}
}

func fails(err error) func(http.ResponseWriter, *http.Request, Peer) error {
	return func(http.ResponseWriter, *http.Request, Peer) error { return err }
}

func TestARouteSaysWhoIsLetIn(t *testing.T) {
	w := newWorld(t, withRoutes)
	bearer := "Authorization: Bearer " + w.token(authz.Operator, "agent")
	const proxied = "X-Forwarded-For: 192.0.2.1"
	for _, c := range []struct {
		request string // the request line's beginning
		header  string
		status  int
		body    string // its beginning
	}{
		{"POST /mcp", bearer, 200, `POST websocket: "alice/agent"`},
		{"POST /mcp", "X: y", 401, "a token is needed"},
		{"POST /mcp", "Authorization: Bearer nonsense", 401, "the token is not valid"},
		{"POST /mcp", bearer + "\r\nOrigin: https://evil.example", 403, "pages of this Origin"},
		{"GET /mcp", bearer, 405, "the methods that are answered here: POST"},
		{"POST /mcp/", bearer, 404, "there is nothing here; AHP is at /ahp"},
		{"GET /here", "X: y", 200, `GET websocket: ""`},
		{"GET /here", proxied, 401, "a token is needed"},
		{"GET /here", proxied + "\r\n" + bearer, 200, `GET websocket: "alice/agent"`},
		{"GET /socket", bearer, 404, "there is nothing here"},
		{"GET /page/", "X: y", 200, `GET websocket: ""`},
		{"GET /page/a/b", "X: y", 200, `GET websocket: ""`},
		{"GET /page", "X: y", 404, "there is nothing here"},
		{"GET /page/private/x", "X: y", 401, "a token is needed"},
		{"GET /page/private/x", bearer, 200, `GET websocket: "alice/agent"`},
		{"POST /page/x", "X: y", 405, "the methods that are answered here: GET, HEAD"},
		{"GET /healthz", "X: y", 200, "ok\n"},
		{"GET /refused", "X: y", 418, "it is a teapot\n"},
		{"GET /broken", "X: y", 500, "internal error; the host's log says more\n"},
	} {
		request := c.request + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n" +
			c.header + "\r\n\r\n"
		if status, body := w.raw(request); status != c.status || !strings.HasPrefix(body, c.body) {
			t.Errorf("%s with %q: %d %q, want %d %q", c.request, c.header, status, body,
				c.status, c.body)
		}
	}
}

func TestARouteMayBeForTheUnixSocketOnly(t *testing.T) {
	w := newWorld(t, withRoutes)
	path := w.unixSocket()
	// A token that the peer sends does not change who it is there.
	bearer := "Authorization: Bearer " + w.token(authz.Operator, "agent")
	for _, request := range []string{"GET /socket", "GET /here", "POST /mcp"} {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		status, body := exchange(t, c, request+" HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
		c.Close()
		_, who, _ := strings.Cut(body, `unix: "`)
		if status != 200 || who != "alice\"" {
			t.Errorf("%s: %d %q", request, status, body)
		}
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	status, body := exchange(t, c, "GET /socket HTTP/1.1\r\nHost: x\r\n"+bearer+"\r\n\r\n")
	if status != 200 || !strings.HasSuffix(body, "unix: \"alice\"") {
		t.Errorf("with a token: %d %q", status, body)
	}
}

// What a handler keeps beyond its request, such as a session, can end with the
// peer's credentials.
func TestAHandlerCanFollowItsPeersCredentials(t *testing.T) {
	told := make(chan error, 1)
	begin := func(w http.ResponseWriter, _ *http.Request, p Peer) error {
		p.Follow(func(reason error) { told <- reason })
		_, err := io.WriteString(w, "begun")
		return err
	}
	w := newWorld(t, func(c *Config) { c.Routes = []Route{{Path: "/session", Handle: begin}} })
	status, body := w.raw("GET /session HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
		w.token(authz.Operator, "agent") + "\r\n\r\n")
	if status != 200 || body != "begun" {
		t.Fatalf("%d %q", status, body)
	}
	check(t, w.authority.RevokeToken(w.grant, "agent"))
	select {
	case reason := <-told:
		if reason.Error() != "your token is no longer valid" {
			t.Errorf("it was told %q", reason)
		}
	case <-time.After(patience):
		t.Error("it was not told")
	}
}

// The configuration may not put AHP where it would hide another route.
func TestTheConfigurationKnowsTheFixedPaths(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.SSH = func(net.Conn, authz.Principal, string) {} })
	file := filepath.Join(t.TempDir(), "config.toml")
	for _, row := range w.server.cfg().routes[1:] { // the first is AHP itself
		check(t, os.WriteFile(file, fmt.Appendf(nil, "[http]\npath = %q\n", row.Path), 0o600))
		if _, err := config.Load(file); err == nil {
			t.Errorf("http.path may be %s", row.Path)
		}
	}
}
