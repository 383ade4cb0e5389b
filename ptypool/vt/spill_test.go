package vt

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"termhost/ptypool/smalldisk"
)

func TestASpilledScrollbackIsTheSame(t *testing.T) {
	const cols, rows = 40, 10
	o := Options{ScrollbackLines: 1 << 30, ScrollbackBytes: 128 << 10}
	rng := rand.New(rand.NewPCG(3, 4))
	g := generator{Rand: rng, cols: cols, rows: rows}
	want, is := New(cols, rows, o), New(cols, rows, o)
	var d smalldisk.Spill
	for step := range 300 {
		var out strings.Builder
		for i := range 40 {
			out.WriteString(g.next())
			fmt.Fprintf(&out, "\x1b[%dm%s\r\n", 30+i%8, strings.Repeat("some text ", rng.IntN(30)))
		}
		for _, v := range []*Screen{want, is} {
			v.Feed([]byte(out.String()), &recorder{})
		}
		switch rng.IntN(8) {
		case 0, 1, 2:
			if err := is.SpillHistory(d.Save); err != nil {
				t.Fatal(err)
			}
			if n := is.HistoryMemory(); n > 4*historyBlock {
				t.Fatalf("%d bytes stay in memory", n)
			}
		case 3: // a resize takes lines back
			c, r := 10+rng.IntN(60), 5+rng.IntN(40)
			want.Resize(c, r)
			is.Resize(c, r)
		case 4:
			if rng.IntN(8) == 0 {
				want.Feed([]byte("\x1b[3J"), &recorder{})
				is.Feed([]byte("\x1b[3J"), &recorder{})
			}
		}
		if want.HistoryLines() != is.HistoryLines() || want.HistoryCut() != is.HistoryCut() ||
			want.Scrolled() != is.Scrolled() {
			t.Fatalf("step %d: %d lines, want %d", step, is.HistoryLines(), want.HistoryLines())
		}
		if !bytes.Equal(want.AppendHistoryText(nil), is.AppendHistoryText(nil)) {
			t.Fatalf("step %d: the text differs", step)
		}
		r := Redraw{Scrollback: -1}
		if !bytes.Equal(want.AppendRedraw(nil, r), is.AppendRedraw(nil, r)) {
			t.Fatalf("step %d: the redraw differs", step)
		}
	}
	if len(d.Bytes) < 8*historyBlock {
		t.Errorf("only %d bytes were spilled", len(d.Bytes))
	}
}

func TestAScrollbackThatCannotBeSpilledStaysInMemory(t *testing.T) {
	v := New(80, 24, Options{ScrollbackLines: 1 << 30, ScrollbackBytes: 1 << 20})
	v.Feed([]byte(strings.Repeat("a line\r\n", 20000)), &recorder{})
	text, memory := v.AppendHistoryText(nil), v.HistoryMemory()
	if err := v.SpillHistory((&smalldisk.Spill{Full: true}).Save); !errors.Is(err, smalldisk.ErrSpill) {
		t.Error(err)
	}
	if !bytes.Equal(v.AppendHistoryText(nil), text) || v.HistoryMemory() > memory {
		t.Error("it has changed")
	}
}

func TestLinesThatCannotBeReadBackAreBlank(t *testing.T) {
	v := New(80, 24, Options{ScrollbackLines: 1 << 30, ScrollbackBytes: 256 << 10})
	var d smalldisk.Spill
	v.Feed([]byte(strings.Repeat("a line\r\n", 20000)), &recorder{})
	lines := v.HistoryLines()
	if err := v.SpillHistory(d.Save); err != nil {
		t.Fatal(err)
	}
	d.Torn = true
	if n := bytes.Count(v.AppendHistoryText(nil), []byte("\n")); n < lines {
		t.Errorf("%d lines, want %d", n, lines)
	}
	v.Feed([]byte(strings.Repeat("another line\r\n", 40000)), &recorder{})
	if text := v.AppendHistoryText(nil); bytes.Contains(text, []byte("a line")) ||
		len(text) < 128<<10 || v.model.history.bytes > 256<<10 {
		t.Errorf("it holds %d bytes of text, %d are counted", len(text), v.model.history.bytes)
	}
}
