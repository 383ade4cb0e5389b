package rpc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
	"termhost/authz"
)

// BenchmarkPageOfALog is how long a page takes of the history of a terminal that has printed 16 MiB,
// when others were read before: at the beginning, in the middle and at the end. The goal is that
// none takes twice as long as another of its kind.
func BenchmarkPageOfALog(b *testing.B) {
	const size = 16 << 20
	var text []byte
	for i := 0; len(text) < size; i++ {
		text = fmt.Appendf(text, "\x1b[32m[%4d/9999]\x1b[m Building CXX object lib.dir/file%d.o\n", i%9999, i)
	}
	file := filepath.Join(b.TempDir(), "text")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		b.Fatal(err)
	}
	h := hosttest.New(b, func(c *host.Config) { c.LogBytes = 32 << 20 })
	p := serve(b, h, hosttest.Principal("carol", authz.Admin), rpc.Options{})
	greet(b, p, "a")
	run(b, p, "a", "x", "cat "+file)
	ask[any](b, p, "wait", `"channel":"ahp-terminal:/x","for":{"exit":true}`)
	page := func(b *testing.B, method, params string) (result struct{ Total int }) {
		return ask[struct{ Total int }](b, p, method, `"channel":"ahp-terminal:/x",`+params)
	}
	total := page(b, "lines", `"count":0`).Total
	for _, kind := range []struct {
		method, params string
		places         []int
	}{
		{"lines", `"count":200,"from":%d`, []int{0, total / 2, total - 200}},
		{"screen", `"scrollback":1000,"items":1000000,"at":%d`, []int{size / 100, size / 2, size}},
		{"history", `"maxBytes":65536,"from":%d`, []int{0, size / 2, size - 65536}},
	} {
		page(b, kind.method, fmt.Sprintf(kind.params, kind.places[2])) // it leaves keyframes
		for i, name := range []string{"first", "middle", "last"} {
			b.Run(kind.method+"/"+name, func(b *testing.B) {
				for b.Loop() {
					page(b, kind.method, fmt.Sprintf(kind.params, kind.places[i]))
				}
			})
		}
	}
}
