package main

import (
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest/slowtest"
	"termhost/cmd/termhost/bench"
)

// BenchmarkKept compares hosts that keep their terminals with one that does not, one after the
// other in each round: the medians of what each takes, and of how much more it is than that of the
// first in the same round.
func BenchmarkKept(b *testing.B) {
	rs, err := bench.StartVariants("termhost", b.TempDir(),
		bench.Variant{Name: "plain", Config: "terminal.keep = false\nterminal.persist = false\n"},
		bench.Variant{Name: "no-disk", Config: "terminal.persist = false\n"},
		bench.Variant{Name: "kept"},
		bench.Variant{Name: "recorded", Config: "terminal.record = \"all\"\n"},
	)
	if err != nil {
		b.Fatal(err)
	}
	defer rs.Close()
	b.Run("flood", func(b *testing.B) {
		file, err := bench.FloodFile(b.TempDir(), slowtest.Amount(32<<20, 1<<20))
		if err != nil {
			b.Fatal(err)
		}
		compareRounds(b, rs.List, func(r *bench.Rival) time.Duration {
			took, _, err := r.Flood(file)
			if err != nil {
				b.Fatal(err)
			}
			return took
		})
	})
	b.Run("create", func(b *testing.B) {
		clients := map[*bench.Rival]*ssh.Client{}
		for _, r := range rs.List {
			c, err := r.Dial()
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			clients[r] = c
		}
		compareRounds(b, rs.List, func(r *bench.Rival) time.Duration {
			begun := time.Now()
			if err := runPiped(clients[r], "new -d -- true", nil, new(counter)); err != nil {
				b.Fatal(err)
			}
			return time.Since(begun)
		})
	})
}

// compareRounds measures each of the list in every round. It reports the medians.
func compareRounds(b *testing.B, list []*bench.Rival, measure func(*bench.Rival) time.Duration) {
	took := make([][]time.Duration, len(list))
	more := make([][]time.Duration, len(list)) // than the first of the list in the same round
	for _, r := range list {
		measure(r) // the first time is another
	}
	for b.Loop() {
		var first time.Duration
		for i, r := range list {
			now := measure(r)
			if i == 0 {
				first = now
			}
			took[i], more[i] = append(took[i], now), append(more[i], now-first)
		}
	}
	for i, r := range list {
		b.ReportMetric(float64(bench.Percentile(took[i], 50).Microseconds()), r.Name+"-us")
		if i > 0 {
			m := bench.Percentile(more[i], 50)
			b.ReportMetric(float64(m.Microseconds()), r.Name+"-more-us")
		}
	}
	b.ReportMetric(0, "ns/op")
}
