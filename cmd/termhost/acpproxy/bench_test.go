package acpproxy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"termhost/ahp/acp/wire"
)

// percentiles reports the median and the 99th percentile of times, in microseconds.
func percentiles(b *testing.B, name string, times []time.Duration) {
	slices.Sort(times)
	at := func(p float64) float64 {
		return float64(times[int(p*float64(len(times)-1))].Nanoseconds()) / 1e3
	}
	b.ReportMetric(at(0.5), name+"-p50-µs")
	b.ReportMetric(at(0.99), name+"-p99-µs")
}

// osPipe returns both ends of a pipe of the operating system.
func osPipe(b *testing.B) (*os.File, *os.File) {
	r, w, err := os.Pipe()
	check(b, err)
	b.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// roundTrip writes a message to out, reads its echo from back, and returns how long that took.
func roundTrip(b *testing.B, out io.Writer, back *bufio.Reader, msg []byte) time.Duration {
	began := time.Now()
	if len(msg) < 32<<10 { // the pipe's buffer has room for it
		_, err := out.Write(msg)
		check(b, err)
	} else {
		go out.Write(msg)
	}
	for {
		_, err := back.ReadSlice('\n')
		if err == nil {
			return time.Since(began)
		}
		if err != bufio.ErrBufferFull {
			b.Fatal(err)
		}
	}
}

// echo is an agent that sends everything back.
func echo(in io.Reader, out io.WriteCloser) {
	_, _ = io.Copy(struct{ io.Writer }{out}, struct{ io.Reader }{in})
	out.Close()
}

// BenchmarkProxyMessage sends a message to an agent and back, through pipes of the operating
// system: directly, and with the proxy in between. What the proxy costs a message is half of the
// difference.
func BenchmarkProxyMessage(b *testing.B) {
	const update = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s",` +
		`"update":{"sessionUpdate":"agent_message_chunk",` +
		`"content":{"type":"text","text":%q}}}}` + "\n"
	st := newStage(b)
	for _, size := range []int{100, 10_000, 1_000_000} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			msg := fmt.Appendf(nil, update, strings.Repeat("x", size))
			directR, directW := osPipe(b)
			backR, backW := osPipe(b)
			go echo(directR, backW)
			direct := bufio.NewReaderSize(backR, 64<<10)

			editorR, editorW := osPipe(b)   // editor to proxy
			agentR, agentW := osPipe(b)     // proxy to agent
			answerR, answerW := osPipe(b)   // agent to proxy
			proxiedR, proxiedW := osPipe(b) // proxy to editor
			p := New(Config{Editor: Stream{editorR, proxiedW}, Agent: Stream{answerR, agentW}})
			ended := make(chan error, 1)
			go func() { ended <- p.Run(st.client) }()
			go echo(agentR, answerW)
			proxied := bufio.NewReaderSize(proxiedR, 64<<10)

			var without, with []time.Duration
			b.SetBytes(int64(2 * len(msg)))
			for b.Loop() {
				without = append(without, roundTrip(b, directW, direct, msg))
				with = append(with, roundTrip(b, editorW, proxied, msg))
			}
			percentiles(b, "direct", without)
			percentiles(b, "proxied", with)
			directW.Close()
			editorW.Close()
			check(b, <-ended)
		})
	}
}

// BenchmarkTrue runs a command that does nothing, from the request to the exit: on a pty of our
// own, and in an ACP terminal, through the proxy and an AHP connection.
func BenchmarkTrue(b *testing.B) {
	st := newStage(b)
	var direct, terminal []time.Duration
	for b.Loop() {
		began := time.Now()
		cmd := exec.Command("true")
		tty, err := pty.Start(cmd)
		check(b, err)
		_, _ = io.Copy(io.Discard, tty)
		check(b, cmd.Wait())
		tty.Close()
		direct = append(direct, time.Since(began))

		began = time.Now()
		var c wire.CreateResult
		made := st.agent.asks(1, wire.MethodCreate, command("true"))
		check(b, json.Unmarshal(made.Result, &c))
		if r := st.agent.asks(2, wire.MethodWait, of(c.TerminalID)); r.Error != nil {
			b.Fatal(r.Error)
		}
		terminal = append(terminal, time.Since(began))
		st.agent.asks(3, wire.MethodRelease, of(c.TerminalID))
	}
	percentiles(b, "pty", direct)
	percentiles(b, "terminal", terminal)
}
