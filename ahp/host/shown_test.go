package host

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ptypool/vt"
)

// busyHistory is a history with floods, colours, wide characters, full screens and new sizes, and
// with several items at most positions.
func busyHistory(r *rand.Rand) (items []HistoryItem) {
	items = []HistoryItem{{Kind: HistoryResized, Cols: 80, Rows: 24}}
	at, when := int64(0), time.Unix(1_700_000_000, 0)
	for i := range 300 {
		when = when.Add(time.Duration(r.Intn(3000)) * time.Millisecond)
		item := HistoryItem{Kind: HistoryData, Time: when, At: at}
		var b bytes.Buffer
		switch r.Intn(7) {
		case 0:
			item.Kind, item.Cols, item.Rows = HistoryResized, 20+r.Intn(120), 5+r.Intn(60)
		case 1:
			item.Kind, item.Missing, item.Reason = HistoryGap, 7, "the disk is full"
		case 2:
			fmt.Fprintf(&b, "\x1b[?1049h\x1b[2J\x1b[%d;%dHfull 世界", 1+r.Intn(20), 1+r.Intn(60))
		case 3:
			b.WriteString("\x1b[?1049l\x1b[31mred\x1b[m ")
		case 4:
			item.Kind = HistoryCommand
		default:
			for range r.Intn(100) {
				fmt.Fprintf(&b, "line %d of %d %s\r\n", r.Intn(9), i, strings.Repeat("é世x", r.Intn(60)))
			}
		}
		item.Data = b.Bytes()
		items = append(items, item)
		if r.Intn(2) == 0 {
			at += int64(len(item.Data))
		}
	}
	return items
}

// readerOf reads items.
func readerOf(items []HistoryItem) HistoryReader {
	return func(_ context.Context, visit func(*HistoryItem) bool) (bool, *ahp.Error) {
		for i := range items {
			if !visit(&items[i]) {
				break
			}
		}
		return false, nil
	}
}

// screenState is all that a screen has, with what comes back when it grows.
func screenState(s *vt.Terminal) string {
	drawn := s.AppendRedraw(nil, vt.Redraw{})
	cols, rows := s.Size()
	s.Resize(cols+20, rows+30)
	return string(append(drawn, s.AppendText(nil, true)...))
}

// Wherever one begins, with the screen of a place and what comes behind that, one ends where a
// straight run does, new sizes included.
func TestAScreenAtAPlaceGoesOnAsAStraightRun(t *testing.T) {
	t.Parallel()
	const lines = 1000
	items := busyHistory(rand.New(rand.NewSource(1)))
	whole, e := readerOf(items).Show(t.Context(), nil, lines)
	if e != nil {
		t.Fatal(e)
	}
	want := screenState(whole.screen)
	for n := 0; n <= len(items); n += 13 {
		until := Place{At: -1}
		for i := range items[:n] {
			if items[i].At != until.At {
				until = Place{At: items[i].At}
			}
			until.Items++
		}
		s, e := readerOf(items).Show(t.Context(), &until, lines)
		if e != nil || n > 0 && s.Place != until {
			t.Fatalf("up to %v it is %v, %v", until, s.Place, e)
		}
		if n == 0 {
			continue
		}
		on := &Shown{screen: vt.New(1, 1, vt.Options{ScrollbackLines: lines})}
		on.screen.Resize(s.Size())
		on.screen.Feed(s.Redraw(), nil)
		for i := range items[n:] {
			on.take(&items[n+i])
		}
		if got := screenState(on.screen); got != want {
			t.Fatalf("from item %d of %d on it ends with\n%q\nand not\n%q", n, len(items), got, want)
		}
	}
}

// What is found has the numbers of the lines that there are, and the first one is there.
func TestLinesOfAHistoryAreFoundByTheirNumbers(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	term := run(t, h, carol, "x", `seq 1 30000; printf '\033[31mthe end\033[m'; exit 3`)
	wait(t, "the exit", term.Done())
	c := connect(t, h, carol, "c")
	read, e := c.c.History(Source{Channel: term.URI()})
	if e != nil {
		t.Fatal(e)
	}
	s, e := read.Show(t.Context(), nil, AllLines)
	if e != nil || s.Lines() != 30001 || s.Cut() {
		t.Fatalf("%d lines, cut %v, %v", s.Lines(), s.Cut(), e)
	}
	pattern, err := NewSearchPattern("^(1|77|2999.|THE END)$", true)
	if err != nil {
		t.Fatal(err)
	}
	found, more := s.Find(pattern, 100)
	want := []int{0, 76, 29989, 29990, 29991, 29992, 29993, 29994, 29995, 29996, 29997, 29998, 30000}
	if fmt.Sprint(found) != fmt.Sprint(want) || more {
		t.Errorf("found %v, more %v", found, more)
	}
	if found, more = s.Find(pattern, 2); fmt.Sprint(found) != "[29998 30000]" || !more {
		t.Errorf("the last two are %v, more %v", found, more)
	}
	if got := string(s.Styled(76, 78)); got != "77\n78\n" {
		t.Errorf("lines 76 and 77 are %q", got)
	}
	if got := string(s.Styled(30000, 40000)); got != "\x1b[0;31mthe end\x1b[0m\n" {
		t.Errorf("the last line is %q", got)
	}

	// A place stays, whatever comes behind it.
	mid, _ := read.Show(t.Context(), &Place{At: 0, Items: 2}, AllLines)
	again, _ := read.Show(t.Context(), &mid.Place, AllLines)
	if mid.Lines() == 0 || mid.Lines() >= 30000 || again.Lines() != mid.Lines() {
		t.Errorf("%d lines up to %v, and then %d", mid.Lines(), mid.Place, again.Lines())
	}
}

// BenchmarkShow is how long it takes to show what a log of 16 MiB has shown.
func BenchmarkShow(b *testing.B) {
	var items []HistoryItem
	items = append(items, HistoryItem{Kind: HistoryResized, Cols: 120, Rows: 40})
	size := 0
	for i := 0; size < 16<<20; i++ {
		p := fmt.Appendf(nil, "\x1b[32m[%4d/9999]\x1b[m Building CXX object lib.dir/file%d.o\r\n", i%9999, i)
		items = append(items, HistoryItem{Kind: HistoryData, At: int64(size), Data: p})
		size += len(p)
	}
	for name, lines := range map[string]int{"screen": 1000, "lines": AllLines} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				s, _ := readerOf(items).Show(b.Context(), nil, lines)
				if s.Lines() == 0 {
					b.Fatal("no lines")
				}
			}
		})
	}
}
