package transport_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"termhost/ahp/transport"
)

// hijacked gives the upgrader a connection without an HTTP server.
type hijacked struct {
	http.ResponseWriter
	conn net.Conn
	rw   *bufio.ReadWriter
}

func (h hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) { return h.conn, h.rw, nil }

// pair returns a server's transport and a client's WebSocket, connected by a pipe.
func pair(t *testing.T, max int) (*transport.WebSocket, *websocket.Conn) {
	t.Helper()
	near, far := net.Pipe()
	made := make(chan *websocket.Conn)
	go func() {
		conn := transport.NewProgress(near, 0)
		rw := bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn))
		req, err := http.ReadRequest(rw.Reader)
		if err != nil {
			t.Error(err)
		}
		w := transport.ExplainTooLong(hijacked{conn: conn, rw: rw}, max)
		ws, err := new(websocket.Upgrader).Upgrade(w, req, nil)
		if err != nil {
			t.Error(err)
		}
		made <- ws
	}()
	d := websocket.Dialer{NetDial: func(string, string) (net.Conn, error) { return far, nil }}
	client, _, err := d.Dial("ws://localhost/", nil)
	if err != nil {
		t.Fatal(err)
	}
	return transport.NewWebSocket(<-made, max, nil, nil), client
}

func TestASilentPeerIsNoticedWithinAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, client := pair(t, 1<<20)
		// It takes what it is sent, and sends nothing.
		go io.Copy(io.Discard, client.NetConn())
		start := time.Now()
		_, err := w.Read()
		if after := time.Since(start); err == nil || after > time.Minute {
			t.Errorf("after %v: %v", after, err)
		}
		w.Finish()
		client.Close()
	})
}

func TestAPeerThatAnswersPingsStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, client := pair(t, 1<<20)
		go func() {
			for { // gorilla answers pings while it reads
				if _, _, err := client.ReadMessage(); err != nil {
					return
				}
			}
		}()
		go func() {
			time.Sleep(24 * time.Hour)
			client.WriteMessage(websocket.TextMessage, []byte("hello"))
		}()
		if msg, err := w.Read(); string(msg) != "hello" {
			t.Errorf("%q %v", msg, err)
		}
		w.Close("goodbye")
		w.Finish()
		client.Close()
	})
}

func TestAPeerThatTakesNothingIsGivenUpAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, client := pair(t, 1<<20)
		start := time.Now()
		err := w.Write(make([]byte, 1000))
		after := time.Since(start)
		if !errors.Is(err, transport.ErrStalled) || after < transport.Stall ||
			after > transport.Stall*5/4 {
			t.Errorf("after %v: %v", after, err)
		}
		w.Close(err.Error())
		w.Finish()
		client.Close()
	})
}

func TestAPeerThatIsSlowGetsItsMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, client := pair(t, 1<<20)
		msg := bytes.Repeat([]byte("x"), 100)
		go func() { // it takes a byte every half minute, for an hour
			r := client.NetConn()
			got := make([]byte, 0, 200)
			for len(got) < 2+len(msg) {
				time.Sleep(30 * time.Second)
				var b [1]byte
				if _, err := r.Read(b[:]); err != nil {
					t.Errorf("after %d bytes: %v", len(got), err)
					return
				}
				got = append(got, b[0])
			}
			if !bytes.Equal(got[2:], msg) {
				t.Errorf("got %q", got)
			}
			client.Close()
		}()
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			w.Read()
		}()
		if err := w.Write(msg); err != nil {
			t.Error(err)
		}
		<-gone
		w.Finish()
	})
}

func TestThePeerIsToldWhyAWebSocketEnds(t *testing.T) {
	// closes returns the server's side; sends the client's.
	type action func(w *transport.WebSocket, client *websocket.Conn)
	closes := func(reason string) action {
		return func(w *transport.WebSocket, _ *websocket.Conn) { w.Close(reason) }
	}
	sends := func(kind int, payload string) action {
		return func(_ *transport.WebSocket, client *websocket.Conn) {
			client.WriteMessage(kind, []byte(payload))
		}
	}
	for _, c := range []struct {
		name   string
		act    action
		code   int
		reason string
	}{
		{"a reason", closes("because"), websocket.ClosePolicyViolation, "because"},
		{"nothing", closes(transport.Goodbye), websocket.CloseNormalClosure, "goodbye"},
		{"a failure", closes(transport.InternalError), websocket.CloseInternalServerErr,
			"internal error; the host's log says more"},
		{"a reason that is too long", closes(strings.Repeat("é", 100)),
			websocket.ClosePolicyViolation, strings.Repeat("é", 61)},
		{"a binary frame", sends(websocket.BinaryMessage, "{}"), websocket.CloseUnsupportedData,
			"binary frames are not supported: send each message as a text frame"},
		{"text that is not UTF-8", sends(websocket.TextMessage, "{\"x\":\"\xff\"}"),
			websocket.CloseInvalidFramePayloadData,
			"a text frame is not valid UTF-8: write bytes that are none as U+FFFD"},
		{"a message that is too long", sends(websocket.TextMessage, strings.Repeat("x", 101)),
			websocket.CloseMessageTooBig, "a message was longer than 100 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, client := pair(t, 100)
				done := make(chan struct{})
				go func() {
					defer close(done)
					for {
						if _, err := w.Read(); err != nil {
							w.Close("goodbye")
							w.Finish()
							return
						}
					}
				}()
				go c.act(w, client)
				_, _, err := client.ReadMessage()
				var closed *websocket.CloseError
				if !errors.As(err, &closed) || closed.Code != c.code || closed.Text != c.reason {
					t.Errorf("%v", err)
				}
				client.Close()
				<-done
			})
		})
	}
}
