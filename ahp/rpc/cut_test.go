package rpc_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
)

// TestRequestsEndWithTheirConnection: what takes minutes is not gone on with when nobody waits for
// it any more. The pattern takes thousands of steps for each byte of the log.
func TestRequestsEndWithTheirConnection(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.LogBytes = 32 << 20 })
	maker := serve(t, h, principals()["bob"], rpc.Options{})
	greet(t, maker, "maker")
	run(t, maker, "maker", "x", "head -c 12000000 /dev/zero | tr '\\0' x | fold -w 6000")
	maker.sendf(t, `{"jsonrpc":"2.0","id":3,"method":"termhost/wait","params":`+
		`{"channel":"ahp-terminal:/x","for":{"exit":true}}}`)
	maker.next(t)
	for method, params := range map[string]string{
		"termhost/find":    `,"pattern":"[^y].{1000}.{1000}[yz]"`,
		"termhost/lines":   `,"from":0,"count":1000`,
		"termhost/screen":  `,"scrollback":10000`,
		"termhost/history": ``,
		"termhost/log":     `,"form":"cast"`,
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			c, err := h.Connect(principals()["eve"], host.DoorSubsystem)
			if err != nil {
				t.Fatal(err)
			}
			end, served := newPipe(), make(chan struct{})
			go func() {
				defer close(served)
				defer c.Close()
				_ = rpc.Serve(end, c, rpc.Options{})
			}()
			greet(t, end, method)
			for id := range 2 {
				end.sendf(t, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"channel":"ahp-terminal:/x"%s}}`,
					10+id, method, params)
			}
			end.sendf(t, `{"jsonrpc":"2.0","id":20,"method":"ping","params":{"channel":"ahp-root://"}}`)
			if msg := end.next(t); bytes.Contains(msg, []byte(`"error"`)) {
				t.Errorf("it is refused: %s", msg)
			}
			if method == "termhost/find" {
				hosttest.Eventually(t, "the log is looked through", looksForLines)
			}
			end.Close("the peer is gone")
			hosttest.Eventually(t, fmt.Sprint(method, " has ended"), func() bool {
				select {
				case <-served:
					return true
				default:
					return false
				}
			})
		})
	}
}

// looksForLines reports whether some goroutine looks for lines that match a pattern.
func looksForLines() bool {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return bytes.Contains(stacks, []byte("history.(*Pattern).Next"))
}
