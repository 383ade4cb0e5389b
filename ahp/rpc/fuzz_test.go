package rpc_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
)

// FuzzConnection gives a host the lines of one connection. Every line of its answers is whole JSON,
// nothing is answered that was not asked or twice, serverSeqs rise, and at the end the host is
// still there.
func FuzzConnection(f *testing.F) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://",` +
		`"protocolVersions":["1.0.0"],"clientId":"f"}}` + "\n"
	for _, seed := range []string{
		hello + `{"jsonrpc":"2.0","id":2,"method":"subscribe","params":{"channel":"ahp-terminal:/x"}}` +
			"\n" + `{"jsonrpc":"2.0","id":2,"method":"subscribe","params":{"channel":"ahp-root://"}}` +
			"\n" + `{"jsonrpc":"2.0","method":"unsubscribe","params":{"channel":"ahp-terminal:/x"}}`,
		hello + `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/x",` +
			`"clientSeq":1,"action":{"type":"terminal/input","data":"\ud83d"}}}` + "\n" +
			`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/x",` +
			`"clientSeq":1,"action":{"type":"terminal/resized","cols":1e3,"rows":"x"}}}`,
		hello + `{"jsonrpc":"2.0","id":"w","method":"termhost/wait","params":{` +
			`"channel":"ahp-terminal:/x","for":{"match":"(a|b)+","idle":true},"timeoutMs":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"reconnect","params":{"channel":"ahp-root://",` +
			`"clientId":"f","lastSeenServerSeq":1,"subscriptions":["ahp-root://"]}}` + "\n" + hello + hello,
		hello + `{"jsonrpc":"2.0","id":3,"method":"termhost/approve","params":{` +
			`"channel":"ahp-terminal:/x","ask":"a","approve":true}}` + "\n\n  \n{}\n[]\n\xff\n",
		hello + `{"jsonrpc":"2.0","id":3,"method":"createTerminal","params":{"channel":` +
			`"ahp-terminal:/y","claim":{"kind":"session","session":"s:/1"},"_meta":{"termhost":` +
			`{"env":{"A":"1","a":"2"},"args":[""],"grace":"1h"}}}}`,
		hello + `{"jsonrpc":"2.0","id":2,"method":"subscribe","params":{"channel":"ahp-terminal:/x",` +
			`"flowControl":{"receive":{"windowBytes":1,"maximumFrameBytes":4096,"maximumMessageBytes":` +
			`1048576}}}}` + "\n" + `{"jsonrpc":"2.0","method":"channel/frame","params":{"channel":` +
			`"ahp-terminal:/x","data":"{\"jsonrpc\":\"2.0\",\"method\":\"unsubscribe\","}}` + "\n" +
			`{"jsonrpc":"2.0","method":"channel/credit","params":{"channel":"ahp-terminal:/x",` +
			`"consumedBytes":1}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		// As an observer, so that no command that a fuzzer finds is run.
		h := hosttest.New(t, func(c *host.Config) { c.ClientGrace = 0 })
		owner := serve(t, h, principals()["bob"], rpc.Options{})
		greet(t, owner, "owner")
		share(t, owner, "owner", "x")
		conn, err := hosttest.Dial(t, h, principals()["eve"], rpc.Options{RequestsPerSecond: -1})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		const last = `"the last question"`
		go func() { // ends when conn is closed
			sent := append(bytes.Clone(input), "\n"+`{"jsonrpc":"2.0","id":`+last+`,"method":"ping"}`+"\n"...)
			_, _ = conn.Write(sent)
		}()
		asked := map[string]int{}
		for line := range bytes.SplitSeq(input, []byte{'\n'}) {
			var m struct {
				ID json.RawMessage `json:"id"`
			}
			if json.Unmarshal(line, &m) == nil {
				asked[string(m.ID)]++
			}
		}
		seq, lines := uint64(0), bufio.NewReader(conn)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				break // an unknown protocol version ends the connection
			}
			var m ahp.Message
			if err := json.Unmarshal(line, &m); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if string(m.ID) == last {
				break
			}
			if m.Error != nil && m.Error.Code == ahp.CodeInternal {
				t.Errorf("it was answered with %s", line)
			}
			if id := string(m.ID); id != "" && id != "null" {
				if asked[id]--; asked[id] < 0 {
					t.Errorf("%s answers nothing", line)
				}
			}
			var e ahp.Envelope
			if m.Method == "action" && json.Unmarshal(m.Params, &e) == nil {
				if e.ServerSeq <= seq {
					t.Errorf("the serverSeq %d follows %d", e.ServerSeq, seq)
				}
				seq = e.ServerSeq
			}
		}
		owner.send(t, []byte(`{"jsonrpc":"2.0","id":9,"method":"ping"}`))
		if msg := owner.next(t); msg == nil {
			t.Error("the host answers another connection no more")
		}
	})
}
