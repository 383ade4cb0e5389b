package termlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/smalldisk"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// records returns all records of l from a position.
func records(t *testing.T, l *Log, from int64) []Record {
	t.Helper()
	var all []Record
	if err := l.Read(from, func(r Record) bool { all = append(all, r); return true }); err != nil {
		t.Fatal(err)
	}
	return all
}

// output joins the Data of records that follow each other, or fails the test.
func output(t *testing.T, rs []Record) (first int64, out []byte) {
	t.Helper()
	next := int64(-1)
	for _, r := range rs {
		if next < 0 {
			first, next = r.Pos, r.Pos
		}
		if r.Pos != next {
			t.Fatalf("a record at %d follows one that ends at %d", r.Pos, next)
		}
		if r.Kind == Data {
			out = append(out, r.Payload...)
		}
		next = r.end()
	}
	return first, out
}

func mustAppend(t *testing.T, l *Log, kind Kind, payload []byte) {
	t.Helper()
	if _, err := l.Append(kind, noon, payload); err != nil {
		t.Fatal(err)
	}
}

func TestTheNextProcessReadsWhatWasWritten(t *testing.T) {
	dir := t.TempDir()
	l, err := Create(dir, MinSize)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, Data, []byte("hello "))
	mustAppend(t, l, Resize, SizePayload(100, 30))
	mustAppend(t, l, Data, []byte("world"))
	l.Close()

	l, err = Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if l.End() != 11 {
		t.Errorf("the log ends at %d, want 11", l.End())
	}
	mustAppend(t, l, Exit, []byte("0"))
	rs := records(t, l, 0)
	if len(rs) != 4 {
		t.Fatalf("%d records, want 4: %v", len(rs), rs)
	}
	cols, rows := Size(rs[1].Payload)
	if rs[1].Kind != Resize || cols != 100 || rows != 30 || rs[1].Pos != 6 {
		t.Errorf("the resize came back as %+v", rs[1])
	}
	if rs[3].Kind != Exit || rs[3].Pos != 11 || !rs[3].Time.Equal(noon) {
		t.Errorf("the exit came back as %+v", rs[3])
	}
	if got := records(t, l, 6); len(got) != 3 || got[0].Kind != Resize {
		t.Errorf("from position 6: %v, want the resize and what follows", got)
	}
}

func TestAFullLogOverwritesItsOldestQuarterInPlace(t *testing.T) {
	const size = 4 * MinSize
	dir := t.TempDir()
	l, err := Create(dir, size)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var all []byte
	random := rand.New(rand.NewPCG(1, 2))
	turns := 0
	for len(all) < 5*size {
		p := make([]byte, 1+random.IntN(100<<10))
		for i := range p {
			p[i] = byte(random.Uint32())
		}
		turned, err := l.Append(Data, noon, p)
		if err != nil {
			t.Fatal(err)
		}
		if turned {
			turns++
		}
		all = append(all, p...)
		first, out := output(t, records(t, l, 0))
		if first != l.First() || !bytes.Equal(out, all[first:]) {
			t.Fatalf("after %d bytes the log does not hold the last %d", len(all), len(out))
		}
	}
	if turns < 4*Segments {
		t.Errorf("%d segments were begun, want more: the test is to go round", turns)
	}
	if _, out := output(t, records(t, l, 0)); len(out) < size/2 {
		t.Errorf("only %d bytes are left of a log of %d", len(out), size)
	}
	var taken int64
	for i := range Segments {
		st, err := os.Stat(segmentPath(dir, i))
		if err != nil {
			t.Fatal(err)
		}
		taken += st.Size()
	}
	if taken > size {
		t.Errorf("the files take %d bytes, more than the %d that were asked for", taken, size)
	}
}

// cutOff writes a log of some rounds and returns its folder and all that was printed.
func cutOff(t *testing.T, size int) (dir string, all []byte) {
	dir = t.TempDir()
	l, err := Create(dir, MinSize)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; len(all) < size; i++ {
		p := fmt.Appendf(nil, "line %d\n", i)
		mustAppend(t, l, Data, p)
		all = append(all, p...)
	}
	l.Close()
	return dir, all
}

func TestATruncatedFileLosesOnlyWhatWasCut(t *testing.T) {
	dir, all := cutOff(t, 3000)
	whole, err := os.ReadFile(segmentPath(dir, 0))
	if err != nil {
		t.Fatal(err)
	}
	step := 7
	if slowtest.On(t) {
		step = 1
	}
	for n := 0; n < len(whole); n += step {
		cut := filepath.Join(t.TempDir(), "cut")
		if err := os.Mkdir(cut, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(segmentPath(cut, 0), whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := Open(cut)
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		mustAppend(t, l, Data, []byte("and on"))
		_, out := output(t, records(t, l, 0))
		kept, ok := bytes.CutSuffix(out, []byte("and on"))
		if !ok || !bytes.HasPrefix(all, kept) {
			t.Fatalf("cut at %d the log holds %q", n, out)
		}
		l.Close()
	}
}

func TestATornRecordIsOverwritten(t *testing.T) {
	dir, all := cutOff(t, 100)
	f, err := os.OpenFile(segmentPath(dir, 0), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	// The file has its full length, but the last byte was not written.
	if _, err := f.WriteAt([]byte{0}, st.Size()-1); err != nil {
		t.Fatal(err)
	}
	f.Close()
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if l.End() >= int64(len(all)) {
		t.Fatalf("the torn record counts: the log ends at %d of %d", l.End(), len(all))
	}
	mustAppend(t, l, Data, all[l.End():])
	if _, out := output(t, records(t, l, 0)); !bytes.Equal(out, all) {
		t.Errorf("the log holds %q, want %q", out, all)
	}
}

func TestAGapSaysHowMuchIsMissing(t *testing.T) {
	l, err := InMemory(MinSize)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	mustAppend(t, l, Data, []byte("abc"))
	if err := l.Skip(10, noon, "disk full"); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, Data, []byte("xyz"))
	rs := records(t, l, 0)
	if len(rs) != 3 || rs[1].Kind != Gap || rs[1].Pos != 13 ||
		string(rs[1].Payload) != "disk full" || rs[2].Pos != 13 {
		t.Errorf("records %+v", rs)
	}
}

func TestARecordLargerThanASegmentIsRefused(t *testing.T) {
	l, err := InMemory(MinSize)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = l.Append(Checkpoint, noon, make([]byte, minSegment))
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v, want ErrTooLarge", err)
	}
	mustAppend(t, l, Checkpoint, make([]byte, minSegment-segmentHeader-recordHeader))
	mustAppend(t, l, Data, make([]byte, 3*maxData))
	if l.End() != 3*maxData {
		t.Errorf("the log ends at %d, want %d", l.End(), 3*maxData)
	}
}

func TestOpeningAFolderWithoutALogFails(t *testing.T) {
	if _, err := Open(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

func TestASegmentThatIsJustBegunIsNotTakenForDamage(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var dir atomic.Pointer[string]
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		record := make([]byte, minSegment/2)
		for i := range 100 {
			path := filepath.Join(root, strconv.Itoa(i))
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Error(err)
				return
			}
			l, err := Create(path, MinSize)
			if err != nil {
				t.Error(err)
				return
			}
			dir.Store(&path)
			for range Segments { // each begins a segment
				_, err = l.Append(Data, noon, record)
			}
			if l.Close(); err != nil {
				t.Error(err)
			}
		}
	}()
	for {
		select {
		case <-ended:
			damaged, err := filepath.Glob(filepath.Join(root, "*", "*"+damagedSuffix))
			if len(damaged) > 0 || err != nil {
				t.Errorf("%d files of logs that were read while they were written were set aside: %v",
					len(damaged), err)
			}
			return
		default:
			if path := dir.Load(); path != nil {
				if l, err := Open(*path); err == nil {
					l.Close()
				}
			}
		}
	}
}

// The logs that are damaged have one round and several.
func TestDamageIsFoundAndIntactRecordsAreRead(t *testing.T) {
	flip := func(at int) func(path string) error {
		return func(path string) error {
			text, err := os.ReadFile(path)
			if err == nil {
				text[at%len(text)] ^= 1
				err = os.WriteFile(path, text, 0o600)
			}
			return err
		}
	}
	cutShort := func(path string) error {
		st, err := os.Stat(path)
		if err == nil {
			err = os.Truncate(path, st.Size()-1)
		}
		return err
	}
	for name, c := range map[string]struct {
		size, segment int
		spoil         func(path string) error
		damage        string
		ends          bool // what was printed last is lost
	}{
		"nothing":            {3000, 0, func(string) error { return nil }, "", false},
		"the middle":         {3000, 0, flip(1500), "log.0 is damaged at byte 1", false},
		"a header":           {3000, 0, flip(3), "log.0 is not one of its segments", true},
		"an old header":      {100_000, 0, flip(3), "log.0 is not one of its segments, log.0 is missing", false},
		"an old one is gone": {100_000, 1, os.Remove, "log.1 is missing", false},
		"it is empty":        {3000, 0, func(p string) error { return os.Truncate(p, 0) }, "it is empty", true},
		"its end":            {3000, 0, cutShort, "log.0 is damaged at byte ", true},
	} {
		dir, all := cutOff(t, c.size)
		if err := c.spoil(segmentPath(dir, c.segment)); err != nil {
			t.Fatal(err)
		}
		l, err := Open(dir)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := l.Damage(); !strings.HasPrefix(got, c.damage) || (got == "") != (c.damage == "") {
			t.Errorf("%s: it says %q, want %q", name, got, c.damage)
		}
		if ends := l.End() < int64(len(all)); ends != c.ends {
			t.Errorf("%s: it ends at %d of %d", name, l.End(), len(all))
		}
		for _, r := range records(t, l, 0) {
			if !bytes.HasPrefix(all[r.Pos:], r.Payload) {
				t.Fatalf("%s: at %d there is %q", name, r.Pos, r.Payload)
			}
		}
		l.Close()
		if l, err = Open(dir); err != nil || l.End() > int64(len(all)) {
			t.Fatalf("%s: then %v", name, err)
		}
		l.Close()
	}
}

func TestALogOfANewerFormatIsRefused(t *testing.T) {
	dir, _ := cutOff(t, 10)
	f, err := os.OpenFile(segmentPath(dir, 0), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := segment{f: f, generation: 1, size: minSegment}
	h := s.appendHeader(nil)
	h[6] = 9
	h = resum(h)
	if _, err := f.WriteAt(h, 0); err != nil {
		t.Fatal(err)
	}
	f.Close()
	var newer *FormatError
	if err := CheckFormat(dir); !errors.As(err, &newer) || newer.Format != 9 {
		t.Errorf("checked, it is %v, want a *FormatError", err)
	}
	if _, err := Open(dir); !errors.As(err, &newer) || newer.Format != 9 {
		t.Errorf("got %v, want a *FormatError", err)
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{97, 4 << 10, maxData} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			l, err := Create(b.TempDir(), 4<<20)
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			p := bytes.Repeat([]byte{'x'}, size)
			b.SetBytes(int64(size))
			for b.Loop() {
				if _, err := l.Append(Data, noon, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// resum gives a segment's header the checksum that its content has now.
func resum(h []byte) []byte {
	sum := crc32.Checksum(h[:segmentHeader-4], castagnoli)
	return binary.LittleEndian.AppendUint32(h[:segmentHeader-4], sum)
}

// A record that did not fit on the disk leaves nothing.
func TestARecordOfWhichAFullDiskTookAPartIsNotDamage(t *testing.T) {
	disk := smalldisk.New(t, "256k")
	const room = 20 << 10
	smalldisk.Fill(t, disk, "full", room)
	l, err := Create(disk, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	piece := bytes.Repeat([]byte("x"), 9000) // pages have 4096 bytes
	for err == nil {
		_, err = l.Append(Data, time.Unix(1, 0), piece)
	}
	if !errors.Is(err, syscall.ENOSPC) || l.End() == 0 {
		t.Fatalf("at %d: %v", l.End(), err)
	}
	again, err := Open(disk)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.Damage() != "" || again.Unfinished() || again.End() != l.End() {
		t.Errorf("%q, unfinished %v, %d bytes of %d", again.Damage(), again.Unfinished(), again.End(),
			l.End())
	}
}
