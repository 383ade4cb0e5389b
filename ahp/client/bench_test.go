package client_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"termhost/ahp"
	"termhost/ahp/client"
)

// floodFile holds text as a build prints it: 97-byte lines with SGR colour.
func floodFile(b testing.TB, size int) string {
	b.Helper()
	line := "\x1b[32m" + strings.Repeat("The quick brown fox ", 4) + "12345678" + "\x1b[0m\n"
	if len(line) != 98 {
		b.Fatalf("a line has %d bytes", len(line))
	}
	name := filepath.Join(b.TempDir(), "flood")
	check(b, os.WriteFile(name, []byte(strings.Repeat(line, size/len(line))), 0o600))
	return name
}

// flooding returns a terminal that prints the file for each line that it reads, and
// then "the-end-" with that line.
func (w *world) flooding(c *client.Client, name string, size int) *client.Mirror {
	term := w.run(c, name, "stty -icanon -echo; printf ready; "+
		"while read x; do cat "+floodFile(w.t, size)+"; printf 'the-end-%s-' $x; done")
	w.sees(term, "ready")
	return term
}

// watcher reads actions and looks at as little of them as possible, so that the
// host is what is measured.
type watcher struct{ *websocket.Conn }

func (w *world) watcher(b *testing.B, id, uri string) watcher {
	b.Helper()
	header := http.Header{"Authorization": {"Bearer alice"}} // an observer has 8 clientIds
	c, _, err := websocket.DefaultDialer.Dial(w.url, header)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	hello := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{`+
		`"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":%q,`+
		`"initialSubscriptions":[%q]}}`, id, uri)
	check(b, c.WriteMessage(websocket.TextMessage, hello))
	if _, _, err := c.ReadMessage(); err != nil {
		b.Fatal(err)
	}
	return watcher{c}
}

// until reads up to the message that ends a flood.
func (w watcher) until(b *testing.B, text string) {
	for {
		_, msg, err := w.ReadMessage()
		if err != nil {
			b.Error(err)
			return
		}
		const tail = 4 << 10 // the end of the text is near the end of the message
		if strings.Contains(string(msg[max(0, len(msg)-tail):]), text) {
			return
		}
	}
}

// BenchmarkMirror is the flood through this package's own mirror.
func BenchmarkMirror(b *testing.B) {
	const size = 32 << 20
	w := newWorld(b)
	c := w.connect("alice")
	term := w.flooding(c, "flood", size)
	b.SetBytes(size)
	n := 0
	for b.Loop() {
		n++
		end := fmt.Sprintf("the-end-%d-", n)
		w.types(c, term, fmt.Sprintf("%d\r", n))
		w.waits(term, func(s *ahp.TerminalState) bool {
			if len(s.Content) == 0 { // in the middle of a resynchronisation
				return false
			}
			chunks := s.Content[len(s.Content)-1].Text.Chunks()
			return len(chunks) > 0 && strings.HasSuffix(string(chunks[len(chunks)-1]), end)
		})
	}
}

// BenchmarkEcho is the time from a key to its echo over WebSocket.
func BenchmarkEcho(b *testing.B) {
	w := newWorld(b)
	c := w.connect("alice")
	term := w.run(c, "echo", "stty raw -echo; printf ready; exec cat")
	w.sees(term, "ready")
	seen := len("ready")
	var times []time.Duration
	for b.Loop() {
		start := time.Now()
		seen++
		w.types(c, term, "x")
		w.waits(term, func(s *ahp.TerminalState) bool { return length(s) >= seen })
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "µs-p50")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "µs-p99")
}
