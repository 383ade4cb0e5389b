package ws

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"termhost/ahp/host"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
)

// manyFrames is how many times each attack is tried.
func manyFrames(t testing.TB) int {
	if !slowtest.On(t) {
		return 20
	}
	return 100
}

// state tells what no attack may change.
func (w *world) state() string {
	st := w.host.Stats()
	return fmt.Sprintf("%d terminals, %d exited, %d clients", st.Terminals, st.Exited, st.Clients)
}

func TestMalformedMessagesAreAnsweredAndChangeNothing(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.RequestsPerSecond = -1 })
	s := w.dial(w.token(authz.Operator, "agent"))
	s.initialize("me")
	before := w.state()
	const action = `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-root://",` +
		`"clientSeq":1,"action":%s}}`
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for _, c := range []struct{ name, message, answer string }{
		{"no JSON", "{", `{"code":-32700,`},
		{"nothing", "", `{"code":-32700,`},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"disposeTerminal"}]`, `{"code":-32600,`},
		{"null", `null`, `{"code":-32600,`},
		{"a string", `"ping"`, `{"code":-32600,`},
		{"deep nesting", `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + deep + `}`,
			`{"code":-32600,`},
		{"very deep nesting", strings.Repeat("[", 100_000), `{"code":-32700,`},
		{"a key twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, `{"code":-32600,`},
		{"a key twice in two cases", `{"jsonrpc":"2.0","id":1,"method":"reconnect","params":{` +
			`"clientId":"me","CLIENTID":"you"}}`, `{"code":-32600,`},
		{"no method", `{"jsonrpc":"2.0","id":1}`, `{"code":-32600,`},
		{"an unknown method", `{"jsonrpc":"2.0","id":1,"method":"shutdown"}`, `{"code":-32601,`},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"createTerminal"}`, `{"code":-32602,`},
		{"an action without a type", fmt.Sprintf(action, `{}`), `{"code":-32602,`},
		{"an unknown action", fmt.Sprintf(action, `{"type":"x"}`), `"rejectionReason":`},
	} {
		n := manyFrames(t)
		if len(c.message) > 1000 {
			n = min(n, 100)
		}
		var sending sync.WaitGroup
		sending.Go(func() {
			for range n {
				s.send("%s", c.message)
			}
		})
		for i := range n {
			if msg := s.next(); !strings.Contains(msg, c.answer) {
				t.Fatalf("%s, the %dth: %s", c.name, i, msg)
			}
		}
		sending.Wait()
	}
	s.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	s.until(`"id":7,"result":null`)
	if after := w.state(); after != before {
		t.Errorf("it was %s and is %s", before, after)
	}
}

// frame is a WebSocket frame as a client sends it, or a malformed one.
func frame(first byte, masked bool, declared uint64, payload []byte) []byte {
	b := []byte{first, 127}
	if masked {
		b[1] |= 0x80
	}
	b = binary.BigEndian.AppendUint64(b, declared)
	if masked {
		b = append(b, 0, 0, 0, 0) // a mask of zeroes
	}
	return append(b, payload...)
}

// closeOf returns the code of the close frame that ends a connection; 0: none.
func closeOf(t *testing.T, c net.Conn, r *bufio.Reader) int {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(patience))
	for {
		head := make([]byte, 2)
		if _, err := io.ReadFull(r, head); err != nil {
			return 0
		}
		n := int(head[1])
		if n > 125 {
			t.Fatalf("a frame of the host is long: %x", head)
		}
		payload := make([]byte, n)
		if _, err := io.ReadFull(r, payload); err != nil {
			return 0
		}
		if head[0] == 0x80|websocket.CloseMessage && n >= 2 {
			code, reason := int(binary.BigEndian.Uint16(payload)), string(payload[2:])
			const tooBig = "a message was longer than 65536 bytes"
			if code == websocket.CloseMessageTooBig && reason != tooBig {
				t.Errorf("the host gives the reason %q", reason)
			}
			return code
		}
	}
}

// upgraded is a connection after its handshake.
func (w *world) upgraded(token string, header ...string) (net.Conn, *bufio.Reader, http.Header) {
	w.t.Helper()
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(patience))
	header = append(header, "Authorization: Bearer "+token)
	_, err = io.WriteString(c, handshake("/ahp", w.addr, header...))
	check(w.t, err)
	r := bufio.NewReader(c)
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		w.t.Fatalf("%v %v", resp, err)
	}
	return c, r, resp.Header
}

func TestMalformedFramesCloseTheirConnectionOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.MaxFrameBytes = 64 << 10 })
	token := w.token(authz.Operator, "agent")
	healthy := w.dial(token)
	healthy.initialize("healthy")
	before := w.state()
	unharmed := func() { // it must also read now and then, or it is closed as one whose network is gone
		healthy.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
		healthy.until(`"id":7,"result":null`)
	}
	const fin, text = 0x80, websocket.TextMessage
	half := frame(text, true, 40<<10, bytes.Repeat([]byte(" "), 40<<10))
	rest := append([]byte{0}, half[1:]...) // as a continuation
	const tooBig, invalid = websocket.CloseMessageTooBig, websocket.CloseProtocolError
	for _, c := range []struct {
		name string
		send []byte
		code int
	}{
		{"a binary frame", frame(fin|websocket.BinaryMessage, true, 2, []byte("{}")),
			websocket.CloseUnsupportedData},
		{"text that is not UTF-8", frame(fin|text, true, 3, []byte("\"\xff\"")),
			websocket.CloseInvalidFramePayloadData},
		{"a frame of 2^62 bytes", frame(fin|text, true, 1<<62, []byte("x")), tooBig},
		{"a frame of 2^63 bytes", frame(fin|text, true, 1<<63, []byte("x")), tooBig},
		{"a frame above the limit", frame(fin|text, true, 64<<10+1, nil), tooBig},
		{"fragments above the limit", append(half, rest...), tooBig},
		{"an unmasked frame", frame(fin|text, false, 2, []byte("{}")), invalid},
		{"a compressed frame", frame(fin|0x40|text, true, 2, []byte("{}")), invalid},
		{"an unknown opcode", frame(fin|3, true, 0, nil), invalid},
		{"a continuation of nothing", frame(fin, true, 0, nil), invalid},
		{"a ping that is too long", frame(fin|websocket.PingMessage, true, 126, make([]byte, 126)),
			invalid},
		{"a close with a wrong code",
			append([]byte{fin | websocket.CloseMessage, 0x82, 0, 0, 0, 0}, 0, 5), invalid},
	} {
		for i := range manyFrames(t) {
			conn, r, _ := w.upgraded(token)
			conn.Write(c.send) // an error: the host has closed already
			if code := closeOf(t, conn, r); code != c.code {
				t.Fatalf("%s, the %dth: closed with %d, want %d", c.name, i, code, c.code)
			}
			conn.Close()
			if i%50 == 0 {
				unharmed()
			}
		}
	}
	unharmed()
	if after := w.state(); after != before {
		t.Errorf("it was %s and is %s", before, after)
	}
}

func TestNothingIsCompressed(t *testing.T) {
	w := newWorld(t)
	c, _, header := w.upgraded(w.token(authz.Operator, "agent"),
		"Sec-WebSocket-Extensions: permessage-deflate")
	defer c.Close()
	if ext := header.Get("Sec-WebSocket-Extensions"); ext != "" {
		t.Errorf("the host agreed to %q", ext)
	}
}

func TestAPeerThatVanishesMidFrameIsForgotten(t *testing.T) {
	w := newWorld(t)
	token := w.token(authz.Operator, "agent")
	for range 100 {
		c, _, _ := w.upgraded(token)
		half := []byte(`{"jsonrpc":"2.0","id":1,"method":"createTermi`)
		_, err := c.Write(frame(0x81, true, 1000, half))
		check(t, err)
		c.Close()
	}
	w.connections(0)
	if st := w.state(); st != "0 terminals, 0 exited, 0 clients" {
		t.Error(st)
	}
}

// connections waits until the host has as many as it should.
func (w *world) connections(want int) {
	w.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		n := 0
		for _, v := range w.host.Stats().Connections {
			n += v
		}
		if n == want {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("there are %d connections, want %d", n, want)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestSilentPeersCannotTakeAllConnections(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.headers = time.Hour })
	silent := w.silent(maxPending + 100)
	for i, c := range silent[:100] { // those that have been silent longest
		c.SetReadDeadline(time.Now().Add(patience))
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("silent connection %d is held: %v", i, err)
		}
	}
	// A connection that the server closes counts until it has noticed that.
	deadline := time.Now().Add(patience)
	for w.server.gates[host.DoorWebSocket].Pending() != maxPending {
		if time.Now().After(deadline) {
			t.Fatalf("%d silent connections are held, want %d", w.server.gates[host.DoorWebSocket].Pending(), maxPending)
		}
		time.Sleep(time.Millisecond)
	}
	w.dial(w.token(authz.Observer, "real")).initialize("real") // there is room at once
}

func TestSilentPeersAreGoneWhenTheTimeForHeadersIsOver(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.headers = 300 * time.Millisecond })
	for i, c := range w.silent(50) {
		c.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("silent connection %d is still there", i)
		}
	}
}

// silent opens connections that never finish their requests.
func (w *world) silent(n int) []net.Conn {
	w.t.Helper()
	list := make([]net.Conn, n)
	for i := range list {
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { c.Close() })
		if i%2 == 0 {
			io.WriteString(c, "GET /ahp HTTP/1.1\r\nX: ") // and never the rest
		}
		list[i] = c
	}
	return list
}

// Whoever has not said who it is gets one answer on a connection.
func TestThereIsNoKeepAliveForStrangers(t *testing.T) {
	w := newWorld(t)
	token := w.token(authz.Observer, "known")
	ask := func(header string) (again error) {
		c, err := net.Dial("tcp", w.addr)
		check(t, err)
		defer c.Close()
		answers := bufio.NewReader(c)
		for range 2 {
			c.SetDeadline(time.Now().Add(patience))
			_, _ = io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n"+header+"\r\n")
			resp, err := http.ReadResponse(answers, nil)
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, resp.Body)
			check(t, err)
			resp.Body.Close()
		}
		return nil
	}
	for _, header := range []string{"", "X-Forwarded-For: 192.0.2.1\r\n"} {
		if ask(header) == nil {
			t.Errorf("a second answer with %q", header)
		}
	}
	known := "X-Forwarded-For: 192.0.2.1\r\nAuthorization: Bearer " + token + "\r\n"
	if err := ask(known); err != nil {
		t.Errorf("a peer with a token gets no second answer: %v", err)
	}
}

// A source that opens many connections has its own closed, and another door is not concerned.
func TestTheCrowdOfOneSourceCostsItself(t *testing.T) {
	w := &Server{gates: newGates()}
	add := func(name, addr, account string) *closeNoted {
		c := &closeNoted{}
		w.admit(&door{name: name, remote: textAddr(addr), principal: authz.Principal{ID: account}}, c)
		return c
	}
	honest := add(host.DoorWebSocket, "192.0.2.9:1", "")
	own := add(host.DoorUnix, "@", "")
	forward := add(host.DoorForward, "192.0.2.1:1", "honest")
	var first *closeNoted
	for i := range 3 * maxPending {
		addr := fmt.Sprintf("192.0.2.%d:7", 1+i%5)
		c := add(host.DoorWebSocket, addr, "")
		if first == nil {
			first = c
		}
		add(host.DoorForward, "192.0.2.1:1", fmt.Sprintf("many%d", i%5))
	}
	if honest.closed || own.closed || forward.closed || !first.closed {
		t.Errorf("closed: %v %v %v, the first of many: %v", honest.closed, own.closed,
			forward.closed, first.closed)
	}
}

// Nobody who is being answered is closed for a crowd, and whoever waits again is.
func TestTheCrowdSparesWhoIsAnswered(t *testing.T) {
	var w *world
	crowd := func() {
		for range 2 * maxPending {
			w.server.admit(newDoor(host.DoorWebSocket, textAddr("192.0.2.1:1")), &closeNoted{})
		}
	}
	answered, c := newDoor(host.DoorWebSocket, textAddr("192.0.2.1:1")), &closeNoted{}
	w = newWorld(t, func(cfg *Config) {
		cfg.Routes = []Route{{Path: "/slow", Access: Anyone,
			Handle: func(http.ResponseWriter, *http.Request, Peer) error {
				crowd()
				if c.closed {
					t.Error("it is closed while it is being answered")
				}
				return nil
			}}}
	})
	w.server.admit(answered, c)
	r := httptest.NewRequest("GET", "http://localhost/slow", nil)
	w.server.ServeHTTP(httptest.NewRecorder(),
		r.WithContext(context.WithValue(t.Context(), doorKey{}, answered)))
	if crowd(); !c.closed {
		t.Error("it is held when it has been answered")
	}
}

// closeNoted is a connection that is only closed.
type closeNoted struct {
	net.Conn
	closed bool
}

func (c *closeNoted) Close() error { c.closed = true; return nil }
