package ws

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
	"termhost/keys"
)

func TestMain(m *testing.M) {
	hosttest.Main(m, hosttest.Program{Variable: childSocket, Run: child})
}

// patience is how long a test waits for what must come.
const patience = hosttest.Patience

// world is a host with its HTTP door on a TCP port, and a key that mints tokens.
type world struct {
	t         testing.TB
	host      *host.Host
	authority *authz.Authority
	grant     authz.Grant
	server    *Server
	addr      string
	log       hosttest.Log
}

func newWorld(t testing.TB, change ...func(*Config)) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t}
	log := w.log.Logger()
	public, _, err := ed25519.GenerateKey(rand.Reader)
	check(t, err)
	key, err := ssh.NewPublicKey(public)
	check(t, err)
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))) + " alice"
	w.authority = hosttest.Authority(t, keys.Options{Home: dir, StateDir: dir},
		authz.Entry{Name: "alice", Role: authz.Admin, Keys: []string{line}})
	w.host = hosttest.New(t, func(c *host.Config) { c.Log = log })
	loopback := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}
	w.grant, err = w.authority.AuthenticateKey("alice", key, loopback)
	check(t, err)
	cfg := Config{Host: w.host, Authority: w.authority, Log: log}
	for _, f := range change {
		f(&cfg)
	}
	w.server = New(cfg)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	w.addr = l.Addr().String()
	var serving sync.WaitGroup
	serving.Go(func() { check(t, w.server.Serve(l)) })
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		w.server.Stop()
		check(t, w.host.Shutdown(ctx))
		check(t, w.server.Shutdown(ctx))
		serving.Wait()
	})
	return w
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// token mints a token of a role.
func (w *world) token(role authz.Role, name string) string {
	w.t.Helper()
	secret, _, err := w.authority.MintToken(w.grant,
		authz.TokenRequest{Name: name, Role: role, TTL: time.Hour})
	check(w.t, err)
	return secret
}

// raw sends bytes on a connection of its own and returns the status and text of
// the answer.
func (w *world) raw(request string) (status int, body string) {
	w.t.Helper()
	c, err := net.Dial("tcp", w.addr)
	check(w.t, err)
	defer c.Close()
	return exchange(w.t, c, request)
}

func exchange(t testing.TB, c net.Conn, request string) (status int, body string) {
	t.Helper()
	c.SetDeadline(time.Now().Add(patience))
	_, err := io.WriteString(c, request)
	check(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		b, err := io.ReadAll(resp.Body)
		check(t, err)
		body = string(b)
	}
	resp.Body.Close()
	return resp.StatusCode, body
}

// handshake is an upgrade request; each header is a whole line.
func handshake(target, hostHeader string, header ...string) string {
	lines := append([]string{"GET " + target + " HTTP/1.1", "Host: " + hostHeader,
		"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}, header...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// bearer is the header that has a token.
func bearer(token string) http.Header {
	return http.Header{"Authorization": {"Bearer " + token}}
}

// socket is a client's end of a WebSocket.
type socket struct {
	*websocket.Conn
	t testing.TB
}

func (w *world) dial(token string) *socket {
	w.t.Helper()
	c, resp, err := websocket.DefaultDialer.Dial("ws://"+w.addr+"/ahp", bearer(token))
	if err != nil {
		w.t.Fatalf("dial: %v (%v)", err, resp)
	}
	w.t.Cleanup(func() { c.Close() })
	return &socket{c, w.t}
}

func (s *socket) send(format string, args ...any) {
	s.t.Helper()
	s.SetWriteDeadline(time.Now().Add(patience))
	check(s.t, s.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, format, args...)))
}

// next returns the next message.
func (s *socket) next() string {
	s.t.Helper()
	s.SetReadDeadline(time.Now().Add(slowtest.PatienceOf(s.t)))
	_, msg, err := s.ReadMessage()
	if err != nil {
		s.t.Fatalf("read: %v", err)
	}
	return string(msg)
}

// until reads on to a message that contains text.
func (s *socket) until(text string) string {
	s.t.Helper()
	for {
		if msg := s.next(); strings.Contains(msg, text) {
			return msg
		}
	}
}

func (s *socket) initialize(clientID string) {
	s.t.Helper()
	s.send("%s", hello(clientID))
	s.until(`"id":1,"result"`)
}

// hello is the message that initializes a connection.
func hello(clientID string, subscriptions ...string) string {
	list, _ := json.Marshal(subscriptions) // strings can be encoded
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{`+
		`"channel":"ahp-root://","protocolVersions":["0.5.0"],"clientId":%q,`+
		`"initialSubscriptions":%s}}`, clientID, list)
}

// create makes a terminal that runs a script of /bin/sh with environment variables,
// each of which is given as a name and a value.
func (s *socket) create(clientID, name, script string, env ...string) {
	s.t.Helper()
	s.send(`{"jsonrpc":"2.0","id":"create %s","method":"createTerminal","params":%s}`,
		name, creation(clientID, name, script, env...))
	if msg := s.until(`"id":"create ` + name); !strings.Contains(msg, `"result":null`) {
		s.t.Fatal(msg)
	}
}

// creation is the params of createTerminal; see create.
func creation(clientID, name, script string, env ...string) string {
	vars := map[string]string{}
	for i := 0; i+1 < len(env); i += 2 {
		vars[env[i]] = env[i+1]
	}
	encoded, _ := json.Marshal(vars) // strings can be encoded
	return fmt.Sprintf(`{"channel":"ahp-terminal:/%s","claim":{"kind":"client","clientId":%q},`+
		`"_meta":{"termhost":{"command":"/bin/sh","args":["-c",%q],"env":%s}}}`,
		name, clientID, script, encoded)
}

func (s *socket) subscribe(name string) {
	s.t.Helper()
	s.send(`{"jsonrpc":"2.0","id":"subscribe %s","method":"subscribe",`+
		`"params":{"channel":"ahp-terminal:/%[1]s"}}`, name)
	if msg := s.until(`"id":"subscribe ` + name); !strings.Contains(msg, `"result":`) {
		s.t.Fatal(msg)
	}
}

// dispatch sends an action on a terminal; format and args make its JSON.
func (s *socket) dispatch(name, format string, args ...any) {
	s.t.Helper()
	s.send(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/%s",`+
		`"clientSeq":1,"action":%s}}`, name, fmt.Sprintf(format, args...))
}

// types sends a line of input.
func (s *socket) types(name, line string) {
	s.t.Helper()
	s.dispatch(name, `{"type":"terminal/input","data":"%s\r"}`, line)
}

// claims claims a terminal.
func (s *socket) claims(name, clientID string) {
	s.t.Helper()
	s.dispatch(name, `{"type":"terminal/claimed",`+
		`"claim":{"kind":"client","clientId":%q}}`, clientID)
}

// closed reads to the end and returns the code and reason of the close frame.
func (s *socket) closed() (int, string) {
	s.t.Helper()
	s.SetReadDeadline(time.Now().Add(slowtest.PatienceOf(s.t)))
	for {
		if _, _, err := s.ReadMessage(); err != nil {
			if ce, ok := err.(*websocket.CloseError); ok {
				return ce.Code, ce.Text
			}
			s.t.Fatalf("closed without a close frame: %v", err)
		}
	}
}

// usage is what the process uses.
type usage struct {
	bytes      uint64 // of heap and stacks, after a collection
	goroutines int
}

func memory() usage {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{bytes: m.HeapInuse + m.StackInuse, goroutines: runtime.NumGoroutine()}
}
