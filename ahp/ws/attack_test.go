package ws

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"termhost/authz"
)

// manyFrames is how often each attack is tried.
func manyFrames() int {
	if testing.Short() {
		return 50
	}
	return 1000
}

// state is what no attack may change.
func (w *world) state() string {
	st := w.host.Stats()
	return fmt.Sprintf("%d terminals, %d exited, %d clients", st.Terminals, st.Exited, st.Clients)
}

func TestMalformedMessagesAreAnsweredAndChangeNothing(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.RequestsPerSecond = -1 })
	s := w.dial(w.token(authz.Operator, "agent"))
	s.initialize("me")
	before := w.state()
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for _, c := range []struct{ name, message, answer string }{
		{"no JSON", "{", `{"code":-32700,`},
		{"nothing", "", `{"code":-32700,`},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"disposeTerminal"}]`, `{"code":-32600,`},
		{"null", `null`, `{"code":-32600,`},
		{"a string", `"ping"`, `{"code":-32600,`},
		{"deep nesting", `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + deep + `}`, `{"code":-32600,`},
		{"very deep nesting", strings.Repeat("[", 100_000), `{"code":-32700,`},
		{"a key twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, `{"code":-32600,`},
		{"a key twice in two cases", `{"jsonrpc":"2.0","id":1,"method":"reconnect","params":{"clientId":"me","CLIENTID":"you"}}`, `{"code":-32600,`},
		{"no method", `{"jsonrpc":"2.0","id":1}`, `{"code":-32600,`},
		{"an unknown method", `{"jsonrpc":"2.0","id":1,"method":"shutdown"}`, `{"code":-32601,`},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"createTerminal"}`, `{"code":-32602,`},
		{"an action without a type", `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-root://","clientSeq":1,"action":{}}}`, `{"code":-32602,`},
		{"an action that nobody knows", `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-root://","clientSeq":1,"action":{"type":"x"}}}`, `"rejectionReason":`},
	} {
		n := manyFrames()
		if len(c.message) > 1000 {
			n = min(n, 100)
		}
		go func() {
			for range n {
				s.send("%s", c.message)
			}
		}()
		for i := range n {
			if msg := s.next(); !strings.Contains(msg, c.answer) {
				t.Fatalf("%s, the %dth: %s", c.name, i, msg)
			}
		}
	}
	s.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	s.until(`"id":7,"result":null`)
	if after := w.state(); after != before {
		t.Errorf("it was %s and is %s", before, after)
	}
}

// frame is a WebSocket frame as a client sends it, or as no client should.
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
			code := int(binary.BigEndian.Uint16(payload))
			if code == websocket.CloseMessageTooBig && string(payload[2:]) != "a message was longer than 65536 bytes" {
				t.Errorf("the host gives the reason %q", payload[2:])
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
	_, err = io.WriteString(c, handshake("/ahp", w.addr, append(header, "Authorization: Bearer "+token)...))
	check(w.t, err)
	r := bufio.NewReader(c)
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		w.t.Fatalf("%v %v", resp, err)
	}
	return c, r, resp.Header
}

func TestMalformedFramesCloseTheirConnectionOnly(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.MaxFrameBytes = 64 << 10 })
	token := w.token(authz.Operator, "agent")
	healthy := w.dial(token)
	healthy.initialize("healthy")
	before := w.state()
	const fin = 0x80
	long := bytes.Repeat([]byte(" "), 40<<10)
	for _, c := range []struct {
		name string
		send []byte
		code int
	}{
		{"a binary frame", frame(fin|websocket.BinaryMessage, true, 2, []byte("{}")), websocket.CloseUnsupportedData},
		{"text that is not UTF-8", frame(fin|websocket.TextMessage, true, 3, []byte("\"\xff\"")), websocket.CloseInvalidFramePayloadData},
		{"a frame of 2^62 bytes", frame(fin|websocket.TextMessage, true, 1<<62, []byte("x")), websocket.CloseMessageTooBig},
		{"a frame of 2^63 bytes", frame(fin|websocket.TextMessage, true, 1<<63, []byte("x")), websocket.CloseMessageTooBig},
		{"a frame above the limit", frame(fin|websocket.TextMessage, true, 64<<10+1, nil), websocket.CloseMessageTooBig},
		{"fragments above the limit", append(frame(websocket.TextMessage, true, uint64(len(long)), long), frame(0, true, uint64(len(long)), long)...), websocket.CloseMessageTooBig},
		{"an unmasked frame", frame(fin|websocket.TextMessage, false, 2, []byte("{}")), websocket.CloseProtocolError},
		{"a compressed frame", frame(fin|0x40|websocket.TextMessage, true, 2, []byte("{}")), websocket.CloseProtocolError},
		{"an unknown opcode", frame(fin|3, true, 0, nil), websocket.CloseProtocolError},
		{"a continuation of nothing", frame(fin, true, 0, nil), websocket.CloseProtocolError},
		{"a ping that is too long", frame(fin|websocket.PingMessage, true, 126, make([]byte, 126)), websocket.CloseProtocolError},
		{"a close with a wrong code", append([]byte{fin | websocket.CloseMessage, 0x82, 0, 0, 0, 0}, 0, 5), websocket.CloseProtocolError},
	} {
		for i := range manyFrames() {
			conn, r, _ := w.upgraded(token)
			conn.Write(c.send) // an error: the host has closed already
			if code := closeOf(t, conn, r); code != c.code {
				t.Fatalf("%s, the %dth: closed with %d, want %d", c.name, i, code, c.code)
			}
			conn.Close()
		}
	}
	healthy.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	healthy.until(`"id":7,"result":null`)
	if after := w.state(); after != before {
		t.Errorf("it was %s and is %s", before, after)
	}
}

func TestNothingIsCompressed(t *testing.T) {
	w := newWorld(t)
	c, _, header := w.upgraded(w.token(authz.Operator, "agent"), "Sec-WebSocket-Extensions: permessage-deflate")
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
		_, err := c.Write(frame(0x81, true, 1000, []byte(`{"jsonrpc":"2.0","id":1,"method":"createTermi`)))
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
	w := newWorld(t)
	silent := w.silent(maxPending + 100)
	for i, c := range silent[maxPending:] {
		c.SetReadDeadline(time.Now().Add(headerTimeout / 2))
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("silent connection %d is held: %v", maxPending+i, err)
		}
	}
	for deadline := time.Now().Add(patience); w.server.pending.Load() != maxPending; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) { // what the server closes counts until it has noticed
			t.Fatalf("%d silent connections are held, want %d", w.server.pending.Load(), maxPending)
		}
	}
	silent[0].Close()
	silent[1].Close()
	w.dialSoon().initialize("real")
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

// dialSoon connects as soon as there is room.
func (w *world) dialSoon() *socket {
	w.t.Helper()
	header := http.Header{"Authorization": {"Bearer " + w.token(authz.Operator, "soon")}}
	deadline := time.Now().Add(patience)
	for {
		c, _, err := websocket.DefaultDialer.Dial("ws://"+w.addr+"/ahp", header)
		if err == nil {
			w.t.Cleanup(func() { c.Close() })
			return &socket{c, w.t}
		}
		if time.Now().After(deadline) {
			w.t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}
