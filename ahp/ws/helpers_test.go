package ws

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/authz"
	"termhost/keys"
)

func TestMain(m *testing.M) {
	if socket := os.Getenv(childSocket); socket != "" {
		child(socket)
		return
	}
	goleak.VerifyTestMain(m)
}

// patience bounds what a test waits for and must come.
const patience = 20 * time.Second

// world is a host with its HTTP door on a TCP port, and a key that mints tokens.
type world struct {
	t         testing.TB
	host      *host.Host
	authority *authz.Authority
	grant     authz.Grant
	server    *Server
	addr      string
	log       *syncBuffer
}

// syncBuffer keeps what is logged.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func newWorld(t testing.TB, change ...func(*Config)) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, log: &syncBuffer{}}
	log := slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h, err := host.New(host.Config{Shell: "/bin/sh", Version: "test", MaxExited: 64, Log: log})
	check(t, err)
	w.host = h
	public, _, err := ed25519.GenerateKey(rand.Reader)
	check(t, err)
	key, err := ssh.NewPublicKey(public)
	check(t, err)
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))) + " alice"
	directory, err := authz.NewDirectory([]authz.Entry{{Name: "alice", Role: authz.Admin, Keys: []string{line}}})
	check(t, err)
	ring, err := keys.Open(keys.Options{Lines: directory.Lines(), Home: dir, StateDir: dir})
	check(t, err)
	tokens, err := keys.OpenTokens(keys.TokenOptions{StateDir: dir, Rand: rand.Reader})
	check(t, err)
	w.authority = authz.NewAuthority(authz.AuthorityOptions{Ring: ring, Tokens: tokens, Directory: directory, Clock: time.Now})
	w.grant, err = w.authority.Key("alice", key, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	check(t, err)
	cfg := Config{Host: h, Authority: w.authority, Log: log}
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
		check(t, h.Shutdown(ctx))
		check(t, w.server.Shutdown(ctx))
		serving.Wait()
		check(t, w.authority.Close())
		check(t, ring.Close())
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
	secret, _, err := w.authority.Mint(w.grant, name, role, time.Hour)
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
	lines := append([]string{"GET " + target + " HTTP/1.1", "Host: " + hostHeader, "Connection: Upgrade", "Upgrade: websocket",
		"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}, header...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// socket is a WebSocket of a test.
type socket struct {
	*websocket.Conn
	t testing.TB
}

func (w *world) dial(token string) *socket {
	w.t.Helper()
	header := http.Header{"Authorization": {"Bearer " + token}}
	c, resp, err := websocket.DefaultDialer.Dial("ws://"+w.addr+"/ahp", header)
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
	s.SetReadDeadline(time.Now().Add(patience))
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
	s.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["0.5.0"],"clientId":%q}}`, clientID)
	s.until(`"id":1,"result"`)
}

// closed reads to the end and returns the close code and reason.
func (s *socket) closed() (int, string) {
	s.t.Helper()
	s.SetReadDeadline(time.Now().Add(patience))
	for {
		if _, _, err := s.ReadMessage(); err != nil {
			if ce, ok := err.(*websocket.CloseError); ok {
				return ce.Code, ce.Text
			}
			s.t.Fatalf("closed without a word: %v", err)
		}
	}
}

// usage is what the process holds.
type usage struct {
	bytes      uint64 // heap and stacks, after a collection
	goroutines int
}

func memory() usage {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{bytes: m.HeapInuse + m.StackInuse, goroutines: runtime.NumGoroutine()}
}
