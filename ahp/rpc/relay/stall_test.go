package relay_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/rpc"
)

// slowThere is a connection to a host on which what the door sends for the second time with a text
// arrives only when the host has sent a window of output.
type slowThere struct {
	net.Conn
	text  string
	lines *bufio.Reader
	rest  []byte // of a line that is being read

	mu      sync.Mutex
	changed *sync.Cond
	times   int // that the text was sent
	came    int // bytes of output
	closed  bool
}

func (s *slowThere) Write(p []byte) (n int, err error) {
	for line := range bytes.Lines(p) {
		if bytes.Contains(line, []byte(s.text)) {
			s.mu.Lock()
			s.times++
			for s.times == 2 && s.came < 256<<10 && !s.closed {
				s.changed.Wait()
			}
			s.mu.Unlock()
		}
		m, err := s.Conn.Write(line)
		if n += m; err != nil {
			return n, err
		}
	}
	return n, nil
}

func (s *slowThere) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		line, err := s.lines.ReadBytes('\n')
		if err != nil {
			return 0, err
		}
		if s.rest = line; bytes.Contains(line, []byte(`"terminal/data"`)) {
			s.mu.Lock()
			s.came += len(line)
			s.changed.Broadcast()
			s.mu.Unlock()
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *slowThere) Close() error {
	s.mu.Lock()
	s.closed = true
	s.changed.Broadcast()
	s.mu.Unlock()
	return s.Conn.Close()
}

// floods makes a terminal that prints without end, and as much in JSON as it prints.
func (w *town) floods(c *client.Client, uri string) {
	w.t.Helper()
	hosttest.Check(w.t, c.CreateTerminal(w.ctx, ahp.CreateTerminalParams{Channel: uri,
		Meta: &ahp.CreateTerminalMeta{Termhost: &ahp.CreateTerminalExtras{
			Command: "/bin/sh", Args: []string{"-c", `exec tr '\0' x </dev/zero`}}}}))
}

// A terminal that floods before the second one is subscribed to does not keep that out of the
// answer: the door cannot acknowledge the flood before it has both.
func TestAFloodKeepsNoInitialSubscriptionOut(t *testing.T) {
	slowtest.Skip(t) // an answer waits behind output for a second
	w := newTown(t, "home", "box")
	way := w.door("home")
	maker := w.connect("box", nil, ann)
	for _, name := range []string{"a", "b", "c"} {
		w.floods(maker, "ahp-terminal:/"+name)
	}
	w.mu.Lock()
	w.change["box"] = func(nc net.Conn) net.Conn {
		s := &slowThere{Conn: nc, text: `"method":"subscribe"`, lines: bufio.NewReader(nc)}
		s.changed = sync.NewCond(&s.mu)
		return s
	}
	w.mu.Unlock()
	nc, err := hosttest.Dial(t, w.hosts["home"], ann, rpc.Options{Fleet: way})
	hosttest.Check(t, err)
	lines := bufio.NewReaderSize(nc, 1<<20)
	_, err = io.WriteString(nc, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{`+
		`"channel":"ahp-root://","clientId":"c","protocolVersions":["1.0.0"],"initialSubscriptions":[`+
		`"ahp-terminal://box/a","ahp-terminal://box/b","ahp-terminal://box/c"]}}`+"\n")
	hosttest.Check(t, err)
	line, err := lines.ReadString('\n')
	hosttest.Check(t, err)
	var answer struct {
		Result struct{ Snapshots []ahp.Snapshot }
	}
	hosttest.Check(t, json.Unmarshal([]byte(line), &answer))
	if n := len(answer.Result.Snapshots); n != 3 {
		t.Fatalf("%d of 3 snapshots are in the answer", n)
	}
	for seen := map[string]int{}; seen["a"] < 3 || seen["b"] < 3 || seen["c"] < 3; {
		line, err := lines.ReadString('\n')
		hosttest.Check(t, err)
		var action struct{ Params ahp.Envelope }
		hosttest.Check(t, json.Unmarshal([]byte(line), &action))
		seen[strings.TrimPrefix(action.Params.Channel, "ahp-terminal://box/")]++
	}
}

// A client that acknowledges nothing of what floods on other hosts gets its own host's answers and
// the root's list, and holds up no other client.
func TestAClientThatAcknowledgesNothingHoldsUpNobody(t *testing.T) {
	slowtest.Skip(t)
	w := newTown(t, "home", "box1", "box2")
	way := w.door("home")
	maker := w.connect("home", way, ann)
	for _, uri := range []string{"ahp-terminal://box1/a", "ahp-terminal://box1/b", "ahp-terminal://box2/a"} {
		w.floods(maker, uri)
	}
	nc, err := hosttest.Dial(t, w.hosts["home"], ann, rpc.Options{Fleet: way})
	hosttest.Check(t, err)
	lines := bufio.NewReaderSize(nc, 1<<20)
	output := 0
	var last uint64
	// until reads until there is a text, of which few windows come before it.
	until := func(what string, done func(line string) bool) {
		t.Helper()
		for {
			line, err := lines.ReadString('\n')
			hosttest.Check(t, err)
			var m struct {
				Params struct {
					ServerSeq uint64
					Action    struct{ Data string }
				}
			}
			hosttest.Check(t, json.Unmarshal([]byte(line), &m))
			if seq := m.Params.ServerSeq; seq != 0 && seq <= last {
				t.Errorf("%d comes after %d", seq, last)
			} else if seq != 0 {
				last = seq
			}
			output += len(m.Params.Action.Data)
			if done(line) {
				return
			}
			if output > 32<<10+64<<10 { // a window, and the message that goes beyond
				t.Fatalf("%d bytes of output come before %s", output, what)
			}
		}
	}
	has := func(text string) func(string) bool {
		return func(line string) bool { return strings.Contains(line, text) }
	}
	_, err = io.WriteString(nc, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{`+
		`"channel":"ahp-root://","clientId":"c","protocolVersions":["1.0.0"],"initialSubscriptions":[`+
		`"ahp-root://","ahp-terminal://box1/a","ahp-terminal://box1/b","ahp-terminal://box2/a"],`+
		`"_meta":{"termhost/ack":{"window":32768}}}}`+"\n")
	hosttest.Check(t, err)
	until("the greeting", has(`"id":1,"result"`))
	until("a window", func(string) bool { return output >= 32<<10 })
	output = 0
	// Others use the same hosts.
	m := w.run(maker, "ahp-terminal://box1/other", "while read x; do echo got $x; done")
	for i := range 3 {
		hosttest.Check(t, w.types(maker, m, fmt.Sprint("line", i)))
		w.sees(m, fmt.Sprintf("got line%d\r\n", i))
	}
	_, err = io.WriteString(nc, `{"jsonrpc":"2.0","id":2,"method":"ping","params":{"channel":"ahp-root://"}}`+"\n")
	hosttest.Check(t, err)
	answered, listed := false, false
	until("an answer and the list", func(line string) bool {
		answered = answered || strings.Contains(line, `"id":2,`)
		listed = listed || strings.Contains(line, `"ahp-terminal://box1/other"`)
		return answered && listed
	})
}
