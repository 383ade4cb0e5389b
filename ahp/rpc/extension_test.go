package rpc_test

import (
	"encoding/json"
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
)

// counting is an Extension that counts its only request.
type counting struct {
	endless
	handled *int
}

func (c counting) Handle(string, json.RawMessage) rpc.Reply {
	*c.handled++
	return rpc.Reply{Result: func(dst []byte) []byte { return append(dst, "true"...) }}
}

func TestARequestOfAnExtensionIsNotCarriedOutWithoutAnID(t *testing.T) {
	handled := 0
	extend := func(*host.Conn) rpc.Extension { return counting{handled: &handled} }
	text, err := answers(t, hosttest.New(t), &slowSink{}, extend, helloLine,
		`{"jsonrpc":"2.0","method":"endless"}`, `{"jsonrpc":"2.0","id":2,"method":"endless"}`)
	if err != nil || handled != 1 {
		t.Errorf("it was carried out %d times, %v", handled, err)
	}
	for _, want := range []string{`"id":null,"error":{"code":-32600`, `"id":2,"result":true`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
}
