package rpc_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
)

// TestASubscriberThatLetsOutputWaitGetsFewerActions has a program print a number every 10 ms. A
// subscriber that lets output wait gets all of it, in at most one action for each time that it
// allows.
func TestASubscriberThatLetsOutputWaitGetsFewerActions(t *testing.T) {
	t.Parallel()
	const most = 300 * time.Millisecond
	h := hosttest.New(t)
	maker := serve(t, h, principals()["bob"], rpc.Options{})
	greet(t, maker, "maker")
	run(t, maker, "maker", "x", "read go; i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo n$i; "+
		"sleep 0.01; done; read stay")
	waits := serve(t, h, principals()["eve"], rpc.Options{})
	greet(t, waits, "waits")
	waits.sendf(t, `{"jsonrpc":"2.0","id":2,"method":"subscribe","params":`+
		`{"channel":"ahp-terminal:/x","delivery":{"maxLatencyMs":300}}}`)
	if msg := waits.next(t); !strings.Contains(string(msg), `"id":2,"result"`) {
		t.Fatalf("subscribe: %s", msg)
	}
	begun := time.Now()
	maker.sendf(t, `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":`+
		`"ahp-terminal:/x","clientSeq":1,"action":{"type":"terminal/input","data":"\r"}}}`)
	var text strings.Builder
	actions := 0
	for !strings.Contains(text.String(), "n100\r\n") {
		var msg struct {
			Method string       `json:"method"`
			Params ahp.Envelope `json:"params"`
		}
		if err := json.Unmarshal(waits.next(t), &msg); err != nil {
			t.Fatalf("%v after %q", err, text.String())
		}
		a, err := ahp.DecodeAction(msg.Params.Action)
		if d, ok := a.(ahp.TerminalData); ok && err == nil {
			text.Write(d.Data)
			actions++
		}
	}
	// The echo of the key comes first, at once.
	if allowed := 2 + int(time.Since(begun)/most); actions > allowed {
		t.Errorf("%d actions in %v", actions, time.Since(begun))
	}
	if n := strings.Count(text.String(), "n"); n != 100 {
		t.Errorf("%d numbers", n)
	}
}
