package rpc_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
)

// dataIn returns how many bytes of output a message carries.
func dataIn(t *testing.T, msg []byte) int {
	t.Helper()
	var m struct {
		Params struct{ Action struct{ Type, Data string } }
	}
	if err := json.Unmarshal(msg, &m); err != nil {
		t.Fatal(err)
	}
	if m.Params.Action.Type != "terminal/data" {
		return 0
	}
	return len(m.Params.Action.Data)
}

// quiet returns the host's messages until none has come for a while.
func quiet(p *pipe) (all [][]byte) {
	for {
		select {
		case msg := <-p.out:
			all = append(all, msg)
		case <-time.After(50 * time.Millisecond):
			return all
		}
	}
}

func TestAPeerThatAcknowledgesIsSentOneWindowAhead(t *testing.T) {
	t.Parallel()
	const window = 64 << 10
	h := hosttest.New(t)
	p := serve(t, h, principals()["alice"], rpc.Options{})
	p.sendf(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://",`+
		`"protocolVersions":["1.0.0"],"clientId":"a","_meta":{"termhost/ack":{"window":%d}}}}`, window)
	p.sendf(t, `{"jsonrpc":"2.0","id":2,"method":"createTerminal","params":{"channel":"ahp-terminal:/t",`+
		`"claim":{"kind":"client","clientId":"a"},"_meta":{"termhost":{"command":"/bin/sh","args":`+
		`["-c","stty raw; read x; yes | head -c 400000; echo done; read x"]}}}}`)
	p.sendf(t, `{"jsonrpc":"2.0","id":3,"method":"subscribe","params":{"channel":"ahp-terminal:/t"}}`)
	if hello := p.answer(t, 1); !strings.Contains(string(hello), `"termhost/ack":{}`) {
		t.Fatalf("the host greets with %s", hello)
	}
	if msg := p.answer(t, 3); !strings.Contains(string(msg), `"result"`) {
		t.Fatalf("the answer to subscribe is %s", msg)
	}
	p.sendf(t, `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/t",`+
		`"clientSeq":1,"action":{"type":"terminal/input","data":"\n"}}}`)
	owed, total, done := 0, 0, false
	take := func(msg []byte) {
		owed += dataIn(t, msg)
		total += dataIn(t, msg)
		done = done || strings.Contains(string(msg), "done")
	}
	for !done {
		for owed < window && !done {
			msg := p.next(t)
			if msg == nil {
				t.Fatalf("after %d bytes nothing comes any more", total)
			}
			take(msg)
		}
		for _, msg := range quiet(p) {
			take(msg)
		}
		// A message is not cut: the last one may go beyond.
		if most := window + 72<<10; owed > most {
			t.Fatalf("%d bytes are not acknowledged, of at most %d", owed, most)
		}
		p.sendf(t, `{"jsonrpc":"2.0","method":"termhost/ack","params":{"bytes":%d}}`, owed)
		owed = 0
	}
}

func TestAWindowMustBeOne(t *testing.T) {
	for _, window := range []string{"0", "-1", "1e12"} {
		text, _ := answers(t, hosttest.New(t), &slowSink{}, nil, `{"jsonrpc":"2.0","id":1,"method":"initialize",`+
			`"params":{"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":"a",`+
			`"_meta":{"termhost/ack":{"window":`+window+`}}}}`)
		if !strings.Contains(text, "-32602") {
			t.Errorf("a window of %s: %s", window, text)
		}
	}
}
