package history_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"termhost/ahp/history"
	"termhost/ptypool/vt"
)

// screenState returns the whole state of a recording's screen, for comparisons, and what it shows
// after it has grown.
func screenState(s *vt.Screen) []string {
	drawn := string(s.AppendRedraw(nil, vt.Redraw{}))
	cols, rows := s.Size()
	s.Resize(cols+20, rows+30)
	return append(strings.Split(drawn, "\r\n"),
		strings.Split(string(s.AppendText(nil, true)), "\n")...)
}

// difference returns the first lines that differ; "": none do.
func difference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("line %d of %d: got\n%q\nwant\n%q", i, len(want), got[i], want[i])
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("got %d lines, want %d", len(got), len(want))
	}
	return ""
}

// straight returns the screen after events[:n], without a Player.
func straight(h history.Header, events []history.Event, n int) []string {
	s := vt.New(h.Cols, h.Rows, vt.Options{ScrollbackLines: 1000})
	for _, ev := range events[:n] {
		switch ev.Kind {
		case history.Output:
			s.Feed(ev.Text, nil)
		case history.Resize:
			s.Resize(ev.Cols, ev.Rows)
		}
	}
	return screenState(s)
}

// busy returns a recording of some MiB, with floods, colours, wide characters, full screens,
// sequences split between events, and new sizes.
func busy(r *rand.Rand) (h history.Header, events []history.Event) {
	h = history.Header{Cols: 80, Rows: 24}
	var at time.Duration
	add := func(ev history.Event) {
		at += time.Duration(r.Intn(3000)) * time.Millisecond
		ev.At = at
		events = append(events, ev)
	}
	for i := range 400 {
		var b bytes.Buffer
		switch r.Intn(8) {
		case 0:
			add(history.Event{Kind: history.Resize, Cols: 20 + r.Intn(120), Rows: 5 + r.Intn(60)})
			continue
		case 1:
			add(history.Event{Kind: history.Marker, Text: fmt.Appendf(nil, "command %d", i)})
			continue
		case 2:
			fmt.Fprintf(&b, "\x1b[?1049h\x1b[2J\x1b[%d;%dHfull 世界 screen", 1+r.Intn(20), 1+r.Intn(60))
		case 3:
			b.WriteString("\x1b[?1049l\x1b[3")
			add(history.Event{Kind: history.Output, Text: bytes.Clone(b.Bytes())})
			b.Reset()
			b.WriteString("1mred\x1b[m ")
		case 4:
			fmt.Fprintf(&b, "\x1b[%d;%dr\x1b[%d;1H", 1+r.Intn(3), 10+r.Intn(10), 1+r.Intn(9))
		default:
			for range r.Intn(600) {
				fmt.Fprintf(&b, "line %d %s\r\n", r.Intn(1000), strings.Repeat("é世x", r.Intn(60)))
			}
		}
		add(history.Event{Kind: history.Output, Text: b.Bytes()})
	}
	return h, events
}

// Wherever a player jumps to, its screen is the one after playing from the beginning, also after
// changes of its size.
func TestJumpingEqualsPlayingFromTheBeginning(t *testing.T) {
	t.Parallel()
	for seed := range int64(2) {
		r := rand.New(rand.NewSource(seed))
		h, events := busy(r)
		p := history.NewPlayer(h, events, 0)
		p.Seek(p.Length())
		for range 8 {
			n := r.Intn(len(events))
			at := events[n].At
			for n < len(events) && events[n].At <= at {
				n++
			}
			p.Seek(at)
			if d := difference(screenState(p.Screen()), straight(h, events, n)); d != "" {
				t.Fatalf("seed %d, event %d: %s", seed, n, d)
			}
			p.Seek(0) // screenState has changed the size
		}
	}
}

func playerText(p *history.Player) string {
	return strings.TrimSpace(string(p.Screen().AppendText(nil, false)))
}

func short() *history.Player {
	second := func(s int) time.Duration { return time.Duration(s) * time.Second }
	return history.NewPlayer(history.Header{Cols: 40, Rows: 5}, []history.Event{
		{Kind: history.Output, Text: []byte("$ ")},
		{At: second(1), Kind: history.Marker, Text: []byte("one")},
		{At: second(1), Kind: history.Output, Text: []byte("first ")},
		{At: second(60), Kind: history.Marker, Text: []byte("two")},
		{At: second(61), Kind: history.Output, Text: []byte("\x1b[1mSec\x1b[m")},
		{At: second(62), Kind: history.Output, Text: []byte("ond")},
		{At: second(63), Kind: history.Exit},
	}, 5*time.Second)
}

func TestJumpsOfThePlayerEndWhereTheyShould(t *testing.T) {
	t.Parallel()
	p := short()
	if got := p.Length(); got != 9*time.Second {
		t.Errorf("a long pause is not cut: it takes %v", got)
	}
	for _, step := range []struct {
		name    string
		do      func()
		at      time.Duration
		command string
		shows   string
	}{
		{"step", p.Step, 0, "", "$"},
		{"step over a marker", p.Step, time.Second, "one", "$ first"},
		{"next", func() { p.NextCommand() }, 6 * time.Second, "two", "$ first"},
		{"none is next", func() { p.NextCommand() }, 6 * time.Second, "two", "$ first"},
		{"advance", func() { p.Advance(7 * time.Second) }, 7 * time.Second, "two", "$ first Sec"},
		{"never back", func() { p.Advance(0) }, 7 * time.Second, "two", "$ first Sec"},
		{"previous", func() { p.PreviousCommand(0) }, 6 * time.Second, "two", "$ first"},
		{"previous", func() { p.PreviousCommand(0) }, time.Second, "one", "$"},
		{"previous", func() { p.PreviousCommand(0) }, 0, "", ""},
		{"seek", func() { p.Seek(time.Hour) }, 9 * time.Second, "two", "$ first Second"},
		{"margin", func() { p.PreviousCommand(4 * time.Second) }, time.Second, "one", "$"},
		{"find", func() { p.Find("second") }, 8 * time.Second, "two", "$ first Second"},
		{"find it again", func() { p.Find("second") }, 8 * time.Second, "two", "$ first Second"},
		{"find what was before", func() { p.Find("first") }, time.Second, "one", "$ first"},
		{"find nothing", func() { p.Find("third") }, time.Second, "one", "$ first"},
		{"seek", func() { p.Seek(8 * time.Second) }, 8 * time.Second, "two", "$ first Second"},
		{"step to the end", p.Step, 9 * time.Second, "two", "$ first Second"},
		{"step at the end", p.Step, 9 * time.Second, "two", "$ first Second"},
	} {
		step.do()
		if p.At() != step.at || p.Command() != step.command || playerText(p) != step.shows {
			t.Errorf("%s: at %v in %q, which shows %q", step.name, p.At(), p.Command(), playerText(p))
		}
	}
	p.Seek(0)
	if p.Find("seconD") {
		t.Error("capitals do not count")
	}
	if !p.Find("Second") {
		t.Error("capitals do not match")
	}
}
