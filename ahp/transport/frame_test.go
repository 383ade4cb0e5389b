package transport_test

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gorilla/websocket"

	"termhost/ahp/transport"
)

// framed puts messages in frames, behind what was there before.
func framed(f transport.Framer, before []byte, msgs ...[]byte) []byte {
	for _, m := range msgs {
		var at int
		before, at = f.BeginFrame(before)
		before = f.EndFrame(append(before, m...), at)
	}
	return before
}

// messages have the sizes at which the head of a frame becomes longer (RFC 6455 section 5.2).
func messages() (list [][]byte) {
	for i, n := range []int{1, 2, 125, 126, 127, 1000, 65535, 65536, 70000, 3} {
		list = append(list, bytes.Repeat([]byte{'a' + byte(i)}, n))
	}
	return list
}

func TestFramesAreSentInOnePieceAndReadOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, client := pair(t, 1<<20)
		gone := serveReads(w)
		var all []byte
		for _, m := range messages() {
			all = append(all, framed(w, nil, m)...)
		}
		if got := framed(w, nil, messages()...); !bytes.Equal(got, all) {
			t.Error("frames in one buffer are not those of each message")
		}
		sent := make(chan error, 2)
		go func() {
			for range 2 {
				sent <- w.WriteFrames(all)
			}
		}()
		got := make([]byte, 2*len(all))
		n, err := client.NetConn().Read(got) // a pipe: it reads of one write at most
		if err != nil || !bytes.Equal(got[:n], all) {
			t.Errorf("one read brings %d bytes of %d: %v", n, len(all), err)
		}
		for i, want := range messages() {
			if kind, msg, err := client.ReadMessage(); err != nil ||
				kind != websocket.TextMessage || !bytes.Equal(msg, want) {
				t.Fatalf("message %d is of kind %d and has %d bytes: %v", i, kind, len(msg), err)
			}
		}
		for range 2 {
			if err := <-sent; err != nil {
				t.Error(err)
			}
		}
		client.Close()
		<-gone
		w.Finish()
	})
}

// serveReads reads until the connection ends, as a server does.
func serveReads(w *transport.WebSocket) (gone chan struct{}) {
	gone = make(chan struct{})
	go func() {
		defer close(gone)
		for {
			if _, err := w.Read(); err != nil {
				return
			}
		}
	}()
	return gone
}

// The answers to pings are sent by another goroutine than frames are.
func TestControlFramesStandBetweenFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, client := pair(t, 1<<20)
		gone := serveReads(w)
		const rounds = 100
		pongs := 0
		client.SetPongHandler(func(string) error { pongs++; return nil })
		var sending sync.WaitGroup
		sending.Go(func() {
			for range rounds {
				if err := w.WriteFrames(framed(w, nil, messages()...)); err != nil {
					t.Error(err)
				}
				if err := w.Write([]byte("single")); err != nil {
					t.Error(err)
				}
			}
		})
		sending.Go(func() {
			for i := range rounds {
				ping := fmt.Append(nil, i)
				if err := client.WriteMessage(websocket.PingMessage, ping); err != nil {
					t.Error(err)
				}
			}
		})
		for range rounds {
			for i, want := range append(messages(), []byte("single")) {
				if _, msg, err := client.ReadMessage(); err != nil || !bytes.Equal(msg, want) {
					t.Fatalf("message %d has %d bytes: %v", i, len(msg), err)
				}
			}
		}
		sending.Wait()
		if pongs == 0 {
			t.Error("no ping was answered")
		}
		client.Close()
		<-gone
		w.Finish()
	})
}

func TestNoFrameFollowsAClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, client := pair(t, 1<<20)
		gone := serveReads(w)
		go func() {
			w.Close("because")
			if err := w.WriteFrames(framed(w, nil, []byte("late"))); err == nil {
				t.Error("frames were sent behind a close frame")
			}
			<-gone
			w.Finish()
		}()
		if _, msg, err := client.ReadMessage(); err == nil {
			t.Errorf("%q came", msg)
		}
		if rest, _ := io.ReadAll(client.NetConn()); len(rest) > 0 {
			t.Errorf("behind the close frame came %q", rest)
		}
		client.Close()
	})
}

func TestAClientSendsNoFramesOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, client := pair(t, 1<<20)
		gone := serveReads(w)
		c := transport.NewWebSocket(client, 1<<20, nil, nil)
		if err := c.WriteFrames(framed(c, nil, []byte("x"))); err == nil {
			t.Error("a client has sent a frame that is not masked")
		}
		c.Close(transport.Goodbye)
		<-gone
		w.Finish()
		c.Finish()
	})
}

// Each message is the reader's own, whatever the sizes of those before it, and has no more memory
// than about twice its size.
func TestMessagesOfAllSizesAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const largest = 300_000
		w, client := pair(t, largest)
		sizes := []int{0, 1, 511, 512, 513, 70_000, 70_000, 10, 65535, 65536, 65537, largest, 2, 2}
		go func() {
			for i, n := range sizes {
				msg := bytes.Repeat([]byte{'a' + byte(i)}, n)
				if err := client.WriteMessage(websocket.TextMessage, msg); err != nil {
					t.Error(err)
				}
			}
			client.Close()
		}()
		var all [][]byte
		for range sizes {
			msg, err := w.Read()
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, msg)
		}
		for i, msg := range all {
			if want := bytes.Repeat([]byte{'a' + byte(i)}, sizes[i]); !bytes.Equal(msg, want) {
				t.Errorf("message %d has %d bytes, want %d", i, len(msg), sizes[i])
			}
			if room := cap(msg); room > 2*len(msg)+64 && room > 512 {
				t.Errorf("message %d, of %d bytes, has a buffer of %d", i, len(msg), room)
			}
		}
		if _, err := w.Read(); err == nil {
			t.Error("there was another message")
		}
		w.Finish()
	})
}
