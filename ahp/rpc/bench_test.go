package rpc

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkDecodeOutput takes apart what the owner of a client-executed terminal sends.
func BenchmarkDecodeOutput(b *testing.B) {
	line := `\u001b[32mok\u001b[0m  \tthe quick brown fox jumps over the lazy dog, 12 of 34 \"done\"\r\n`
	text := strings.Repeat(line, 32<<10/len(line))
	msg := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":`+
		`"ahp-terminal:/x","clientSeq":1,"action":{"type":"terminal/output","data":"%s"}}}`, text)
	b.SetBytes(int64(len(msg)))
	b.ReportAllocs()
	for b.Loop() {
		r, bad := parse(msg)
		if bad != nil {
			b.Fatal(bad)
		}
		if _, _, ok, err := r.action.text(); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

// BenchmarkManyKeys refuses an object that is made to take long.
func BenchmarkManyKeys(b *testing.B) {
	var keys strings.Builder
	for i := range 90_000 {
		fmt.Fprintf(&keys, `"k%d":1,`, i)
	}
	msg := []byte(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{` + keys.String() + `"z":1}}`)
	b.SetBytes(int64(len(msg)))
	for b.Loop() {
		if _, bad := parse(msg); bad == nil {
			b.Fatal("it is taken")
		}
	}
}
