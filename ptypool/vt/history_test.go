package vt

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
)

func TestTheScrollbackIsBoundedInBytesAndHoldsAboutWhatWasPrinted(t *testing.T) {
	const most = 256 << 10
	for name, line := range map[string]string{
		"short":   "%d\r\n",
		"wide":    "%d 日本語のテキスト 日本語のテキスト\r\n",
		"wrapped": "%0200d\r\n",
		"coloured": "\x1b[32m%06d\x1b[0m \x1b[1;34mdrwxr-xr-x\x1b[0m 2 root root 4096 Jan  1 12:00 " +
			"\x1b[1;34mname\x1b[0m\r\n",
	} {
		v := New(80, 24, Options{ScrollbackLines: most, ScrollbackBytes: most})
		printed, lines := 0, 0
		for printed < 4*most {
			p := fmt.Appendf(nil, line, lines)
			v.Feed(p, &recorder{})
			printed += len(p)
			lines++
			if n := v.screen.history.bytes; n > most {
				t.Fatalf("%s: %d bytes are kept, want at most %d", name, n, most)
			}
		}
		kept := bytes.Count(v.AppendHistoryText(nil), []byte("\n"))
		if share := float64(kept) / (float64(lines) * most / float64(printed)); share < 0.6 {
			t.Errorf("%s: %d lines of %d are kept, %.2f of what their bytes allow",
				name, kept, lines, share)
		}
		held := 0
		for _, b := range v.screen.history.blocks {
			held += cap(b.buf) + 4*cap(b.ends)
		}
		if held > 3*most { // the shortest lines take as much again for their places
			t.Errorf("%s: %d bytes of memory for %d", name, held, most)
		}
	}
}

func TestAScrollbackThatHoldsNothingCostsNothing(t *testing.T) {
	const n = 100
	vs := make([]*Terminal, n)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range vs {
		vs[i] = New(80, 24, Options{ScrollbackLines: 1 << 30, ScrollbackBytes: 1 << 30})
		vs[i].Feed([]byte("$ "), &recorder{})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := (after.HeapAlloc - before.HeapAlloc) / n; each > 64<<10 {
		t.Errorf("an idle terminal takes %d bytes", each)
	}
	runtime.KeepAlive(vs)
}
