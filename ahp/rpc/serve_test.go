package rpc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
)

// greet initializes a connection.
func greet(t testing.TB, p *pipe, clientID string) {
	t.Helper()
	p.sendf(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{`+
		`"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":%q}}`, clientID)
	if msg := p.next(t); !strings.Contains(string(msg), `"id":1,"result"`) {
		t.Fatalf("initialize: %s", msg)
	}
}

// run makes a terminal that runs a script.
func run(t testing.TB, p *pipe, clientID, name, script string) {
	t.Helper()
	p.sendf(t, `{"jsonrpc":"2.0","id":2,"method":"createTerminal","params":{`+
		`"channel":"ahp-terminal:/%s","claim":{"kind":"client","clientId":%q},`+
		`"_meta":{"termhost":{"command":"/bin/sh","args":["-c",%q]}}}}`, name, clientID, script)
	for {
		msg := p.next(t)
		if msg == nil || strings.Contains(string(msg), `"id":2,"error"`) {
			t.Fatalf("createTerminal: %s", msg)
		}
		if strings.Contains(string(msg), `"id":2,"result"`) {
			return
		}
	}
}

// TestASnapshotIsFollowedByWhatItLacks subscribes again and again to a terminal that
// prints numbers. No number may be missing or come twice where the snapshot ends and
// the actions begin.
func TestASnapshotIsFollowedByWhatItLacks(t *testing.T) {
	h := hosttest.New(t, func(c *host.Config) { c.ScrollbackBytes = 64 << 10 })
	p := serve(t, h, principals()["alice"], rpc.Options{RequestsPerSecond: -1})
	greet(t, p, "a")
	run(t, p, "a", "n", "i=0; while :; do echo $i; i=$((i+1)); done")
	const rounds = 50
	for round := range rounds {
		id := round + 10
		p.sendf(t, `{"jsonrpc":"2.0","id":%d,"method":"subscribe",`+
			`"params":{"channel":"ahp-terminal:/n"}}`, id)
		var st ahp.TerminalState
		var fromSeq uint64
		for answered := false; !answered; {
			var m struct {
				ID     int `json:"id"`
				Result struct {
					Snapshot struct {
						State   json.RawMessage `json:"state"`
						FromSeq uint64          `json:"fromSeq"`
					} `json:"snapshot"`
				} `json:"result"`
			}
			if err := json.Unmarshal(p.next(t), &m); err != nil {
				t.Fatal(err)
			}
			if m.ID == 0 {
				continue // an action of the round before
			}
			if err := json.Unmarshal(m.Result.Snapshot.State, &st); err != nil {
				t.Fatal(err)
			}
			fromSeq, answered = m.Result.Snapshot.FromSeq, true
		}
		for range 3 {
			var m struct {
				Params ahp.Envelope `json:"params"`
			}
			if err := json.Unmarshal(p.next(t), &m); err != nil {
				t.Fatal(err)
			}
			if m.Params.ServerSeq <= fromSeq {
				t.Fatalf("an action of %d follows a snapshot of %d", m.Params.ServerSeq, fromSeq)
			}
			a, err := ahp.DecodeAction(m.Params.Action)
			if err != nil {
				t.Fatal(err)
			}
			st.ApplyCopy(a)
		}
		numbersRise(t, &st)
	}
}

func numbersRise(t *testing.T, st *ahp.TerminalState) {
	t.Helper()
	var text strings.Builder
	for i := range st.Content {
		text.WriteString(st.Content[i].Text.String())
	}
	// If the head was trimmed, escape sequences stand in its place.
	all := text.String()
	_, numbers, _ := strings.Cut(all[1+strings.LastIndexByte(all, 0x1b):], "\r\n")
	lines := strings.Split("\r\n"+numbers, "\r\n")
	last := -1
	for _, l := range lines[1 : len(lines)-1] { // the first and the last may be incomplete
		var n int
		if _, err := fmt.Sscanf(l, "%d", &n); err != nil {
			t.Fatalf("what is %q?", l)
		}
		if last >= 0 && n != last+1 {
			t.Fatalf("%d is followed by %d", last, n)
		}
		last = n
	}
}

// TestAPeerThatDoesNotReadIsNotReadFrom checks that answers do not pile up.
func TestAPeerThatDoesNotReadIsNotReadFrom(t *testing.T) {
	h := hosttest.New(t)
	p := serve(t, h, principals()["alice"], rpc.Options{RequestsPerSecond: -1})
	const questions = 5000
	sent := make(chan int, questions)
	go func() {
		for i := range questions {
			p.sendf(t, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i)
			sent <- i
		}
		close(sent)
	}()
	// 1024 answers wait in the host and some in the pipe. Then it reads no more.
	const most = 1024 + 64
	for i := range questions {
		if n := len(sent); n > most+i {
			t.Fatalf("%d questions were taken while %d answers were", n, i)
		}
		want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":null}`, i)
		if msg := p.next(t); string(msg) != want {
			t.Fatalf("answer %d is %s", i, msg)
		}
	}
	for range sent {
	}
}

// panicking is a transport with a bug.
type panicking struct{ *pipe }

func (p panicking) WriteFrames([]byte) error { panic("a bug") }

func TestAPanicEndsOneConnectionOnly(t *testing.T) {
	h := hosttest.New(t)
	c, err := h.Connect(principals()["alice"], host.DoorSubsystem)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p := newPipe()
	go p.send(t, []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	err = rpc.Serve(panicking{p}, c, rpc.Options{})
	if err == nil || strings.Contains(err.Error(), "a bug") {
		t.Errorf("Serve returned %v", err)
	}
	other := serve(t, h, principals()["alice"], rpc.Options{})
	greet(t, other, "a")
}

// FuzzMessages gives a host a message. What asks for something is answered, and whatever the
// message is, the host goes on.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":"x","method":"subscribe","params":{"channel":"ahp-root://"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://",` +
			`"protocolVersions":["0.5.0"],"clientId":"f",` +
			`"initialSubscriptions":[{"channel":"ahp-root:"}]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"reconnect","params":{"channel":"ahp-root://",` +
			`"clientId":"f","lastSeenServerSeq":1,"subscriptions":["ahp-root://"]}}`,
		`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/x",` +
			`"clientSeq":1,"action":{"type":"terminal/claimed",` +
			`"claim":{"kind":"client","clientId":"x"}}}}`,
		`{"jsonrpc":"2.0","id":-1.5e3,"method":"createTerminal","params":{` +
			`"channel":"ahp-terminal:/x","claim":{"kind":"session","session":"s"},"cols":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"disposeTerminal",` +
			`"params":{"channel":"ahp-terminal:/x"}}`,
		`{"jsonrpc":"2.0","Id":1,"method":"x"}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"\ud800"}`,
		`{"jsonrpc":"2.0","id":1,"method":"termhost/log","params":{"channel":"ahp-terminal:/x"}}`,
		`[]`, `null`, `{`, "\xff", `{"a":{"b":[1,2,{"c":null}]},"A":1}`, `{"id":1,"result":{}}`,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	h := hosttest.New(f)
	f.Fuzz(func(t *testing.T, msg []byte, initialized bool) {
		// As an observer, so that no command that a fuzzer finds is run.
		p := serve(t, h, principals()["eve"], rpc.Options{RequestsPerSecond: -1})
		if initialized {
			greet(t, p, "fuzz")
		}
		p.send(t, msg)
		p.send(t, []byte(`{"jsonrpc":"2.0","id":"sync","method":"ping"}`))
		wanted := 1
		if isRequest(msg) {
			wanted = 2 // some come later than that to the ping
		}
		for answers, synced := 0, false; !synced || answers < wanted; {
			answer := p.next(t)
			if answer == nil {
				return // an unknown protocol version ends the connection
			}
			var m ahp.Message
			if err := json.Unmarshal(answer, &m); err != nil {
				t.Fatalf("%q was answered with %s: %v", msg, answer, err)
			}
			if m.Error != nil && m.Error.Code == ahp.CodeInternal {
				t.Errorf("%q was answered with %s", msg, answer)
			}
			if m.ID != nil {
				answers++
			}
			synced = synced || string(m.ID) == `"sync"`
		}
	})
}

// isRequest reports whether a message is JSON that has an id and a method. Both names count as they
// are written only, other than in encoding/json.
func isRequest(msg []byte) bool {
	var members map[string]json.RawMessage
	var method string
	return json.Unmarshal(msg, &members) == nil && members["id"] != nil &&
		json.Unmarshal(members["method"], &method) == nil && method != ""
}

// share makes a client-executed terminal.
func share(t *testing.T, p *pipe, clientID, name string) {
	t.Helper()
	p.sendf(t, `{"jsonrpc":"2.0","id":2,"method":"createTerminal","params":{`+
		`"channel":"ahp-terminal:/%s","claim":{"kind":"client","clientId":%q},`+
		`"executionTarget":"client"}}`, name, clientID)
	if msg := p.next(t); !strings.Contains(string(msg), `"id":2,"result"`) {
		t.Fatalf("createTerminal: %s", msg)
	}
}

// A progress bar may print ten thousand tiny outputs; ten thousand that are refused are
// an attack. synctest's clock moves only while the host makes the peer wait.
func TestTinyOutputsOfAnOwnerAreNotHeldUp(t *testing.T) {
	for _, c := range []struct {
		name, terminal string
		held           bool
	}{{"its own", "laptop", false}, {"another's", "desktop", true}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := hosttest.New(t)
				p := serve(t, h, principals()["bob"], rpc.Options{})
				other := serve(t, h, principals()["alice"], rpc.Options{})
				greet(t, p, "owner")
				share(t, p, "owner", "laptop")
				greet(t, other, "other")
				share(t, other, "other", "desktop")
				time.Sleep(time.Minute) // so that nothing counts any more
				const outputs = 10_000
				start := time.Now()
				go func() {
					for i := range outputs {
						p.sendf(t, `{"jsonrpc":"2.0","method":"dispatchAction","params":{`+
							`"channel":"ahp-terminal:/%s","clientSeq":%d,`+
							`"action":{"type":"terminal/output","data":"x"}}}`, c.terminal, i)
					}
				}()
				for i := range outputs {
					msg := string(p.next(t))
					rejected := strings.Contains(msg, "rejectionReason")
					mine := strings.Contains(msg, fmt.Sprintf(`"clientSeq":%d}`, i))
					if !mine || rejected != c.held {
						t.Fatalf("output %d: %s", i, msg)
					}
				}
				if took := time.Since(start); (took > 0) != c.held {
					t.Errorf("the host has held it up for %v", took)
				}
			})
		})
	}
}

// A connection that says nothing, or everything but who it is, does not stay.
func TestAPeerMustInitialize(t *testing.T) {
	h := hosttest.New(t)
	o := rpc.Options{InitializeWait: 2 * time.Second, RequestsPerSecond: -1}
	silent, pings := serve(t, h, principals()["alice"], o), serve(t, h, principals()["alice"], o)
	pings.sendf(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	pings.next(t)
	ready := serve(t, h, principals()["alice"], o)
	greet(t, ready, "a")
	for _, p := range []*pipe{silent, pings} {
		if msg := p.next(t); msg != nil {
			t.Errorf("it goes on with %s", msg)
		}
	}
	ready.sendf(t, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if msg := ready.next(t); !strings.Contains(string(msg), `"id":2`) {
		t.Errorf("whoever has initialized gets %s", msg)
	}
}
