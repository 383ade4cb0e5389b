package client_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"termhost/ahp"
)

// agentsVariable makes the test binary a process of agents. So what a benchmark reports as the
// host's CPU time is the host's alone.
const agentsVariable = "TERMHOST_TEST_AGENTS"

// fleet says what each agent of such a process subscribes to.
type fleet struct {
	URL    string
	Agents [][]string // the URIs of each
}

// agents is such a process.
type agents struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// agents starts a process with an agent for each list of URIs, which all have subscribed then.
func (w *world) agents(b *testing.B, uris ...[]string) *agents {
	b.Helper()
	config, err := json.Marshal(fleet{URL: w.url, Agents: uris})
	check(b, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), agentsVariable+"="+string(config))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	check(b, err)
	out, err := cmd.StdoutPipe()
	check(b, err)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		check(b, cmd.Wait())
	})
	a := &agents{in: in, out: bufio.NewReader(out)}
	a.answer(b)
	return a
}

// expect has the agents look for a text, which each of their terminals prints once at its end.
// answer then returns when all have seen it.
func (a *agents) expect(b *testing.B, text string) {
	_, err := fmt.Fprintln(a.in, text)
	check(b, err)
	a.answer(b)
}

// answer waits for the process, and returns how many frames its agents have got.
func (a *agents) answer(b *testing.B) (frames int) {
	b.Helper()
	if _, err := fmt.Fscanln(a.out, &frames); err != nil {
		b.Fatal("the agents' process has ended: ", err)
	}
	return frames
}

// runAgents is the process: see [agentsVariable]. It reads texts to look for from its input.
func runAgents(config string) {
	var f fleet
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "agents:", err)
			os.Exit(1)
		}
	}
	fail(json.Unmarshal([]byte(config), &f))
	list := make([]*agent, len(f.Agents))
	var dialing sync.WaitGroup
	for i, uris := range f.Agents {
		dialing.Go(func() {
			var err error
			list[i], err = dialAgent(f.URL, fmt.Sprintf("agent%d", i), uris)
			fail(err)
		})
	}
	dialing.Wait()
	fmt.Println(0)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		text := []byte(lines.Text())
		fmt.Println(0)
		frames := make([]int, len(list))
		var reading sync.WaitGroup
		for i, a := range list {
			reading.Go(func() {
				var err error
				frames[i], err = a.until(text)
				fail(err)
			})
		}
		reading.Wait()
		sum := 0
		for _, n := range frames {
			sum += n
		}
		fmt.Println(sum)
	}
}

// agent reads frames (RFC 6455 section 5.2) and looks at as little of them as possible, so that the
// kernel has nearly all of the cost.
type agent struct {
	conn net.Conn
	uris int
	buf  []byte
	head []byte // the beginning of a frame's head
	left int64  // of the frame's payload
	tail []byte // of what was read
}

func dialAgent(address, id string, uris []string) (*agent, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		return nil, err
	}
	dialer := websocket.Dialer{NetDial: func(string, string) (net.Conn, error) { return conn, nil }}
	ws, _, err := dialer.Dial(address, http.Header{"Authorization": {"Bearer alice"}})
	if err != nil {
		return nil, err
	}
	list, _ := json.Marshal(uris)
	if err := ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,`+
		`"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["1.0.0"],`+
		`"clientId":%q,"initialSubscriptions":%s}}`, id, list)); err != nil {
		return nil, err
	}
	if _, _, err := ws.ReadMessage(); err != nil { // gorilla reads no further than its buffer
		return nil, err
	}
	return &agent{conn: conn, uris: len(uris), buf: make([]byte, 256<<10)}, nil
}

// until reads until each terminal has printed a text, and returns how many frames that took.
func (a *agent) until(text []byte) (frames int, err error) {
	for seen := 0; seen < a.uris; {
		n, err := a.conn.Read(a.buf)
		if err != nil {
			return frames, errors.Join(errors.New("reading"), err)
		}
		p := a.buf[:n]
		frames += a.count(p)
		joined := append(a.tail, p[:min(n, len(text)-1)]...)
		seen += bytes.Count(joined, text) + bytes.Count(p, text)
		if n >= len(text) {
			joined = p
		}
		a.tail = append(a.tail[:0], joined[max(0, len(joined)-len(text)+1):]...)
	}
	return frames, nil
}

// count returns how many frames begin in p.
func (a *agent) count(p []byte) (n int) {
	for len(p) > 0 {
		if a.left > 0 {
			skip := min(a.left, int64(len(p)))
			a.left -= skip
			p = p[skip:]
			continue
		}
		a.head = append(a.head, p[0])
		p = p[1:]
		if len(a.head) < 2 {
			continue
		}
		size := int64(a.head[1] & 0x7f)
		switch {
		case size == 126 && len(a.head) < 4, size == 127 && len(a.head) < 10:
			continue
		case size == 126:
			size = int64(binary.BigEndian.Uint16(a.head[2:]))
		case size == 127:
			size = int64(binary.BigEndian.Uint64(a.head[2:]))
		}
		a.left, a.head = size, a.head[:0]
		n++
	}
	return n
}

// cpu returns the processor time that this process, without its children, has used.
func cpu() time.Duration {
	var ru syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &ru)
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// load is a number of terminals that print, and how they are followed.
type load struct {
	name      string
	terminals int
	each      int // bytes that each prints
	agents    func(uris []string) [][]string
}

func loads() []load {
	watchers := func(n int) func([]string) [][]string {
		return func(uris []string) (all [][]string) {
			for range n {
				all = append(all, uris)
			}
			return all
		}
	}
	ofItsOwn := func(uris []string) (all [][]string) {
		for _, uri := range uris {
			all = append(all, []string{uri})
		}
		return all
	}
	return []load{
		{"1 agent on 1 terminal", 1, 64 << 20, watchers(1)},
		{"10 agents on 1 terminal", 1, 32 << 20, watchers(10)},
		{"50 agents on 50 terminals", 50, 1 << 20, ofItsOwn},
		{"1 agent on 50 terminals", 50, 1 << 20, watchers(1)},
	}
}

// BenchmarkFlood is how fast what programs print reaches AHP subscribers in another process. MB/s
// and cpu-ms/MB count what the programs print once, whoever reads it; the CPU time is the host's.
func BenchmarkFlood(b *testing.B) {
	for _, l := range loads() {
		b.Run(strings.ReplaceAll(l.name, " ", "_"), l.run)
	}
}

func (l load) run(b *testing.B) {
	w := newWorld(b)
	c := w.connect("alice")
	var uris []string
	for i := range l.terminals {
		term := w.flooding(c, fmt.Sprintf("flood%d", i), l.each)
		uris = append(uris, term.URI())
		term.Close()
	}
	a := w.agents(b, l.agents(uris)...)
	size := int64(l.terminals) * int64(l.each)
	b.SetBytes(size)
	frames, n, began := 0, 0, cpu()
	for b.Loop() {
		n++
		a.expect(b, fmt.Sprintf("the-end-%d-", n))
		for _, uri := range uris {
			check(b, c.Dispatch(w.ctx, uri, ahp.TerminalInput{Data: fmt.Appendf(nil, "%d\r", n)}))
		}
		frames += a.answer(b)
	}
	sent := float64(size) * float64(n) / 1e6
	b.ReportMetric((cpu()-began).Seconds()*1e3/sent, "cpu-ms/MB")
	b.ReportMetric(float64(frames)/sent, "frames/MB")
}
