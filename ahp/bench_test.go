package ahp_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"termhost/ahp"
)

// coloured is output as programs print it: lines of 97 bytes with SGR colours.
func coloured(size int) []byte {
	line := []byte("\x1b[32m[ ok ]\x1b[0m " + strings.Repeat("some text ", 8) + "\r\n")
	return bytes.Repeat(line, size/len(line)+1)[:size]
}

func BenchmarkEncodeData64KiB(b *testing.B) {
	for name, data := range map[string][]byte{
		"coloured": coloured(64 << 10),
		"plain":    bytes.Repeat([]byte("a"), 64<<10),
		"dense":    bytes.Repeat([]byte("\x1b[1;2H\x1b[mx"), 64<<10/12),
		"cjk":      bytes.Repeat([]byte("\u4e2d\u6587"), 64<<10/6),
	} {
		b.Run(name, func(b *testing.B) {
			a := ahp.TerminalData{Data: data}
			var dst []byte
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				dst = ahp.AppendAction(dst[:0], a, ahp.ShapeLifecycle)
			}
		})
	}
}

// BenchmarkApply shows that the cost of an append does not depend on the length.
func BenchmarkApply(b *testing.B) {
	for _, appends := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("%d tiny appends", appends), func(b *testing.B) {
			arena := bytes.Repeat([]byte("ab"), appends)
			for b.Loop() {
				var st ahp.TerminalState
				for i := range appends {
					st.Apply(ahp.TerminalData{Data: arena[2*i : 2*i+2]})
				}
			}
			perAppend(b, appends)
		})
	}
}

// perAppend reports the time of one of the appends of an iteration.
func perAppend(b *testing.B, appends int) {
	total := float64(b.N) * float64(appends)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/total, "ns/append")
}

func BenchmarkApplyScattered(b *testing.B) {
	for _, appends := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("%d tiny appends", appends), func(b *testing.B) {
			p := []byte("ab")
			for b.Loop() {
				var st ahp.TerminalState
				for range appends {
					st.Apply(ahp.TerminalData{Data: p})
				}
			}
			perAppend(b, appends)
		})
	}
}

func BenchmarkSnapshotJSON(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			st := ahp.TerminalState{Title: "bash", Claim: ahp.ClientClaim("c")}
			for rest := size; rest > 0; rest -= 64 << 10 {
				st.Apply(ahp.TerminalData{Data: coloured(min(rest, 64<<10))})
			}
			var dst []byte
			b.SetBytes(int64(size))
			for b.Loop() {
				dst = st.AppendJSON(dst[:0], ahp.ShapeLifecycle)
			}
		})
	}
}
