package rpc_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
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

// Expressions that are short and take much memory are refused where a key has too many of them.
func TestPatternsAreRefusedByNameAndGoWithTheirWaits(t *testing.T) {
	h := hosttest.New(t)
	p := serve(t, h, principals()["bob"], rpc.Options{})
	greet(t, p, "a")
	run(t, p, "a", "x", "read x")
	large := strings.Repeat(`\\pL\\PL`, 160)
	for i := range 30 {
		p.sendf(t, `{"jsonrpc":"2.0","id":%d,"method":"termhost/wait","params":`+
			`{"channel":"ahp-terminal:/x","for":{"match":"%s%d"}}}`, i, large, i)
	}
	const refused = `"error":{"code":-32011,"message":"the regular expressions that this key waits and` +
		` searches with would take more than 16 MiB: `
	for range 30 - 9 {
		if got := p.next(t); !bytes.Contains(got, []byte(refused)) || !bytes.Contains(got, []byte(`"limit":"patterns"`)) {
			t.Fatalf("one too many: %s", got)
		}
	}
	for _, method := range []string{"find", "search"} {
		p.sendf(t, `{"jsonrpc":"2.0","id":100,"method":"termhost/%s","params":`+
			`{"channel":"ahp-terminal:/x","pattern":"%s%d"}}`, method, large, 100)
		if got := p.next(t); !bytes.Contains(got, []byte(refused)) {
			t.Errorf("%s: %s", method, got)
		}
	}
	p.Close("gone")
	hosttest.Eventually(t, "the patterns go with their waits", func() bool {
		other := hosttest.Conn(t, h, principals()["bob"])
		defer other.Close()
		var release []func()
		defer func() {
			for _, one := range release {
				one()
			}
		}()
		for i := range 9 {
			_, done, err := other.Pattern(fmt.Sprint(strings.Repeat(`\pL\PL`, 160), 200+i), false)
			if err != nil {
				return false
			}
			release = append(release, done)
		}
		return true
	})
}

func TestMeasuresWaitsForLargePatterns(t *testing.T) {
	if os.Getenv("TERMHOST_MEASURE") == "" {
		t.Skip("TERMHOST_MEASURE is not set")
	}
	h := hosttest.New(t)
	p := serve(t, h, principals()["bob"], rpc.Options{})
	greet(t, p, "a")
	run(t, p, "a", "x", "read x")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 250 {
		p.sendf(t, `{"jsonrpc":"2.0","id":%d,"method":"termhost/wait","params":`+
			`{"channel":"ahp-terminal:/x","for":{"match":"\\pL{1000}|zN%d"}}}`, i, i)
	}
	p.sendf(t, `{"jsonrpc":"2.0","id":1000,"method":"ping"}`)
	if got := p.next(t); !bytes.Contains(got, []byte(`"id":1000`)) {
		t.Fatalf("a wait is refused: %s", got)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	takes := int(after.HeapAlloc) - int(before.HeapAlloc)
	t.Logf("250 waits take %d KiB, and the process %d MiB", takes>>10, after.Sys>>20)
	if takes > 32<<20 {
		t.Error("that is too much")
	}
	p.Close("gone")
}
