package ws

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/sys/unix"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/authz"
)

// childSocket is the variable that makes the test binary a client of a unix
// socket, for the terminals that tests run it in.
const childSocket = "TERMHOST_WS_TEST_SOCKET"

// child creates the terminal "inner" through the socket and says what came of it,
// and of the connection in the end.
func child(socket string) {
	d := websocket.Dialer{NetDial: func(string, string) (net.Conn, error) { return net.Dial("unix", socket) }}
	c, resp, err := d.Dial("ws://localhost/ahp", nil)
	if err != nil {
		fmt.Println("refused:", err)
		if resp != nil {
			_, _ = io.Copy(os.Stdout, resp.Body)
		}
		return
	}
	defer c.Close()
	for _, msg := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["0.5.0"],"clientId":"inner"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"createTerminal","params":{"channel":"ahp-terminal:/inner","claim":{"kind":"client","clientId":"inner"},"_meta":{"termhost":{"command":"/bin/sh","args":["-c","read x"]}}}}`,
	} {
		if err := c.WriteMessage(websocket.TextMessage, []byte(msg)); err != nil {
			fmt.Println("lost", err)
			return
		}
		_, answer, err := c.ReadMessage()
		fmt.Println("answer", string(answer), err)
	}
	for {
		if _, _, err := c.ReadMessage(); err != nil {
			fmt.Println("ended:", err)
			return
		}
	}
}

// unixSocket listens on a unix socket too.
func (w *world) unixSocket() string {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), "ahp.sock")
	l, err := ListenUnix(path)
	if err != nil {
		w.t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { check(w.t, w.server.ServeUnix(l)) })
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		check(w.t, w.server.Shutdown(ctx))
		serving.Wait()
	})
	return path
}

func (w *world) dialUnix(path string, header http.Header) (*socket, *http.Response, error) {
	d := websocket.Dialer{NetDial: func(string, string) (net.Conn, error) { return net.Dial("unix", path) }}
	c, resp, err := d.Dial("ws://whatever/ahp", header)
	if err != nil {
		return nil, resp, err
	}
	w.t.Cleanup(func() { c.Close() })
	return &socket{c, w.t}, resp, nil
}

// holder returns who holds a terminal.
func (w *world) holder(name string) string {
	w.t.Helper()
	list, err := w.host.List(authz.ForUID(0))
	check(w.t, err)
	for _, info := range list {
		if info.Name == name {
			return info.Holder
		}
	}
	return "nobody"
}

func TestAPeerOfTheUnixSocketIsItsUser(t *testing.T) {
	w := newWorld(t)
	path := w.unixSocket()
	st, err := os.Stat(path)
	if err != nil || st.Mode() != os.ModeSocket|0o600 {
		t.Errorf("%v %v", st.Mode(), err)
	}
	s, _, err := w.dialUnix(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.initialize("me")
	s.create("me", "mine", "read x")
	if got, want := w.holder("mine"), fmt.Sprintf("uid:%d", os.Geteuid()); got != want {
		t.Errorf("the terminal is %s's, want %s", got, want)
	}
	// A token that is sent counts for what it is good for, and for nothing if it is not.
	s, _, err = w.dialUnix(path, http.Header{"Authorization": {"Bearer " + w.token(authz.Operator, "agent")}})
	if err != nil {
		t.Fatal(err)
	}
	s.initialize("agent")
	s.create("agent", "agents", "read x")
	if got := w.holder("agents"); got != "alice/agent" {
		t.Errorf("the terminal is %s's", got)
	}
	for _, header := range []http.Header{
		{"Authorization": {"Bearer nonsense"}},
		{"Origin": {"https://evil.example"}},
	} {
		if _, resp, err := w.dialUnix(path, header); err == nil || resp == nil || resp.StatusCode != 401 && resp.StatusCode != 403 {
			t.Errorf("%v: %v %v", header, resp, err)
		}
	}
}

func TestAPeerInsideATerminalIsItsCreator(t *testing.T) {
	w := newWorld(t)
	path := w.unixSocket()
	exe, err := os.Executable()
	check(t, err)
	s := w.dial(w.token(authz.Operator, "agent"))
	s.initialize("agent")
	// Also from a process session of its own, below the terminal's.
	s.send(`{"jsonrpc":"2.0","id":2,"method":"createTerminal","params":{"channel":"ahp-terminal:/outer","claim":{"kind":"client","clientId":"agent"},"_meta":{"termhost":{"command":"/bin/sh","args":["-c","read x; setsid -w %s; echo again; %[1]s; read y"],"env":{%[2]q:%[3]q}}}}}`, exe, childSocket, path)
	s.until(`"id":2,"result":null`)
	s.subscribe("outer")
	s.send(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/outer","clientSeq":1,"action":{"type":"terminal/input","data":"\r"}}}`)
	var seen strings.Builder
	for !strings.Contains(seen.String(), `"id":2`) && !strings.Contains(seen.String(), "refused") {
		var m struct{ Params ahp.Envelope }
		check(t, json.Unmarshal([]byte(s.next()), &m))
		if a, err := ahp.DecodeAction(m.Params.Action); err == nil {
			if d, ok := a.(ahp.TerminalData); ok {
				seen.Write(d.Data)
			}
		}
	}
	if got := w.holder("inner"); got != "alice/agent" {
		t.Errorf("the inner terminal is %s's, want alice/agent's\n%s", got, seen.String())
	}
	// It is so for as long as its creator may come in, and no longer.
	check(t, w.authority.Revoke(w.grant, "agent"))
	outer, err := w.host.Find(authz.ForUID(0), "outer")
	check(t, err)
	told := "ended: websocket: close 1008 (policy violation): " + errDescended.Error()
	deadline := time.Now().Add(patience)
	for {
		st, err := w.host.Read(authz.ForUID(0), outer)
		check(t, err)
		text := st.Content[0].Text.String()
		first, second, again := strings.Cut(text, "again\r\n")
		if again && strings.Contains(first, told) && strings.Contains(second, errDescended.Error()) {
			if !strings.Contains(second, "refused:") {
				t.Errorf("the second connection was let in: %s", second)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the connection from inside goes on; it has seen:\n%s", text)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// fifo makes a named pipe, which is open until the test ends.
func fifo(t testing.TB, name string) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	check(t, unix.Mkfifo(path, 0o600))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	check(t, err)
	t.Cleanup(func() { f.Close() })
	check(t, f.SetReadDeadline(time.Now().Add(patience)))
	return f
}

// leftBehind makes the terminal "outer", for an operator, which ends and leaves a
// child behind; go lets that run. said returns its next line.
func (w *world) leftBehind() (let, said func() string) {
	path := w.unixSocket()
	exe, err := os.Executable()
	check(w.t, err)
	in, out := fifo(w.t, "in"), fifo(w.t, "out")
	s := w.dial(w.token(authz.Operator, "agent"))
	s.initialize("agent")
	script := fmt.Sprintf(`trap "" HUP; setsid /bin/sh -c 'read x <%s; exec %s >%s 2>&1' & exit 0`, in.Name(), exe, out.Name())
	s.send(`{"jsonrpc":"2.0","id":2,"method":"createTerminal","params":{"channel":"ahp-terminal:/outer","claim":{"kind":"client","clientId":"agent"},"_meta":{"termhost":{"command":"/bin/sh","args":["-c",%q],"env":{%q:%q}}}}}`, script, childSocket, path)
	s.until(`"id":2,"result":null`)
	outer, err := w.host.Find(authz.ForUID(0), "outer")
	check(w.t, err)
	<-outer.Done()
	lines := bufio.NewReader(out)
	said = func() string {
		line, err := lines.ReadString('\n')
		check(w.t, err)
		return line
	}
	return func() string {
		_, err := in.WriteString("go\n")
		check(w.t, err)
		return said()
	}, said
}

func TestWhatATerminalLeftBehindIsItsCreator(t *testing.T) {
	w := newWorld(t)
	let, said := w.leftBehind()
	if first, second := let(), said(); !strings.Contains(second, `"id":2,"result":null`) {
		t.Fatalf("it was told\n%s%s", first, second)
	}
	if got := w.holder("inner"); got != "alice/agent" {
		t.Errorf("the inner terminal is %s's, want alice/agent's", got)
	}
}

func TestWhatATerminalLeftBehindGoesWithItsCreator(t *testing.T) {
	w := newWorld(t)
	let, said := w.leftBehind()
	check(t, w.authority.Revoke(w.grant, "agent"))
	if first, second := let(), said(); !strings.Contains(first, "refused:") || !strings.Contains(second, errDescended.Error()) {
		t.Errorf("it was told\n%s%s", first, second)
	}
}

func TestAProofThatIsGoneIsNoProof(t *testing.T) {
	for _, c := range []struct{ lost, told error }{{nil, nil}, {authz.ErrChanged, errChanged}, {errors.New("removed"), errDescended}} {
		if got := proven(func(end func(error)) func() {
			if c.lost != nil {
				end(c.lost)
			}
			return func() {}
		}); got != c.told {
			t.Errorf("%v: the peer is told %v", c.lost, got)
		}
	}
}

func TestASocketFileIsReplacedOnlyIfItIsDead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ahp.sock")
	l, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ListenUnix(path); err == nil || !strings.Contains(err.Error(), "another host") {
		t.Errorf("a living socket: %v", err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	if l, err = ListenUnix(path); err != nil {
		t.Fatalf("a dead socket: %v", err)
	}
	l.Close()
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket is there after its host")
	}
	if _, err := ListenUnix(filepath.Join(t.TempDir(), strings.Repeat("x", 100))); err == nil || !strings.Contains(err.Error(), "state_dir") {
		t.Errorf("a long path: %v", err)
	}
	check(t, os.WriteFile(path, []byte("precious"), 0o600))
	if _, err := ListenUnix(path); err == nil || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("a file: %v", err)
	}
	if b, err := os.ReadFile(path); string(b) != "precious" {
		t.Errorf("the file is %q %v", b, err)
	}
}

// forward returns a connection that comes through an SSH port forward of p's.
func (w *world) forward(p authz.Principal) net.Conn {
	w.t.Helper()
	near, far := net.Pipe()
	var serving sync.WaitGroup
	serving.Go(func() { check(w.t, w.server.ServeConn(near, p)) })
	w.t.Cleanup(func() {
		far.Close()
		serving.Wait()
	})
	return far
}

func TestAForwardedPeerIsItsKeyAndNoAdmin(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.AllowedOrigins = []string{goodPage}
		c.AllowedHosts = []string{"host.example.com"}
	})
	admin := w.grant.Principal
	for _, c := range []struct {
		name    string
		status  int
		request string
	}{
		{"a loopback name", 101, handshake("/ahp", "localhost:7722")},
		{"an allowed page", 101, handshake("/ahp", "127.0.0.1:7722", "Origin: "+goodPage)},
		{"an evil page", 403, handshake("/ahp", "localhost:7722", "Origin: https://evil.example")},
		{"a page of the forwarded port", 403, handshake("/ahp", "localhost:7722", "Origin: http://localhost:7722")},
		{"a sandboxed page", 403, handshake("/ahp", "localhost:7722", "Origin: null")},
		{"a rebound name", 403, handshake("/ahp", "evil.example")},
		{"a name that is allowed on TCP", 403, handshake("/ahp", "host.example.com")},
		{"a bad token", 401, handshake("/ahp", "localhost", "Authorization: Bearer nonsense")},
	} {
		far := w.forward(admin)
		if status, body := exchange(t, far, c.request); status != c.status {
			t.Errorf("%s: %d %q, want %d", c.name, status, body, c.status)
		}
		far.Close()
	}
	// An operator's terminal stays an operator's, though the key is an admin's.
	s := w.dial(w.token(authz.Operator, "agent"))
	s.initialize("agent")
	s.create("agent", "his", "read x")
	d := websocket.Dialer{NetDial: func(string, string) (net.Conn, error) { return w.forward(admin), nil }}
	c, _, err := d.Dial("ws://localhost/ahp", nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &socket{c, t}
	f.initialize("forwarded")
	f.send(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/his","clientSeq":1,"action":{"type":"terminal/claimed","claim":{"kind":"client","clientId":"forwarded"}}}}`)
	f.until("only an admin may seize it")
	if n := w.host.Stats().Connections[host.DoorForward]; n != 1 {
		t.Errorf("%d forwarded connections", n)
	}
	c.Close()

	// A token of an admin is an operator's through this door, and stays one.
	c, _, err = d.Dial("ws://localhost/ahp", http.Header{"Authorization": {"Bearer " + w.token(authz.Admin, "high")}})
	if err != nil {
		t.Fatal(err)
	}
	f = &socket{c, t}
	f.initialize("lowered")
	f.send(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/his","clientSeq":1,"action":{"type":"terminal/claimed","claim":{"kind":"client","clientId":"lowered"}}}}`)
	f.until("only an admin may seize it")
	c.Close()
}

func TestAKeyThatMayNotForwardDoesNot(t *testing.T) {
	w := newWorld(t)
	p := w.grant.Principal
	p.NoForward = true
	near, far := net.Pipe()
	if err := w.server.ServeConn(near, p); err == nil {
		t.Error("it did")
	}
	far.SetReadDeadline(time.Now().Add(patience))
	if _, err := far.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the connection is still there: %v", err)
	}
}

// selfSigned returns a certificate for 127.0.0.1 and who trusts it.
func selfSigned(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	check(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	check(t, err)
	parsed, err := x509.ParseCertificate(der)
	check(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, pool
}

func TestTheDoorSpeaksTLS(t *testing.T) {
	cert, pool := selfSigned(t)
	w := newWorld(t, func(c *Config) { c.TLS = &tls.Config{Certificates: []tls.Certificate{cert}} })
	d := websocket.Dialer{TLSClientConfig: &tls.Config{RootCAs: pool, NextProtos: []string{"h2", "http/1.1"}}}
	c, resp, err := d.Dial("wss://"+w.addr+"/ahp", http.Header{"Authorization": {"Bearer " + w.token(authz.Operator, "agent")}})
	if err != nil {
		t.Fatalf("%v %v", err, resp)
	}
	defer c.Close()
	s := &socket{c, t}
	s.initialize("agent")
	s.create("agent", "t", "read x; head -c 300000 /dev/zero | tr '\\0' x; echo the end")
	s.subscribe("t")
	s.send(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/t","clientSeq":1,"action":{"type":"terminal/input","data":"\r"}}}`)
	s.until("the end")
	if n := w.host.Stats().Connections[host.DoorWebSocket]; n != 1 {
		t.Errorf("%d connections", n)
	}
}
