package client_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"termhost/ahp"
)

// floodFile holds text as a build prints it: 97-byte lines with SGR colour.
func floodFile(b *testing.B, size int) string {
	b.Helper()
	line := "\x1b[32m" + strings.Repeat("The quick brown fox ", 4) + "12345678" + "\x1b[0m\n"
	if len(line) != 98 {
		b.Fatalf("a line has %d bytes", len(line))
	}
	name := filepath.Join(b.TempDir(), "flood")
	check(b, os.WriteFile(name, []byte(strings.Repeat(line, size/len(line))), 0o600))
	return name
}

// watcher reads actions and looks at no more than it must, so that the host is
// what is measured.
type watcher struct{ *websocket.Conn }

func (w *world) watcher(b *testing.B, id, uri string) watcher {
	b.Helper()
	c, _, err := websocket.DefaultDialer.Dial(w.url, map[string][]string{"Authorization": {"Bearer eve"}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	check(b, c.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":%q,"initialSubscriptions":[%q]}}`, id, uri)))
	if _, _, err := c.ReadMessage(); err != nil {
		b.Fatal(err)
	}
	return watcher{c}
}

// until reads to a message that ends a flood.
func (w watcher) until(b *testing.B, text string) {
	for {
		_, msg, err := w.ReadMessage()
		if err != nil {
			b.Error(err)
			return
		}
		if len(msg) < 4096 && strings.Contains(string(msg), text) || strings.Contains(string(msg[max(0, len(msg)-4096):]), text) {
			return
		}
	}
}

func benchmarkFlood(b *testing.B, watchers int) {
	const size = 32 << 20
	w := newWorld(b)
	c := w.connect("alice")
	file := floodFile(b, size)
	term := w.run(c, "flood", "stty -echo; printf ready; while read x; do cat "+file+"; printf 'the-end-%s-' $x; done")
	w.sees(term, "ready")
	uri := term.URI()
	term.Close()
	var all []watcher
	for i := range watchers {
		all = append(all, w.watcher(b, fmt.Sprintf("w%d", i), uri))
	}
	b.SetBytes(size)
	n := 0
	for b.Loop() {
		n++
		end := fmt.Sprintf("the-end-%d-", n)
		check(b, c.Dispatch(w.ctx, uri, ahp.TerminalInput{Data: fmt.Appendf(nil, "%d\r", n)}))
		done := make(chan struct{})
		for _, x := range all {
			go func() {
				x.until(b, end)
				done <- struct{}{}
			}()
		}
		for range all {
			<-done
		}
	}
}

// BenchmarkFlood is what one AHP subscriber, and ten, get of a program's output.
func BenchmarkFlood(b *testing.B) {
	for _, n := range []int{1, 10} {
		b.Run(fmt.Sprintf("watchers=%d", n), func(b *testing.B) { benchmarkFlood(b, n) })
	}
}

// BenchmarkMirror is the flood through this package's own mirror.
func BenchmarkMirror(b *testing.B) {
	const size = 32 << 20
	w := newWorld(b)
	c := w.connect("alice")
	file := floodFile(b, size)
	term := w.run(c, "flood", "stty -echo; printf ready; while read x; do cat "+file+"; printf 'the-end-%s-' $x; done")
	w.sees(term, "ready")
	b.SetBytes(size)
	n := 0
	for b.Loop() {
		n++
		end := fmt.Sprintf("the-end-%d-", n)
		check(b, c.Dispatch(w.ctx, term.URI(), ahp.TerminalInput{Data: fmt.Appendf(nil, "%d\r", n)}))
		check(b, term.WaitTerminal(w.ctx, func(s *ahp.TerminalState) bool {
			chunks := s.Content[len(s.Content)-1].Text.Chunks()
			return len(chunks) > 0 && strings.HasSuffix(string(chunks[len(chunks)-1]), end)
		}))
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
		check(b, c.Dispatch(w.ctx, term.URI(), ahp.TerminalInput{Data: []byte("x")}))
		check(b, term.WaitTerminal(w.ctx, func(s *ahp.TerminalState) bool { return length(s) >= seen }))
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "µs-p50")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "µs-p99")
}

// BenchmarkCommand is an agent's round trip: a terminal that runs true, to its
// exit and disposal.
func BenchmarkCommand(b *testing.B) {
	w := newWorld(b)
	c := w.connect("alice")
	n := 0
	for b.Loop() {
		n++
		m := w.run(c, fmt.Sprintf("c%d", n), "true")
		check(b, m.WaitTerminal(w.ctx, func(s *ahp.TerminalState) bool { return s.Exited }))
		check(b, c.DisposeTerminal(w.ctx, m.URI()))
	}
}
