package termlog

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// readFrom returns what a Reader reads from a Spot.
func readFrom(t *testing.T, l *Log, from Spot) (all []Record) {
	t.Helper()
	for r := NewReader(from); ; {
		more, err := r.Next(l)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return all
		}
		r.Each(func(rec Record) bool {
			rec.Payload = bytes.Clone(rec.Payload)
			all = append(all, rec)
			return true
		})
	}
}

// fillSegments writes a log with several pieces per segment, and records of up to 2 MiB.
func fillSegments(t *testing.T, r *rand.Rand) *Log {
	t.Helper()
	l, err := InMemory(16 << 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	for n := 0; n < 20<<20; {
		kind, size := Data, 1+r.IntN(maxData)
		if r.IntN(20) == 0 {
			kind, size = Checkpoint, r.IntN(2<<20)
		}
		mustAppend(t, l, kind, bytes.Repeat([]byte{byte(n)}, size))
		n += size
	}
	return l
}

func TestAReaderContinuesAtASpot(t *testing.T) {
	l := fillSegments(t, rand.New(rand.NewPCG(1, 2)))
	all := readFrom(t, l, Spot{})
	if want := records(t, l, 0); len(all) != len(want) || len(all) < 100 {
		t.Fatalf("a Reader finds %d records, there are %d", len(all), len(want))
	}
	for i := 0; i < len(all); i += 17 {
		rest := readFrom(t, l, all[i].Next())
		if len(rest) != len(all)-i-1 {
			t.Fatalf("behind record %d of %d there are %d", i, len(all), len(rest))
		}
		for n := range rest {
			if !same(rest[n], all[i+1+n]) || rest[n].Next() != all[i+1+n].Next() {
				t.Fatalf("behind record %d, record %d differs", i, n)
			}
		}
	}
	if first := readFrom(t, l, l.Start()); !same(first[0], all[0]) {
		t.Errorf("the log starts at %+v", first[0].Pos)
	}
	last := all[len(all)-1].Next()
	mustAppend(t, l, Data, []byte("more"))
	if rest := readFrom(t, l, last); len(rest) != 1 || string(rest[0].Payload) != "more" {
		t.Errorf("at the end %d records were added", len(rest))
	}
}

// Whatever is damaged, and wherever pieces end, a Reader finds the intact records.
func TestAReaderLeavesOutDamagedRecords(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 3))
		l := fillSegments(t, r)
		all := records(t, l, 0)
		hurt := map[int]bool{}
		for range 5 {
			i := r.IntN(len(all) - 1)
			next := all[i].next
			for k := range l.segments {
				if s := &l.segments[k]; s.generation == next.generation && k != l.newest {
					at := next.offset - int64(recordHeader+len(all[i].Payload))
					if _, err := s.f.WriteAt([]byte{0xff, 0xff, byte(r.Uint32())}, at+int64(r.IntN(3))); err != nil {
						t.Fatal(err)
					}
					hurt[i] = true
				}
			}
		}
		got := readFrom(t, l, Spot{})
		n := 0
		for i := range all {
			if hurt[i] {
				continue
			}
			if n == len(got) || !same(got[n], all[i]) {
				t.Fatalf("seed %d: record %d of %d is not read", seed, i, len(all))
			}
			n++
		}
		if n != len(got) {
			t.Fatalf("seed %d: %d records are read, %d are whole", seed, len(got), n)
		}
	}
}
