package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/mcp"
	"termhost/ahp/ws"
	"termhost/authz"
	"termhost/keys"
)

// The versions of MCP with sessions, and the newest.
var eras = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", newest}

const (
	older  = "2025-06-18"
	newest = "2026-07-28"
)

// web is a host with MCP on its HTTP door, and keys that mint tokens.
type web struct {
	t         testing.TB
	host      *host.Host
	authority *authz.Authority
	alice     authz.Grant
	bob       authz.Grant
	root      authz.Grant // an admin
	addr      string
	client    http.Transport
}

func newWeb(t testing.TB, o mcp.HTTPOptions, changes ...func(*host.Config)) *web {
	t.Helper()
	dir := t.TempDir()
	w := &web{t: t, host: hosttest.New(t, changes...)}
	var entries []authz.Entry
	public := map[string]ssh.PublicKey{}
	for name, role := range map[string]authz.Role{
		"alice": authz.Operator, "bob": authz.Operator, "root": authz.Admin,
	} {
		raw, _, err := ed25519.GenerateKey(rand.Reader)
		hosttest.Check(t, err)
		key, err := ssh.NewPublicKey(raw)
		hosttest.Check(t, err)
		public[name] = key
		line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))) + " " + name
		entries = append(entries, authz.Entry{Name: name, Role: role, Keys: []string{line}})
	}
	w.authority = hosttest.Authority(t, keys.Options{Home: dir, StateDir: dir}, entries...)
	for name, grant := range map[string]*authz.Grant{
		"alice": &w.alice, "bob": &w.bob, "root": &w.root,
	} {
		var err error
		*grant, err = w.authority.AuthenticateKey(name, public[name], loopback)
		hosttest.Check(t, err)
	}
	server := mcp.New(mcp.Options{Version: "test"})
	server.SetWaits(map[string]time.Duration{"": 4 * time.Minute})
	tools := server.NewHTTP(o)
	door := ws.New(ws.Config{Host: w.host, Authority: w.authority, Routes: []ws.Route{{
		Path: "/mcp", Methods: []string{"POST", "GET", "DELETE"}, Long: true,
		Handle: func(rw http.ResponseWriter, r *http.Request, p ws.Peer) error {
			// The test starts the programs of terminals, which may have its sockets until they run.
			p.Principal.Inside = false
			tools.Serve(rw, r, mcp.HTTPPeer{Peer: mcp.Peer{Host: w.host, Principal: p.Principal,
				Source: p.Source(), Proof: p.Proof()}, Follow: p.Follow})
			return nil
		},
	}}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	hosttest.Check(t, err)
	w.addr = l.Addr().String()
	var serving sync.WaitGroup
	serving.Go(func() { hosttest.Check(t, door.Serve(l)) })
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), hosttest.Patience)
		defer cancel()
		tools.Close()
		w.client.CloseIdleConnections() // the door waits for those that have sent nothing
		hosttest.Check(t, door.Shutdown(ctx))
		serving.Wait()
	})
	return w
}

var loopback = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}

// token mints an operator's token.
func (w *web) token(of authz.Grant, name string) string {
	w.t.Helper()
	return w.tokenOf(of, name, authz.Operator)
}

func (w *web) tokenOf(of authz.Grant, name string, role authz.Role) string {
	w.t.Helper()
	secret, _, err := w.authority.MintToken(of,
		authz.TokenRequest{Name: name, Role: role, TTL: time.Hour})
	hosttest.Check(w.t, err)
	return secret
}

// withToken sends a token with each request.
type withToken struct {
	*http.Transport
	token string
}

func (c withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+c.token)
	return c.Transport.RoundTrip(r)
}

// agent connects the SDK's client, which speaks a version.
func (w *web) agent(token, name, version string) *agent {
	w.t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: name}, nil).Connect(w.t.Context(),
		&sdk.StreamableClientTransport{Endpoint: "http://" + w.addr + "/mcp", MaxRetries: -1,
			HTTPClient: &http.Client{Transport: withToken{&w.client, token}}},
		&sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { session.Close() })
	return &agent{t: w.t, session: session}
}

// ask sends a request with headers, each of which is a whole line, and returns the response.
func (w *web) ask(method, token, body string, header ...string) *http.Response {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, "http://"+w.addr+"/mcp",
		strings.NewReader(body))
	hosttest.Check(w.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, line := range header {
		if key, value, ok := strings.Cut(line, ": "); ok {
			r.Header.Set(key, value)
		}
	}
	r.Host = r.Header.Get("Host")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := w.client.RoundTrip(r)
	if err != nil {
		w.t.Fatalf("%s: %v", method, err)
	}
	w.t.Cleanup(func() { response.Body.Close() })
	return response
}

// says returns the status of a response, with its whole text.
func says(t testing.TB, r *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	hosttest.Check(t, err)
	r.Body.Close()
	return fmt.Sprintf("%d %s", r.StatusCode, text)
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + older +
	`","capabilities":{},"clientInfo":{"name":"claude-code","version":"1"}}}`

// begin begins a session and returns the header that names it.
func (w *web) begin(token string) string {
	w.t.Helper()
	r := w.ask("POST", token, initialize)
	text := says(w.t, r)
	id := r.Header.Get("Mcp-Session-Id")
	if r.StatusCode != 200 || id == "" {
		w.t.Fatalf("initialize: %s", text)
	}
	return "Mcp-Session-Id: " + id
}

// message is a request of the older versions, whose arguments are JSON.
func message(tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,`+
		`"_meta":{"progressToken":"p"}}}`, tool, arguments)
}

// newMessage is a request of the newest version, with its headers.
func newMessage(tool, arguments string) (body string, header []string) {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,`+
			`"_meta":{"progressToken":"p",%s}}}`, tool, arguments, newMeta),
		[]string{"Mcp-Protocol-Version: " + newest, "Mcp-Method: tools/call", "Mcp-Name: " + tool}
}

const newMeta = `"io.modelcontextprotocol/protocolVersion":"` + newest + `",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{}`

// result returns the result of a response's last event.
func result(t testing.TB, text string) (r struct {
	Result, Error json.RawMessage
}) {
	t.Helper()
	_, text, _ = strings.Cut(text, " ")
	if i := strings.LastIndex(text, "data: "); i >= 0 {
		text = text[i+len("data: "):]
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return r
}

// waiting waits until the host has a terminal in which something was printed.
func (w *web) waiting(name, printed string) {
	w.t.Helper()
	conn := hosttest.Conn(w.t, w.host, hosttest.Principal("root", authz.Admin))
	hosttest.Eventually(w.t, name+" has printed", func() bool {
		t, err := conn.Find(name)
		if err != nil {
			return false
		}
		screen, err := conn.Peek(t, false)
		return err == nil && strings.Contains(string(screen), printed)
	})
}

func TestAllVersionsAreSpokenAtOnce(t *testing.T) {
	t.Parallel()
	w := newWeb(t, mcp.HTTPOptions{})
	token := w.token(w.alice, "agent")
	var all sync.WaitGroup
	for i, version := range eras {
		all.Go(func() {
			a := w.agent(token, "claude-code", version)
			if got := a.session.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("it speaks %s, want %s", got, version)
			}
			name := fmt.Sprint("t", i)
			like(t, a.call("terminal_run", args{"command": "echo " + version + "; exit 3", "name": name}),
				`^\[`+name+` exited 3 · \S+ · 1 line · cursor 12\]\n`+version+`\n$`)
			like(t, a.call("terminal_read", args{"terminal": name, "cursor": 0}), version)
		})
	}
	all.Wait()
}

func TestTheToolsAreTheSameOverHTTPAndLines(t *testing.T) {
	t.Parallel()
	w := newWeb(t, mcp.HTTPOptions{})
	token := w.token(w.alice, "agent")
	tools := func(text string) string {
		var list struct{ Tools json.RawMessage }
		hosttest.Check(t, json.Unmarshal(result(t, text).Result, &list))
		return string(list.Tools)
	}
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		peer := mcp.Peer{Host: w.host, Principal: w.alice.Principal}
		_ = mcp.New(mcp.Options{Version: "test"}).Serve(t.Context(), peer, mcp.NewLines(far, far))
	}()
	lines := bufio.NewReader(near)
	line := func(sent string) string {
		_, err := io.WriteString(near, sent+"\n")
		hosttest.Check(t, err)
		got, err := lines.ReadString('\n')
		hosttest.Check(t, err)
		return "200 " + got
	}
	line(initialize)
	want := tools(line(list))
	if len(want) < 1000 {
		t.Fatalf("over lines: %q", want)
	}
	if got := tools(says(t, w.ask("POST", token, list, w.begin(token)))); got != want {
		t.Errorf("%s: %s, want %s", older, got, want)
	}
	text := says(t, w.ask("POST", token,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{`+newMeta+`}}}`,
		"Mcp-Protocol-Version: "+newest, "Mcp-Method: tools/list"))
	if got := tools(text); got != want {
		t.Errorf("%s: %s, want %s", newest, got, want)
	}
	if !strings.Contains(text, `"cacheScope":"private"`) {
		t.Errorf("a cache may share %s", text)
	}
	text = says(t, w.ask("POST", token,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{`+newMeta+`}}}`,
		"Mcp-Protocol-Version: "+newest, "Mcp-Method: server/discover"))
	if !strings.Contains(text, `"cacheScope":"private"`) {
		t.Errorf("a cache may share %s", text)
	}
}

func TestOnlyWhoHasATokenIsAnsweredOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWeb(t, mcp.HTTPOptions{})
	token := w.token(w.alice, "agent")
	revoked := w.token(w.alice, "revoked")
	hosttest.Check(t, w.authority.RevokeToken(w.alice, "revoked"))
	for _, c := range []struct {
		method, token string
		header        []string
		want          string
	}{
		{"POST", "", nil, "^401 a token is needed"},
		{"GET", "", nil, "^401 a token is needed"},
		{"DELETE", "", nil, "^401 a token is needed"},
		{"POST", "nonsense", nil, "^401 the token is not valid"},
		{"POST", revoked, nil, "^401 the token is not valid"},
		{"POST", token, []string{"Origin: https://evil.example"}, "^403 pages of this Origin"},
		{"POST", token, []string{"Origin: null"}, "^403 pages of this Origin"},
		{"POST", token, []string{"Host: evil.example"}, "^403 the Host header"},
		{"GET", token, []string{"Host: evil.example"}, "^403 the Host header"},
		{"PUT", token, nil, "^405 "},
		{"OPTIONS", "", []string{"Origin: https://evil.example"}, "^403 "},
		{"GET", token, nil, "^400 .*Mcp-Session-Id"},
		{"DELETE", token, nil, "^400 .*Mcp-Session-Id"},
		{"GET", token, []string{"Mcp-Session-Id: x"}, "^404 .*no such session"},
		{"GET", token, []string{"Mcp-Protocol-Version: " + newest}, "^405 "},
		{"DELETE", token, []string{"Mcp-Protocol-Version: " + newest}, "^405 "},
	} {
		r := w.ask(c.method, c.token, "[", c.header...) // a body that is not looked at
		if text := says(t, r); r.StatusCode == 401 && !strings.HasPrefix(r.Header.Get("Www-Authenticate"), "Bearer ") {
			t.Errorf("%s has no WWW-Authenticate", text)
		} else {
			like(t, text, c.want)
		}
	}
}

func TestASessionIsItsPrincipals(t *testing.T) {
	t.Parallel()
	w := newWeb(t, mcp.HTTPOptions{})
	token, second, bobs := w.token(w.alice, "a"), w.token(w.alice, "b"), w.token(w.bob, "a")
	session := w.begin(token)
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for _, other := range []string{second, bobs} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			like(t, says(t, w.ask(method, other, list, session)), "^404 .*no such session")
		}
	}
	like(t, says(t, w.ask("POST", token, list, session)), "^200 ")
	like(t, says(t, w.ask("DELETE", token, "", session)), "^204 ")
	like(t, says(t, w.ask("POST", token, list, session)), "^404 .*no such session")
}

func TestHeadersThatDisagreeWithTheMessageAreRefused(t *testing.T) {
	t.Parallel()
	w := newWeb(t, mcp.HTTPOptions{})
	token := w.token(w.alice, "a")
	body, header := newMessage("terminal_list", "{}")
	like(t, says(t, w.ask("POST", token, body, header...)), "^200 ")
	for _, wrong := range []string{"Mcp-Protocol-Version: " + older, "Mcp-Protocol-Version: ",
		"Mcp-Method: tools/list", "Mcp-Name: terminal_run"} {
		like(t, says(t, w.ask("POST", token, body, append(header, wrong)...)), `^400 .*-32020`)
	}
	like(t, says(t, w.ask("POST", token, body, append(header, "Mcp-Protocol-Version: 2030-01-01")...)),
		`^400 .*-3202`)
	like(t, says(t, w.ask("POST", token, message("terminal_list", "{}"), header...)), `^400 .*protocolVersion`)
	like(t, says(t, w.ask("POST", token, initialize, "Mcp-Protocol-Version: 2020-01-01")),
		"^400 .*these are: .*"+older)
}

func TestBodiesThatNoDoorAccepts(t *testing.T) {
	t.Parallel()
	w := newWeb(t, mcp.HTTPOptions{})
	token := w.token(w.alice, "a")
	long := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 17<<20) + `"}}`
	deep := func(n int) string {
		return `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`{"a":`, n) + "1" +
			strings.Repeat("}", n) + "}"
	}
	for _, c := range []struct {
		name, body, header, want string
	}{
		{"long", long, "", "^413 .*4 MiB"},
		{"deep", deep(100), "", "^400 .*-32600.*nests deeper"},
		{"very deep", deep(20_000), "", "^400 .*-32700"},
		{"duplicate", `{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"ping"}`, "", "^400 .*-32600.*stands twice"},
		{"other case", `{"jsonrpc":"2.0","id":1,"method":"tools/list","Method":"ping"}`, "", "^400 .*-32600.*stands twice"},
		{"batch", "[" + initialize + "]", "", "^400 .*-32600.*batches"},
		{"BOM", "\ufeff" + initialize, "", "^400 .*-32700"},
		{"no JSON", "hello", "", "^400 .*-32700"},
		{"nothing", "", "", "^400 .*-32700"},
		{"bad UTF-8", "{\"a\":\"\xff\"}", "", "^400 .*-32700"},
		{"two messages", initialize + initialize, "", "^400 .*-32700"},
		{"a form", initialize, "Content-Type: text/plain", "^415 .*application/json"},
		{"a call without a session", message("terminal_list", "{}"), "", "^400 .*initialize"},
	} {
		text := says(t, w.ask("POST", token, c.body, c.header))
		if like(t, text, c.want); len(text) > 1000 {
			t.Errorf("%s: the answer has %d bytes", c.name, len(text))
		}
		body, header := newMessage("terminal_list", "{}")
		like(t, says(t, w.ask("POST", token, body, header...)), "^200 ")
	}
	r, err := http.NewRequest("POST", "http://"+w.addr+"/mcp", io.MultiReader(strings.NewReader(long))) // chunked
	hosttest.Check(t, err)
	r.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Transport: withToken{&w.client, token}}).Do(r)
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return // on a busy machine it writes still when half a second after the answer all is over
	}
	hosttest.Check(t, err)
	like(t, says(t, response), "^413 .*4 MiB")
}

func TestARevokedTokenEndsWhatItHasOpen(t *testing.T) {
	t.Parallel()
	w := newWeb(t, mcp.HTTPOptions{})
	token, other := w.token(w.alice, "a"), w.token(w.alice, "b")
	session, others := w.begin(token), w.begin(other)
	stream := w.ask("GET", token, "", session, "Accept: text/event-stream")
	othersStream := w.ask("GET", other, "", others, "Accept: text/event-stream")
	if stream.StatusCode != 200 || othersStream.StatusCode != 200 {
		t.Fatalf("the streams: %s, %s", stream.Status, othersStream.Status)
	}
	answers := make(chan string, 2)
	call := func(name string, body string, header ...string) {
		go func() { answers <- says(t, w.ask("POST", token, body, header...)) }()
		w.waiting(name, "begun")
	}
	const run = `{"command":"echo begun; sleep 1000","name":%q,"wait_s":200}`
	call("old", message("terminal_run", fmt.Sprintf(run, "old")), session)
	body, header := newMessage("terminal_run", fmt.Sprintf(run, "new"))
	call("new", body, header...)
	hosttest.Check(t, w.authority.RevokeToken(w.alice, "a"))
	for range 2 {
		like(t, <-answers, `(?s)^200 .*"isError":true.*no longer valid|^200 .*no longer valid.*"isError":true`)
	}
	says(t, stream) // it ends
	like(t, says(t, w.ask("POST", token, message("terminal_list", "{}"), session)), "^401 ")
	like(t, says(t, w.ask("POST", other, message("terminal_list", "{}"), others)), "^200 .*\n.*old")
}

func TestAVanishedClientsCallEnds(t *testing.T) {
	t.Parallel()
	for _, version := range []string{older, newest} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newWeb(t, mcp.HTTPOptions{MaxSessions: 1})
			token := w.token(w.alice, "a")
			const run = `{"command":"echo begun; sleep 1000","name":"x","wait_s":200}`
			body, header := newMessage("terminal_run", run)
			if version == older {
				body, header = message("terminal_run", run), []string{w.begin(token)}
			}
			c, err := net.Dial("tcp", w.addr)
			hosttest.Check(t, err)
			_, err = fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
				"Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"+
				"%s\r\nContent-Length: %d\r\n\r\n%s", token, strings.Join(header, "\r\n"), len(body), body)
			hosttest.Check(t, err)
			w.waiting("x", "begun")
			second := w.ask("POST", w.token(w.alice, "b"), initialize)
			like(t, says(t, second), "^429 .*too many sessions") // the first is in use
			c.Close()
			if version == older { // where the call has its ID until it ends
				hosttest.Eventually(t, "the call has ended", func() bool {
					return strings.HasPrefix(says(t, w.ask("POST", token, message("terminal_list", "{}"), header...)), "200 ")
				})
			}
			token = w.token(w.alice, "c")
			hosttest.Eventually(t, "the call has ended", func() bool {
				return strings.HasPrefix(says(t, w.ask("POST", token, initialize)), "200 ")
			})
			w.waiting("x", "begun") // what runs goes on
		})
	}
}

func TestAbandonedSessionsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWeb(t, mcp.HTTPOptions{MaxSessions: 8, MaxAllSessions: 12})
	alices, bobs := w.token(w.alice, "a"), w.token(w.bob, "a")
	bob := w.begin(bobs)
	open := func() int { return w.host.Stats().Connections[host.DoorMCP] }
	var last string
	for i := range 500 {
		last = w.begin(alices)
		if n := open(); n > 9 {
			t.Fatalf("there are %d connections after %d sessions", n, i)
		}
	}
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	like(t, says(t, w.ask("POST", alices, list, last)), "^200 ")
	like(t, says(t, w.ask("POST", bobs, list, bob)), "^200 ")
	for range 20 {
		w.begin(bobs) // of the account with most sessions one ends
	}
	if n := open(); n > 12 {
		t.Errorf("there are %d connections", n)
	}
	like(t, says(t, w.ask("POST", alices, list, last)), "^200 ")
	for i := range 50 { // names of clients without sessions are no way around it
		body, header := newMessage("terminal_list", "{}")
		body = strings.Replace(body, "claude-code", fmt.Sprint("client-", i), 1)
		like(t, says(t, w.ask("POST", alices, body, header...)), "^200 ")
	}
	if n := open(); n > 12 {
		t.Errorf("there are %d connections", n)
	}
}

func TestAnIdleSessionEnds(t *testing.T) {
	t.Parallel()
	w := newWeb(t, mcp.HTTPOptions{Idle: time.Millisecond})
	token := w.token(w.alice, "a")
	kept := w.begin(token)
	stream := w.ask("GET", token, "", kept, "Accept: text/event-stream") // it is not idle now
	if stream.StatusCode == 404 {
		t.Skip("the machine was too slow to keep the session")
	}
	for range 3 {
		session := w.begin(token)
		hosttest.Eventually(t, "the session has ended", func() bool {
			return w.ask("POST", token, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, session).StatusCode == 404
		})
	}
	like(t, says(t, w.ask("DELETE", token, "", kept)), "^204 ")
	like(t, says(t, stream), "^200 : ok\n\n$")
	hosttest.Eventually(t, "the host has no connection left", func() bool {
		return w.host.Stats().Connections[host.DoorMCP] == 0
	})
}

func TestRequestsUnderWayAreBounded(t *testing.T) {
	t.Parallel()
	w := newWeb(t, mcp.HTTPOptions{})
	alices, bobs := w.token(w.alice, "a"), w.token(w.bob, "a")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run, header := newMessage("terminal_run", `{"command":"echo begun; sleep 1000","name":"x","background":true}`)
	like(t, says(t, w.ask("POST", alices, run, header...)), "^200 ")
	const wait = `{"terminal":"x","wait_s":200,"until":"never"}`
	session := w.begin(alices)
	first, given := w.ask("POST", alices, message("terminal_read", wait), session), make(chan string, 1)
	all := sync.WaitGroup{}
	all.Go(func() { given <- says(t, first) })
	read, header := newMessage("terminal_read", wait)
	const most = 127
	refused := make(chan string, most)
	// A few connections at a time, as of clients on their own machines.
	connecting := make(chan struct{}, 32)
	var connected sync.WaitGroup
	for range most {
		connecting <- struct{}{}
		connected.Add(1)
		all.Go(func() {
			r, err := http.NewRequestWithContext(ctx, "POST", "http://"+w.addr+"/mcp", strings.NewReader(read))
			hosttest.Check(t, err)
			for _, line := range append(header, "Content-Type: application/json", "Accept: */*") {
				key, value, _ := strings.Cut(line, ": ")
				r.Header.Set(key, value)
			}
			response, err := withToken{&w.client, alices}.RoundTrip(r) // its first event is progress
			<-connecting
			connected.Done()
			if err != nil {
				refused <- err.Error()
				return
			}
			defer response.Body.Close()
			if response.StatusCode != 200 {
				refused <- says(t, response)
				return
			}
			_, _ = io.Copy(io.Discard, response.Body) // until ctx ends
		})
	}
	connected.Wait()
	like(t, says(t, w.ask("POST", alices, read, header...)), "^429 .*128 requests under way")
	list, header := newMessage("terminal_list", "{}")
	like(t, says(t, w.ask("POST", bobs, list, header...)), "^200 ")
	// What gives a request up is no request more.
	like(t, says(t, w.ask("POST", alices, `{"jsonrpc":"2.0","method":"notifications/cancelled",`+
		`"params":{"requestId":1}}`, session)), "^202 ")
	slowtest.Receive(t, "the call that was given up ends", given)
	cancel()
	all.Wait()
	select {
	case text := <-refused:
		t.Error(text)
	default:
	}
	hosttest.Eventually(t, "all calls have ended", func() bool {
		return w.ask("POST", alices, list, header...).StatusCode == 200
	})
}

// The time that a client has to send a message is not a limit for the answer.
func TestASilentCommandIsAwaitedOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWeb(t, mcp.HTTPOptions{SendTime: 500 * time.Millisecond})
	silent(w, w.token(w.alice, "a"), 2)
}

func TestAMessageHasToComeInTime(t *testing.T) {
	t.Parallel()
	w := newWeb(t, mcp.HTTPOptions{SendTime: 100 * time.Millisecond})
	c, err := net.Dial("tcp", w.addr)
	hosttest.Check(t, err)
	defer c.Close()
	hosttest.Check(t, c.SetDeadline(time.Now().Add(hosttest.Patience)))
	_, err = fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", w.token(w.alice, "a"))
	hosttest.Check(t, err)
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	like(t, says(t, r), "^400 .*not come whole")
}

// The HTTP door lets nobody take more than 10 s to send a request, which is no limit for the answer
// either: that may take longer than a client's patience of 60 s, if it hears of progress.
func TestACommandThatIsSilentForLongerThanARequestMayTake(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	w := newWeb(t, mcp.HTTPOptions{SendTime: 5 * time.Second})
	silent(w, w.token(w.alice, "a"), 12)
}

// silent runs a command that is silent for some seconds, and then until its answer has begun.
func silent(w *web, token string, seconds int) {
	w.t.Helper()
	dir := hosttest.Dir(w.t)
	run := func(begun string) string {
		return fmt.Sprintf(`{"command":"sleep %d; until [ -e %s ]; do sleep 0.1; done; echo done","wait_s":200}`,
			seconds, filepath.Join(dir, begun))
	}
	ask := func(begun, body string, header ...string) {
		r := w.ask("POST", token, body, header...)
		lines := bufio.NewReader(r.Body)
		var text bytes.Buffer
		for {
			line, err := lines.ReadString('\n')
			if text.Len() == 0 {
				if err := os.WriteFile(filepath.Join(dir, begun), nil, 0o600); err != nil {
					w.t.Error(err)
				}
			}
			if text.WriteString(line); err != nil {
				break
			}
		}
		like(w.t, text.String(), `(?s)notifications/progress.* exited 0 .*done`)
	}
	var all sync.WaitGroup
	defer all.Wait()
	body, header := newMessage("terminal_run", run("new"))
	all.Go(func() { ask("new", body, header...) })
	session := w.begin(token)
	all.Go(func() { ask("old", message("terminal_run", run("old")), session) })
}
