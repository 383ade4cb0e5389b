package main

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
	"termhost/authz"
	"termhost/cmd/termhost/config"
)

// bearerTransport sends a token.
type bearerTransport struct {
	*http.Transport
	token string
}

func (b bearerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.Transport.RoundTrip(r)
}

// TestMCPOverHTTPS speaks MCP at /mcp with both kinds of versions, until the token is revoked and
// the host shuts down.
func TestMCPOverHTTPS(t *testing.T) {
	dir := hosttest.Dir(t)
	t.Setenv("HOME", dir)
	t.Setenv("XDG_STATE_HOME", "")
	file := filepath.Join(dir, "c.toml")
	line, _ := authorizedKey(t)
	writeFile(t, file, hosttest.OwnedConfig(t.Name(), fmt.Sprintf(`
		ssh.listen = "127.0.0.1:0"
		http.listen = "127.0.0.1:0"
		http.tls_cert_file = "%[1]s/cert"
		http.tls_key_file = "%[1]s/key"
		[[principal]]
		name = "alice"
		role = "admin"
		keys = [%[2]q]
	`, dir, line)))
	writeCertificate(t, dir, 1)
	cfg, err := config.Load(file)
	hosttest.Check(t, err)
	s, err := startServer(cfg, new(hosttest.Log).Logger())
	if err != nil {
		t.Fatal(err)
	}
	down := false
	defer func() {
		if !down {
			s.shutdown(t.Context())
		}
	}()
	key, _, _, _, err := gossh.ParseAuthorizedKey([]byte(line))
	hosttest.Check(t, err)
	grant, err := s.access.Authority.AuthenticateKey("alice", key, s.sshListener.Addr())
	hosttest.Check(t, err)
	mint := func(name string) string {
		token, _, err := s.access.Authority.MintToken(grant,
			authz.TokenRequest{Name: name, Role: authz.Operator, TTL: time.Hour})
		hosttest.Check(t, err)
		return token
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	connect := func(token, version string) (*sdk.ClientSession, error) {
		return sdk.NewClient(&sdk.Implementation{Name: "claude-code"}, nil).Connect(t.Context(),
			&sdk.StreamableClientTransport{MaxRetries: -1, DisableStandaloneSSE: true,
				Endpoint:   "https://" + s.httpListener.Addr().String() + "/mcp",
				HTTPClient: &http.Client{Transport: bearerTransport{transport, token}}},
			&sdk.ClientSessionOptions{ProtocolVersion: version})
	}
	token, other := mint("a"), mint("b")
	for _, version := range []string{"2025-06-18", "2026-07-28"} {
		session, err := connect(token, version)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "terminal_run",
			Arguments: map[string]any{"command": "echo hello; exit 7"}})
		if err != nil {
			t.Fatal(err)
		}
		text := result.Content[0].(*sdk.TextContent).Text
		if !strings.Contains(text, " exited 7 ") || !strings.Contains(text, "\nhello\n") {
			t.Errorf("%s: %q", version, text)
		}
		kept, err := connect(other, version) // it is open when the host shuts down
		if err != nil {
			t.Fatal(err)
		}
		defer kept.Close()
	}
	hosttest.Check(t, s.access.Authority.RevokeToken(grant, "a"))
	if _, err := connect(token, ""); err == nil || !strings.Contains(err.Error(), "Unauthorized") {
		t.Errorf("a revoked token: %v", err)
	}
	began := time.Now()
	down = true
	hosttest.Check(t, s.shutdown(t.Context()))
	if d := time.Since(began); d > 30*time.Second {
		t.Errorf("the host shut down after %s", d)
	}
}
