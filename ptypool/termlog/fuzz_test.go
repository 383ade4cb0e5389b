package termlog

import (
	"bytes"
	"os"
	"slices"
	"testing"
)

// placed is a record and where it stands.
type placed struct {
	Record
	segment    int
	begin, end int64 // offsets in the segment's file
}

// choose makes a number below n of the fuzzer's bytes; 0 when there are none left.
func choose(p *[]byte, n int) int {
	if len(*p) == 0 {
		return 0
	}
	b := int((*p)[0])
	*p = (*p)[1:]
	return b * n / 256
}

// scribble appends up to most records that the fuzzer chooses, and returns them. A Data of many
// bytes becomes several.
func scribble(t *testing.T, l *Log, mark byte, plan *[]byte, most int) (all []placed) {
	sizes := []int{0, 1, 9, 100, 100, 4000, 30_000, maxData, 2 * maxData}
	for range most {
		if len(*plan) == 0 {
			break
		}
		kind := Kind(1 + choose(plan, 6))
		p := bytes.Repeat([]byte{byte(len(all)), mark, 0}, sizes[choose(plan, len(sizes))]/3+1)
		for rest := p; len(rest) > 0; {
			n := min(len(rest), maxData, int(l.size-segmentHeader)/2-recordHeader) // see Append
			before := l.newest
			at := placed{Record: Record{Kind: kind, Pos: l.end, Time: noon, Payload: rest[:n]}, begin: l.offset}
			turned, err := l.Append(kind, noon, rest[:n])
			if err != nil {
				t.Fatal(err)
			}
			if turned != (l.newest != before) {
				t.Fatalf("turned is %v, the segment %d, before %d", turned, l.newest, before)
			}
			if turned {
				at.begin = segmentHeader
			}
			at.segment, at.end = l.newest, l.offset
			all = append(all, at)
			rest = rest[n:]
		}
	}
	return all
}

// harm damages a part of a segment's file and returns where that begins.
func harm(t *testing.T, f *os.File, plan *[]byte) (from int64) {
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	size := st.Size()
	from = int64(choose(plan, 256)<<8|choose(plan, 256)) * size >> 16
	if choose(plan, 4) == 0 {
		from = min(from, segmentHeader-1)
	}
	how := choose(plan, 3)
	if how == 0 || size == 0 { // the end of the file is missing
		if err := f.Truncate(from); err != nil {
			t.Fatal(err)
		}
		return from
	}
	n := min(1, size-from)
	if how == 1 { // a page never reached the disk
		from &^= 4095
		n = min(4096, size-from)
	}
	p := make([]byte, n)
	if how == 2 {
		if _, err := f.ReadAt(p, from); err != nil {
			t.Fatal(err)
		}
		p[0] ^= byte(1 + choose(plan, 255))
	}
	if _, err := f.WriteAt(p, from); err != nil {
		t.Fatal(err)
	}
	return from
}

func same(a, b Record) bool {
	return a.Kind == b.Kind && a.Pos == b.Pos && a.Time.Equal(b.Time) &&
		bytes.Equal(a.Payload, b.Payload)
}

// checkOrder fails unless got are some of all, in their order.
func checkOrder(t *testing.T, what string, got []Record, all []placed) {
	t.Helper()
	i := 0
	for n, r := range got {
		for i < len(all) && !same(r, all[i].Record) {
			i++
		}
		if i == len(all) {
			t.Fatalf("%s: record %d of %d (kind %d at %d, %d bytes) was never written, or not there",
				what, n, len(got), r.Kind, r.Pos, len(r.Payload))
		}
		i++
	}
}

// FuzzDamage writes a log, damages its segments, and opens it again. Records before the damage in
// its segment, and those in other segments, are still read; nothing is read that was not written;
// and records that are appended then come after those that were left.
func FuzzDamage(f *testing.F) {
	f.Add([]byte{0, 100, 0, 100}, []byte{0, 128, 0, 255, 255}, []byte{0, 100})
	f.Add(bytes.Repeat([]byte{0, 250}, 8), []byte{80, 128, 0, 255, 255}, []byte{0, 100, 0, 0})
	// The newest header is lost, then a segment of its generation is begun again.
	f.Add(bytes.Repeat([]byte{0, 250}, 2), []byte{80, 0, 0, 0, 100}, bytes.Repeat([]byte{0, 250}, 3))
	f.Fuzz(func(t *testing.T, plan, damage, more []byte) {
		first, err := InMemory(MinSize)
		if err != nil {
			t.Fatal(err)
		}
		all := scribble(t, first, 'a', &plan, 60)
		files := first.Files()
		intact := slices.Repeat([]int64{1 << 40}, Segments)
		for range 3 {
			if len(damage) > 0 {
				i := choose(&damage, Segments)
				intact[i] = min(intact[i], harm(t, files[i], &damage))
			}
		}
		l, err := New(files, MinSize)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		left := records(t, l, 0)
		checkOrder(t, "after the damage", left, all)
		turned := map[int]int64{} // by segment, the generation's first record
		for i, r := range all {
			if i == 0 || all[i-1].segment != r.segment {
				turned[r.segment] = int64(i)
			}
		}
		for i, r := range all {
			if int64(i) < turned[r.segment] { // overwritten in the last round
				continue
			}
			safe := intact[r.segment] >= r.end && intact[r.segment] >= segmentHeader
			if safe && !slices.ContainsFunc(left, func(o Record) bool { return same(o, r.Record) }) {
				t.Fatalf("record %d (kind %d at %d) stands before the damage and is not read",
					i, r.Kind, r.Pos)
			}
		}
		generation := l.segments[l.newest].generation
		added := scribble(t, l, 'b', &more, 10)
		now := records(t, l, 0)
		begun := make([]placed, 0, len(left)+len(added))
		for _, r := range left {
			begun = append(begun, placed{Record: r})
		}
		checkOrder(t, "after writing on", now, append(begun, added...))
		if l.segments[l.newest].generation == generation && len(now) != len(left)+len(added) {
			t.Fatalf("%d records were left and %d added, there are %d", len(left), len(added), len(now))
		}
		again, err := New(l.Files(), MinSize)
		if err != nil {
			t.Fatal(err)
		}
		if again.End() != l.End() {
			t.Fatalf("the next writer finds the end at %d, not %d", again.End(), l.End())
		}
		checkOrder(t, "after opening it again", records(t, again, 0), append(begun, added...))
	})
}
