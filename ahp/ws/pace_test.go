package ws

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
)

// What a key sends is read at a pace, whatever it is and whoever it says it is, and on all of its
// connections together. The pace is 4,000 messages and control frames a second and 8 MiB, of which
// one second's worth may come at once.
func TestWhatAKeySendsIsReadAtAPace(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	w := newWorld(t)
	token := w.token(authz.Observer, "many")
	ping := func(s *socket) { check(t, s.WriteMessage(websocket.PingMessage, nil)) }
	unknown := func(s *socket) { s.send(`{"jsonrpc":"2.0","method":"x"}`) }
	large := func(s *socket) { s.send(`{"jsonrpc":"2.0","result":%q}`, strings.Repeat("x", 1<<19)) }
	for _, c := range []struct {
		name string
		send func(*socket)
		n    int
		late time.Duration // at least
	}{
		{"pings", ping, 6000, 400 * time.Millisecond},
		{"messages", unknown, 6000, 400 * time.Millisecond},
		{"bytes", large, 28, 600 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			time.Sleep(time.Second) // until everything may come at once again
			start := time.Now()
			var sending sync.WaitGroup
			for i := range 2 {
				s := w.dial(token)
				s.initialize(fmt.Sprint("reader", i)) // for which there is little time
				sending.Go(func() {
					done := make(chan struct{})
					s.SetPongHandler(func(data string) error {
						if data == "last" {
							close(done)
						}
						return nil
					})
					ended := make(chan error, 1)
					go func() { // the answers
						for {
							if _, _, err := s.ReadMessage(); err != nil {
								ended <- err
								return
							}
						}
					}()
					for range c.n / 2 {
						c.send(s)
					}
					check(t, s.WriteMessage(websocket.PingMessage, []byte("last")))
					select {
					case <-done:
					case err := <-ended:
						t.Errorf("the connection has ended: %v", err)
					}
				})
			}
			sending.Wait()
			if took := time.Since(start); took < c.late {
				t.Errorf("all was read in %v", took)
			}
		})
	}
}

// BenchmarkEchoAmongAbusers is an echo beside 32 connections of one observer, which send what takes
// a host longest to refuse.
func BenchmarkEchoAmongAbusers(b *testing.B) {
	const abusers = 32
	var keys strings.Builder
	for i := range 90_000 {
		fmt.Fprintf(&keys, `"k%d":1,`, i)
	}
	object := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{` + keys.String() + `"z":1}}`
	array := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[` +
		strings.Repeat("[],", 300_000) + `0]}}`
	for _, kind := range []string{"none", "keys", "arrays", "pings"} {
		b.Run(kind, func(b *testing.B) {
			w := newWorld(b, func(c *Config) { c.MaxFrameBytes = 2 << 20 })
			token := w.token(authz.Observer, "abuser")
			s := w.dial(w.token(authz.Admin, "typist")) // of the same key, and not paced with it
			s.initialize("typist")
			s.create("typist", "cat", "stty -icanon -echo; exec cat")
			s.send(`{"jsonrpc":"2.0","id":9,"method":"subscribe","params":{"channel":"ahp-terminal:/cat"}}`)
			s.until(`"id":9`)
			stop := make(chan struct{})
			var abusing sync.WaitGroup
			var sockets []*socket
			for range abusers {
				if kind == "none" {
					break
				}
				a := w.dial(token)
				sockets = append(sockets, a)
				go func() { // the answers
					for {
						if _, _, err := a.ReadMessage(); err != nil {
							return
						}
					}
				}()
				abusing.Go(func() { abuse(a, kind, object, array, stop) })
			}
			time.Sleep(time.Second) // beyond what may come at once
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				s.send(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":`+
					`"ahp-terminal:/cat","clientSeq":%d,"action":{"type":"terminal/input",`+
					`"data":"<%d>\n"}}}`, i+1, i)
				s.until(fmt.Sprintf("<%d>", i))
				took = append(took, time.Since(start))
				time.Sleep(5 * time.Millisecond)
			}
			close(stop)
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
			for _, a := range sockets {
				a.Close() // it may be held up in the middle of a message
			}
			abusing.Wait()
		})
	}
}

// manyPings are masked empty pings (RFC 6455 section 5.2).
var manyPings = []byte(strings.Repeat("\x89\x80\x00\x00\x00\x00", 10_000))

// abuse sends until stop is closed, or the connection.
func abuse(a *socket, kind, object, array string, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		var err error
		switch kind {
		case "keys":
			err = a.WriteMessage(websocket.TextMessage, []byte(object))
		case "arrays":
			err = a.WriteMessage(websocket.TextMessage, []byte(array))
		case "pings":
			_, err = a.NetConn().Write(manyPings) // many at once, so that the host is what is busy
		}
		if err != nil {
			return
		}
	}
}
