package transport_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"termhost/ahp/transport"
)

// maxFuzzed bounds a message of the fuzz targets, in bytes.
const maxFuzzed = 300

// frame is what a peer sends at once (RFC 6455 section 5.2).
type frame struct {
	first, second byte // FIN, RSV and the opcode; MASK and the length
	payload       []byte
}

// nextFrame reads a frame from p, unmasked. ok is false if p does not have a whole one.
func nextFrame(p []byte) (f frame, rest []byte, ok bool) {
	if len(p) < 2 {
		return f, nil, false
	}
	f.first, f.second = p[0], p[1]
	n, p := uint64(p[1]&0x7f), p[2:]
	switch {
	case n == 126 && len(p) >= 2:
		n, p = uint64(binary.BigEndian.Uint16(p)), p[2:]
	case n == 127 && len(p) >= 8:
		n, p = binary.BigEndian.Uint64(p), p[8:]
	case n >= 126:
		return f, nil, false
	}
	if f.second&0x80 != 0 {
		if len(p) < 4 {
			return f, nil, false
		}
		key := p[:4]
		p = p[4:]
		for i := range p[:min(n, uint64(len(p)))] {
			f.payload = append(f.payload, p[i]^key[i%4])
		}
	}
	if uint64(len(p)) < n {
		return f, nil, false
	}
	return f, p[n:], true
}

// wellFormed returns the messages that a peer's bytes begin with, up to anything that is not as it
// must be.
func wellFormed(p []byte) (messages []string) {
	var message []byte
	within := false
	for {
		f, rest, ok := nextFrame(p)
		if !ok || f.first&0x70 != 0 || f.second&0x80 == 0 {
			return messages
		}
		p = rest
		final, opcode := f.first&0x80 != 0, f.first&0x0f
		switch {
		case opcode == websocket.PingMessage || opcode == websocket.PongMessage:
			if !final || f.second&0x7f > 125 { // a long form of a short length is wrong, too
				return messages
			}
			continue
		case opcode == websocket.TextMessage && !within, opcode == 0 && within:
			message = append(message, f.payload...)
		default:
			return messages
		}
		within = !final
		if len(message) > maxFuzzed {
			return messages
		}
		if final {
			if !utf8.Valid(message) {
				return messages
			}
			messages = append(messages, string(message))
			message = nil
		}
	}
}

// accepted is a connection whose peer sends what r has, and takes everything.
type accepted struct {
	net.Conn // nil: nothing else is asked of it
	r        io.Reader
}

func (c accepted) Read(p []byte) (int, error)       { return c.r.Read(p) }
func (c accepted) Write(p []byte) (int, error)      { return len(p), nil }
func (c accepted) SetReadDeadline(time.Time) error  { return nil }
func (c accepted) SetWriteDeadline(time.Time) error { return nil }
func (c accepted) SetDeadline(time.Time) error      { return nil }
func (c accepted) Close() error                     { return nil }

// upgraded returns the server's side of a WebSocket whose client sends these bytes.
func upgraded(t *testing.T, sent []byte) *websocket.Conn {
	req := httptest.NewRequest(http.MethodGet, "/", nil)
	for name, value := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket",
		"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg=="} {
		req.Header.Set(name, value)
	}
	conn := accepted{r: bytes.NewReader(sent)}
	rw := bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn))
	w := transport.ExplainTooLong(hijacked{conn: conn, rw: rw}, maxFuzzed)
	ws, err := new(websocket.Upgrader).Upgrade(w, req, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ws
}

// FuzzFrames gives a server whatever a peer may send after the upgrade. It reads exactly the
// messages that stand before the first thing that is wrong, and then ends.
func FuzzFrames(f *testing.F) {
	masked := func(first byte, text string) (p []byte) {
		p = []byte{first, 0x80 | byte(len(text)), 1, 2, 3, 4}
		for i := range len(text) {
			p = append(p, text[i]^byte(1+i%4))
		}
		return p
	}
	text := masked(0x81, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	f.Add(append(text, masked(0x88, "\x03\xe8")...))
	f.Add(append(append(masked(0x01, "a\xc3"), masked(0x89, "ping")...), masked(0x80, "\xa9")...))
	f.Add(append(masked(0x82, "binary"), text...))
	f.Add(append(masked(0x81, "\xff"), text...))
	f.Add(append(masked(0xc1, "compressed"), text...))
	f.Add(append([]byte{0x89, 0xfe, 0, 1, 1, 2, 3, 4, 'x'}, text...))
	f.Add(append(append(masked(0x01, ""), masked(0x80, "")...), text...))
	f.Add([]byte{0x81, 0xfe, 0x01, 0x00, 0, 0, 0, 0})
	f.Add([]byte{0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
	f.Add([]byte{0x81, 0x05, 'h', 'e', 'l', 'l', 'o'})
	f.Fuzz(func(t *testing.T, sent []byte) {
		w := transport.NewWebSocket(upgraded(t, sent), maxFuzzed, nil, nil)
		defer w.Finish()
		want := wellFormed(sent)
		for i := 0; ; i++ {
			msg, err := w.Read()
			if err == nil && i < len(want) && string(msg) == want[i] {
				continue
			}
			if i < len(want) {
				t.Fatalf("message %d is %q, %v; want %q", i, msg, err, want[i])
			}
			if err == nil {
				t.Fatalf("%q was read, after which nothing is right", msg)
			}
			var closed *websocket.CloseError
			if errors.As(err, &closed) && !utf8.ValidString(closed.Text) {
				t.Errorf("the reason is %q", closed.Text)
			}
			return
		}
	})
}
