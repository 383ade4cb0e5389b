package ws

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// TestLongAnswersTakeNobodysPlace: more long answers may be under way than there may be connections
// whose peers are unknown, and a connection counts again when its answer is done.
func TestLongAnswersTakeNobodysPlace(t *testing.T) {
	const n = maxPending + 10
	begun, end := make(chan struct{}, n), make(chan struct{})
	w := newWorld(t, func(c *Config) {
		c.Routes = []Route{{Path: "/long", Long: true,
			Handle: func(w http.ResponseWriter, _ *http.Request, _ Peer) error {
				begun <- struct{}{}
				<-end
				_, err := w.Write([]byte("done"))
				return err
			}}}
	})
	token := w.token(authz.Operator, "agent")
	pending := w.server.gates[host.DoorWebSocket].Pending
	var all sync.WaitGroup
	var conns []net.Conn
	for range n {
		c, err := net.Dial("tcp", w.addr)
		check(t, err)
		defer c.Close()
		conns = append(conns, c)
		_, err = fmt.Fprintf(c, "GET /long HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", token)
		check(t, err)
		<-begun
	}
	if got := pending(); got != 0 {
		t.Errorf("%d connections with long answers count", got)
	}
	status, _ := w.raw("GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if status != http.StatusUnauthorized {
		t.Errorf("a stranger gets %d", status)
	}
	close(end)
	for _, c := range conns {
		all.Go(func() {
			if r, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || r.StatusCode != 200 {
				t.Errorf("a long answer: %v", err)
			}
		})
	}
	all.Wait()
	hosttest.Eventually(t, "idle connections count, and there are not too many", func() bool {
		got := pending()
		return got > 0 && got <= maxPending
	})
}
