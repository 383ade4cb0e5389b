package rpc_test

import (
	"encoding/json"
	"strings"
	"testing"

	"termhost/ahp"
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

// greeter is an Extension that has one of termhost's own names, and answers with the method.
type greeter struct{ endless }

func (greeter) Has(method string) bool { return method == "termhost/greet" }

func (greeter) Handle(method string, _ json.RawMessage) rpc.Reply {
	return rpc.Reply{Result: func(dst []byte) []byte { return ahp.AppendJSONString(dst, method) }}
}

func (greeter) Announcement() (string, json.RawMessage) {
	return "termhost/greets", json.RawMessage("true")
}

func TestAnExtensionHasReservedNames(t *testing.T) {
	extend := func(*host.Conn) rpc.Extension { return greeter{} }
	text, err := answers(t, hosttest.New(t), &slowSink{}, extend, helloLine,
		`{"jsonrpc":"2.0","id":2,"method":"termhost/greet"}`,
		`{"jsonrpc":"2.0","id":3,"method":"x-termhost/greet"}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"termhost/greets":true`, `"x-termhost/greets":true`,
		`"id":2,"result":"termhost/greet"`, `"id":3,"result":"termhost/greet"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
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
