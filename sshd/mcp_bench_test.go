package sshd

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// percentiles reports the median and the 99th percentile of what took how long.
func percentiles(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1000, "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1000, "p99-µs")
}

// BenchmarkMCPCall is a call of terminal_list with one terminal, and requests of AHP, each on a
// channel of an open connection.
func BenchmarkMCPCall(b *testing.B) {
	for name, request := range map[string]string{
		"mcp":      `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"terminal_list","arguments":{}}}`,
		"mcp-ping": `{"jsonrpc":"2.0","id":%d,"method":"ping"}`,
		"ahp":      `{"jsonrpc":"2.0","id":%d,"method":"termhost/history","params":{"channel":"ahp-terminal:/w"}}`,
		"ahp-ping": `{"jsonrpc":"2.0","id":%d,"method":"ping","params":{}}`,
	} {
		b.Run(name, func(b *testing.B) {
			r := newRig(b, rigOptions{door: func(c *Config) { c.AHP.RequestsPerSecond = -1 }})
			r.ssh("alice", "", "new -d -n w -- echo ready; exec sleep 1000")
			r.shows("w", "ready")
			c := r.dial("alice")
			var l *lineChannel
			if strings.HasPrefix(name, "mcp") {
				l = r.mcp(c)
			} else {
				s, err := c.NewSession()
				hosttest.Check(b, err)
				l, err = openLines(s, "ahp")
				hosttest.Check(b, err)
				_, err = io.WriteString(l.in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["0.5.0"],"clientId":"bench"}}`+"\n")
				hosttest.Check(b, err)
				_, err = l.out.ReadBytes('\n')
				hosttest.Check(b, err)
			}
			var took []time.Duration
			for b.Loop() {
				begun := time.Now()
				id := len(took) + 1
				if _, err := fmt.Fprintf(l.in, request+"\n", id); err != nil {
					b.Fatal(err)
				}
				line, err := l.out.ReadString('\n')
				if err != nil || !strings.Contains(line, `"result"`) || !strings.Contains(line, fmt.Sprintf(`"id":%d`, id)) {
					b.Fatalf("%q, %v", line, err)
				}
				took = append(took, time.Since(begun))
			}
			percentiles(b, took)
		})
	}
}

// BenchmarkMCPRun is terminal_run of true, and `ssh HOST run -- true`, each on an open connection.
func BenchmarkMCPRun(b *testing.B) {
	b.Run("mcp", func(b *testing.B) {
		r := newRig(b, rigOptions{})
		l := r.mcp(r.dial("alice"))
		var took []time.Duration
		for b.Loop() {
			begun := time.Now()
			if text := r.mcpCall(l, len(took)+1, "terminal_run", `{"command":"true"}`); !strings.Contains(text, " exited 0 ") {
				b.Fatal(text)
			}
			took = append(took, time.Since(begun))
		}
		percentiles(b, took)
	})
	b.Run("ssh", func(b *testing.B) {
		r := newRig(b, rigOptions{})
		c := r.dial("alice")
		var took []time.Duration
		for b.Loop() {
			begun := time.Now()
			s, err := c.NewSession()
			hosttest.Check(b, err)
			hosttest.Check(b, s.Run("run -- true"))
			took = append(took, time.Since(begun))
		}
		percentiles(b, took)
	})
}

// BenchmarkIdleMCP is what an idle MCP session holds on the server's side, with its connection.
func BenchmarkIdleMCP(b *testing.B) {
	count := slowtest.Amount(100, 20)
	r := newRig(b, rigOptions{})
	r.ssh("alice", "", "new -d -n work -- echo ready; sleep 1000")
	for b.Loop() {
		before := held()
		leave := r.crowd("alice", count, "mcp")
		b.ReportMetric(float64(held()-before)/float64(count)/1024, "KiB/session")
		leave()
		r.empties()
	}
}

// BenchmarkEchoBesideMCPWaits is the echo of a key while 50 calls of an MCP client wait, with a
// pattern, for programs that print without end.
func BenchmarkEchoBesideMCPWaits(b *testing.B) {
	r := newRig(b, rigOptions{people: map[string]string{"alice": "", "bob": asOperator}})
	l := r.mcp(r.dial("bob"))
	for i := range 3 {
		r.mcpCall(l, i, "terminal_run", fmt.Sprintf(`{"name":"flood%d","command":"while :; do seq 100; sleep 0.001; done","background":true}`, i))
	}
	for i := range 50 {
		hosttest.Check(b, l.send(100+i, "terminal_read", fmt.Sprintf(`{"terminal":"flood%d","wait_s":45,"until":"(\\w+ )+never[0-9]+"}`, i%3)))
	}
	go io.Copy(io.Discard, l.out)
	in, out, s := r.benchSession(b, r.dial("alice"), "new -- stty raw -echo; echo ready; cat")
	defer s.Close()
	readTo(b, out, "ready")
	buf := make([]byte, 64)
	var took []time.Duration
	for b.Loop() {
		begun := time.Now()
		if _, err := in.Write([]byte("k")); err != nil {
			b.Fatal(err)
		}
		if _, err := out.Read(buf); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begun))
	}
	percentiles(b, took)
}
