package rpc_test

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

	"termhost/ahp/rpc"
)

// hijacked lets the upgrader have a connection without a server.
type hijacked struct {
	http.ResponseWriter
	conn net.Conn
	rw   *bufio.ReadWriter
}

func (h hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) { return h.conn, h.rw, nil }

// pair returns a host's transport and a client's socket at the ends of one pipe.
func pair(t *testing.T, max int) (*rpc.WebSocket, *websocket.Conn) {
	t.Helper()
	near, far := net.Pipe()
	made := make(chan *websocket.Conn)
	go func() {
		conn := rpc.NewProgress(near, 0)
		rw := bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn))
		req, err := http.ReadRequest(rw.Reader)
		if err != nil {
			t.Error(err)
		}
		ws, err := new(websocket.Upgrader).Upgrade(rpc.ExplainTooLong(hijacked{conn: conn, rw: rw}, max), req, nil)
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
	return rpc.NewWebSocket(<-made, max, nil), client
}

func TestASilentPeerIsNoticedWithinAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, client := pair(t, 1<<20)
		// It takes what it is sent, and says nothing.
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
			for { // gorilla answers pings as it reads
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
		if after := time.Since(start); !errors.Is(err, rpc.ErrStalled) || after < rpc.Stall || after > rpc.Stall*5/4 {
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
		go func() { // a byte every half minute, an hour in all
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

func TestWhatEndsAWebSocketIsSaid(t *testing.T) {
	for _, c := range []struct {
		name   string
		act    func(w *rpc.WebSocket, client *websocket.Conn)
		code   int
		reason string
	}{
		{"a reason", func(w *rpc.WebSocket, _ *websocket.Conn) { w.Close("because") }, websocket.ClosePolicyViolation, "because"},
		{"nothing", func(w *rpc.WebSocket, _ *websocket.Conn) { w.Close("goodbye") }, websocket.CloseNormalClosure, "goodbye"},
		{"a reason that is too long", func(w *rpc.WebSocket, _ *websocket.Conn) { w.Close(strings.Repeat("é", 100)) }, websocket.ClosePolicyViolation, strings.Repeat("é", 61)},
		{"a binary frame", func(_ *rpc.WebSocket, client *websocket.Conn) {
			client.WriteMessage(websocket.BinaryMessage, []byte("{}"))
		},
			websocket.CloseUnsupportedData, "binary frames are not supported: send each message as a text frame"},
		{"text that is not UTF-8", func(_ *rpc.WebSocket, client *websocket.Conn) {
			client.WriteMessage(websocket.TextMessage, []byte("{\"jsonrpc\":\"2.0\",\"x\":\"\xff\"}"))
		},
			websocket.CloseInvalidFramePayloadData, "a text frame is not valid UTF-8: write bytes that are none as U+FFFD"},
		{"a message that is too long", func(_ *rpc.WebSocket, client *websocket.Conn) {
			client.WriteMessage(websocket.TextMessage, make([]byte, 101))
		},
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

func TestLinesAreMessages(t *testing.T) {
	in := "one\n\n  two \r\n" + strings.Repeat("x", 200) + "\nthree\nhalf"
	var out bytes.Buffer
	l := rpc.NewLines(strings.NewReader(in), &out, 100, func(string) error { return nil })
	for _, want := range []string{"one", "two", "", "three"} {
		msg, err := l.Read()
		var bad *rpc.MessageError
		if string(msg) != want || (want == "") != errors.As(err, &bad) {
			t.Errorf("%q %v, want %q", msg, err, want)
		}
	}
	if msg, err := l.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("half a line: %q %v", msg, err)
	}
	for _, msg := range []string{"a", "b"} {
		if err := l.Write([]byte(msg)); err != nil {
			t.Error(err)
		}
	}
	if out.String() != "a\nb\n" {
		t.Errorf("wrote %q", out.String())
	}
}
