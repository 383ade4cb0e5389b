package rpc_test

import (
	"bytes"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
)

// A connection that ends takes its waits with it: hosttest.Main finds what is left.
func TestWaitsAreBoundedAndEndWithTheirConnection(t *testing.T) {
	h := hosttest.New(t)
	p := serve(t, h, principals()["bob"], rpc.Options{})
	greet(t, p, "a")
	run(t, p, "a", "x", "read x")
	const most = 256
	ask := func(id int, condition string) {
		p.sendf(t, `{"jsonrpc":"2.0","id":%d,"method":"termhost/wait","params":`+
			`{"channel":"ahp-terminal:/x","for":{%s}}}`, id, condition)
	}
	for i := range most {
		ask(1000+i, `"match":"never"`)
	}
	ask(1, `"exit":true`)
	if got := p.next(t); !bytes.Contains(got, []byte(`"id":1,"error":{"code":-32011`)) {
		t.Errorf("one too many: %s", got)
	}
	other := serve(t, h, principals()["bob"], rpc.Options{})
	greet(t, other, "b")
	other.sendf(t, `{"jsonrpc":"2.0","id":2,"method":"termhost/wait","params":`+
		`{"channel":"ahp-terminal:/x","for":{"idleMs":1}}}`)
	const want = `{"jsonrpc":"2.0","id":2,"result":{"reason":"idle"}}`
	if got := string(other.next(t)); got != want {
		t.Errorf("another connection: %s", got)
	}
	p.Close("gone")
}
