package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

const (
	// hoarders is how many connections of each kind an observer has.
	hoarders = 25
	// hoardLimit is how much memory they may cost the host together, in bytes: 100 MB, and room for
	// garbage that is collected late. Without the bounds it is more than a gigabyte.
	hoardLimit = 140 << 20
	hoardTime  = 10 * time.Second
)

// An observer does all that makes a host keep bytes: it follows a terminal that floods and reads
// nothing, asking for its state again and again; it sends input that nobody reads, on SSH sessions
// that wait and on forwards.
func TestMeasuresWhatAnObserverCosts(t *testing.T) {
	slowtest.Measures(t)
	b := besiege(t, 1000)
	alice, err := b.dial("alice")
	if err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(b.dir, "full") // scrollback and log are
	flood := "new -d -n flood -- for i in $(seq 100); do seq 100000 110000; done; >" + full +
		"; while :; do seq 100000 110000; done"
	if out, err := runOn(alice, flood); err != nil {
		t.Fatal(out, err)
	}
	hosttest.Eventually(t, "much is printed", func() bool { _, err := os.Stat(full); return err == nil })
	idle := residentOf(t, b.host.Cmd.Process.Pid)
	var working sync.WaitGroup
	begin, stop := make(chan struct{}), make(chan struct{})
	for i := range hoarders {
		token, err := runOn(alice, fmt.Sprintf("token --name t%d --role observer", i))
		if err != nil {
			t.Fatal(token, err)
		}
		ws, _, err := websocket.DefaultDialer.Dial(b.url,
			http.Header{"Authorization": {"Bearer " + token}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ws.Close() })
		working.Go(func() {
			<-begin
			resubscribe(ws, i, stop)
		})
		b.hoard(&working, begin)
	}
	close(begin)
	most := uint64(0)
	for end := time.Now().Add(hoardTime); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		most = max(most, residentOf(t, b.host.Cmd.Process.Pid))
	}
	t.Logf("idle %d MB, at most %d MB", idle>>20, most>>20)
	if most > idle+hoardLimit {
		t.Errorf("%d MB more than idle", (most-idle)>>20)
	}
	if _, err := runOn(alice, "peek flood"); err != nil {
		t.Error(err)
	}
	close(stop)
	b.host.Kill()
	working.Wait()
}

// hoard opens a connection whose channels, when begin is closed, send what nobody reads.
func (b *besieged) hoard(working *sync.WaitGroup, begin <-chan struct{}) {
	c, err := b.dial("olga")
	if err != nil {
		b.t.Fatal(err)
	}
	for range 10 {
		s, err := c.NewSession()
		if err != nil {
			b.t.Fatal(err)
		}
		s.Stdin = after{begin, endless{}}
		if err := s.Start("wait flood"); err != nil {
			b.t.Fatal(err)
		}
	}
	for range 64 {
		nc, err := c.Dial("tcp", "ahp:80")
		if err != nil {
			return // it has as many as it may
		}
		working.Go(func() {
			defer nc.Close()
			<-begin
			_, _ = io.WriteString(nc, "POST /ahp HTTP/1.1\r\nHost: localhost\r\n"+
				"Content-Length: 1000000000\r\n\r\n")
			_, _ = io.Copy(nc, endless{})
		})
	}
}

// after is a stream that begins late.
type after struct {
	begin <-chan struct{}
	io.Reader
}

func (r after) Read(p []byte) (int, error) {
	<-r.begin
	return r.Reader.Read(p)
}

// endless is a stream of zeros.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// resubscribe follows a terminal anew every 25 ms, and reads nothing.
func resubscribe(ws *websocket.Conn, i int, stop <-chan struct{}) {
	send := func(format string, args ...any) bool {
		return ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, format, args...)) == nil
	}
	ok := send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://",`+
		`"protocolVersions":["1.0.0"],"clientId":"hoarder-%d"}}`, i)
	for ok {
		for _, method := range []string{"subscribe", "unsubscribe"} {
			ok = ok && send(`{"jsonrpc":"2.0","id":2,"method":%q,`+
				`"params":{"channel":"ahp-terminal:/flood"}}`, method)
		}
		select {
		case <-stop:
			return
		case <-time.After(25 * time.Millisecond):
		}
	}
}

// residentOf returns how much memory a process has, in bytes.
func residentOf(t testing.TB, pid int) uint64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var kb uint64
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kb); n == 1 {
			return kb << 10
		}
	}
	t.Fatal("it has no memory")
	return 0
}
