package history_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ptypool/smalldisk"
	"termhost/ptypool/termlog"
	"termhost/ptypool/vt"
)

// format is the Format of the logs in these tests.
type format struct{}

type event struct {
	Action json.RawMessage `json:"action"`
	Parsed bool            `json:"parsed,omitempty"`
}

func (format) Checkpoint(p []byte) (c history.Checkpoint, ok bool) {
	return c, json.Unmarshal(p, &c) == nil
}

func (format) Event(p []byte) (ahp.Action, bool) {
	var ev event
	if json.Unmarshal(p, &ev) != nil {
		return nil, false
	}
	a, err := ahp.DecodeAction(ev.Action)
	if err != nil {
		return nil, false
	}
	return a, ev.Parsed
}

func (format) Exit(p []byte) *history.End {
	e := &history.End{}
	if json.Unmarshal(p, e) != nil {
		return nil
	}
	return e
}

// work runs without waiting, until it is stopped.
type work struct {
	steps int
	stop  error
}

func (w *work) Step() error { w.steps++; return w.stop }
func (w *work) Rest()       {}

// written is a log that a terminal writes.
type written struct {
	t        testing.TB
	log      *termlog.Log
	rand     *rand.Rand
	at       time.Time
	screen   *vt.Screen // what checkpoints are made of
	commands int
}

func newWritten(t testing.TB, seed uint64, size int64) *written {
	t.Helper()
	log, err := termlog.InMemory(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return &written{t: t, log: log, rand: rand.New(rand.NewPCG(seed, 9)),
		at: time.Unix(1_800_000_000, 0), screen: vt.New(80, 24, vt.Options{})}
}

// history returns the log with an index; nil: without one.
func (w *written) history(index *history.Index) *history.Log {
	return &history.Log{ID: "x", Format: format{}, Index: index,
		Records: func(from func(termlog.Spot) termlog.Spot, visit func(termlog.Record) bool) error {
			for r := termlog.NewReader(from(w.log.Start())); ; {
				more, err := r.Next(w.log)
				if err != nil || !more || !r.Each(visit) {
					return err
				}
			}
		},
		Outline: func() history.Checkpoint { return history.Checkpoint{Cols: 80, Rows: 24} },
	}
}

func (w *written) append(kind termlog.Kind, payload []byte) {
	w.t.Helper()
	turned, err := w.log.Append(kind, w.at, payload)
	if err != nil {
		w.t.Fatal(err)
	}
	if turned && kind != termlog.Checkpoint {
		w.checkpoint()
	}
}

func (w *written) checkpoint() {
	if w.screen.InSequence() {
		return
	}
	cols, rows := w.screen.Size()
	p, _ := json.Marshal(history.Checkpoint{Cols: cols, Rows: rows, Commands: w.commands,
		Marks: string(w.screen.AppendMarks(nil)), Redraw: w.screen.AppendRedraw(nil, vt.Redraw{})})
	w.append(termlog.Checkpoint, p)
}

func (w *written) event(a ahp.Action, parsed bool) {
	p, _ := json.Marshal(event{ahp.AppendAction(nil, a, ahp.ShapeLifecycle), parsed})
	w.append(termlog.Event, p)
}

func (w *written) print(p []byte) {
	w.screen.Feed(p, nil)
	w.append(termlog.Data, p)
}

// busy writes about size bytes: floods, colours, wide characters, full screens, sequences that go on
// from one record to the next, new sizes, commands, gaps.
func (w *written) busy(size int64) {
	r := w.rand
	for end := w.log.End() + size; w.log.End() < end; {
		w.at = w.at.Add(time.Duration(r.IntN(3000)) * time.Millisecond)
		var b bytes.Buffer
		switch r.IntN(12) {
		case 0:
			cols, rows := 20+r.IntN(120), 5+r.IntN(60)
			w.screen.Resize(cols, rows)
			w.append(termlog.Resize, termlog.SizePayload(cols, rows))
			continue
		case 1:
			if r.IntN(8) == 0 {
				if err := w.log.Skip(int64(r.IntN(3)*1000), w.at, "the disk is full"); err != nil {
					w.t.Fatal(err)
				}
				w.screen.Feed([]byte("\x18"), nil)
				w.checkpoint()
				continue
			}
		case 2:
			fmt.Fprintf(&b, "\x1b[?1049h\x1b[2J\x1b[%d;%dHfull 世界 screen\x1b[6n", 1+r.IntN(20), 1+r.IntN(60))
		case 3:
			w.print([]byte("\x1b[?1049l\x1b[3"))
			b.WriteString("1mred\x1b[m é"[:9])
		case 4:
			fmt.Fprintf(&b, "\x1b[%d;%dr\x1b[%d;1H", 1+r.IntN(3), 10+r.IntN(10), 1+r.IntN(9))
		case 5:
			w.commands++
			line := fmt.Sprintf("make %d", w.commands)
			w.print([]byte("\x1b]133;A\a$ " + line + "\x1b]133;C\a\r\n"))
			w.event(ahp.TerminalCommandExecuted{CommandID: fmt.Sprint("x-", w.commands), CommandLine: "",
				Timestamp: w.at.UnixMilli(), By: "ann"}, true)
			b.WriteString("done\r\n\x1b]133;D;3\a")
		case 6:
			if r.IntN(10) == 0 {
				b.WriteString("\x1b[H\x1b[2J\x1b[3J")
			}
		default:
			wide := []string{"plain ", "plain ", "é世x"}[r.IntN(3)]
			for range r.IntN(100) {
				fmt.Fprintf(&b, "line %d %s\r\n", r.IntN(1000), strings.Repeat(wide, r.IntN(20)))
			}
		}
		if b.Len() > 0 {
			w.print(b.Bytes())
		}
		if r.IntN(200) == 0 {
			w.checkpoint()
		}
	}
}

// newIndex returns an empty index.
func newIndex() *history.Index {
	return history.NewDenseCache(new(smalldisk.Spill).Save).Index("log")
}

// itemText returns all fields of an item.
func itemText(i *history.Item) string {
	c, code := "", ""
	if i.ExitCode != nil {
		code = fmt.Sprint(*i.ExitCode)
	}
	if i.Command != nil {
		text, _ := json.Marshal(i.Command)
		c = string(text)
	}
	return fmt.Sprintf("%d %s %s %q %dx%d %s %d %s %s", i.At, i.Time.UTC().Format(time.RFC3339Nano), i.Kind,
		i.Data, i.Cols, i.Rows, c, i.Missing, i.Reason, code)
}

// itemsOf returns all items, and the places behind them.
func itemsOf(t testing.TB, log *history.Log) (items []string, places []history.Place) {
	t.Helper()
	at := history.Place{At: -1}
	if _, err := log.Read(&work{}, func(i *history.Item) bool {
		if at.Items++; i.At != at.At {
			at = history.Place{At: i.At, Items: 1}
		}
		items, places = append(items, itemText(i)), append(places, at)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return items, places
}

// shownText returns all that a Shown at a place tells.
func shownText(t testing.TB, log *history.Log, until *history.Place, lines int) string {
	t.Helper()
	s, err := log.Show(&work{}, until, lines, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	cols, rows := s.Size()
	pattern, err := history.NewPattern("line 7+7", false)
	if err != nil {
		t.Fatal(err)
	}
	found, counts, more := s.Find(pattern, 50)
	return fmt.Sprintf("%v %v %v %dx%d %d lines, cut %v, found %v %v %v\n%v\n%s\n%s", s.Place, s.Time, s.Truncated,
		cols, rows, s.Lines(), s.Cut(), found, counts, more, s.Commands(), s.Styled(s.Lines()/2, s.Lines()/2+50), s.Redraw())
}

// compare fails unless reading with an index, in any order, gives what reading from the beginning
// gives.
func compare(t *testing.T, w *written, index *history.Index) {
	t.Helper()
	straight, log := w.history(nil), w.history(index)
	items, places := itemsOf(t, straight)
	for range 6 {
		n := w.rand.IntN(len(places))
		lines := []int{0, 1000, history.AllLines}[w.rand.IntN(3)]
		until := &places[n]
		if w.rand.IntN(4) == 0 {
			until = nil
		}
		if got, want := shownText(t, log, until, lines), shownText(t, straight, until, lines); got != want {
			t.Fatalf("at %v, with %d lines, it shows\n%.3000q\nand not\n%.3000q", until, lines, got, want)
		}
		from := places[w.rand.IntN(len(places))].At
		first, err := log.ReadFrom(&work{}, from, func() func(i *history.Item) bool {
			k := 0
			for places[k].At < from {
				k++
			}
			return func(i *history.Item) bool {
				if got := itemText(i); got != items[k] {
					t.Fatalf("from %d on, an item is\n%.500s\nand not\n%.500s", from, got, items[k])
				}
				k++
				return k < len(items) && w.rand.IntN(300) > 0
			}
		}())
		if err != nil || first == nil || *first != places[0].At {
			t.Fatalf("the history begins at %v, %v", first, err)
		}
	}
}

// Readers that start at keyframes of other readers read byte for byte what readers from the
// beginning do: while the log grows, loses its beginning, and is cleared.
func TestReadingFromKeyframesEqualsReadingFromTheBeginning(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		w := newWritten(t, seed, 512<<10)
		index := newIndex()
		for range 3 {
			w.busy(200 << 10)
			compare(t, w, index)
		}
		w.event(ahp.TerminalCleared{}, false)
		w.busy(60 << 10)
		compare(t, w, index)
		w.at = w.at.Add(time.Second)
		w.append(termlog.Exit, []byte(`{"At":"2030-01-01T00:00:00Z","ExitCode":3}`))
		compare(t, w, index)
	}
}

// Keyframes are used: a page far behind in a log costs no more steps than one at its beginning.
func TestAPageIsReadFromAKeyframe(t *testing.T) {
	t.Parallel()
	w := newWritten(t, 1, 4<<20)
	w.busy(1 << 20)
	log := w.history(newIndex())
	pages := map[string]func(w *work) error{
		"screen": func(w *work) error { _, err := log.Show(w, nil, 1000, time.Now()); return err },
		"lines": func(w *work) error {
			s, err := log.Show(w, nil, history.AllLines, time.Now())
			s.Styled(s.Lines()-200, s.Lines())
			return err
		},
		"history": func(wk *work) error {
			_, err := log.ReadFrom(wk, w.log.End()-1, func(*history.Item) bool { return true })
			return err
		},
	}
	for name, read := range pages {
		var first, second work
		if err := errors.Join(read(&first), read(&second)); err != nil {
			t.Fatal(err)
		}
		if second.steps > first.steps/3 {
			t.Errorf("%s: the second time it takes %d steps, the first time %d", name, second.steps, first.steps)
		}
	}
}

// A redraw of the screen at a place, followed by the later items, leads to the same screen as all
// items.
func TestARedrawAtAPlaceLeadsToTheSameScreen(t *testing.T) {
	t.Parallel()
	const lines = 1000
	w := newWritten(t, 1, 2<<20)
	w.busy(300 << 10)
	log := w.history(newIndex())
	whole, err := log.Show(&work{}, nil, lines, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	_, places := itemsOf(t, log)
	for n := 0; n < len(places); n += len(places)/10 + 1 {
		s, err := log.Show(&work{}, &places[n], lines, time.Now())
		if err != nil || s.Place != places[n] {
			t.Fatalf("up to %v it is %v, %v", places[n], s.Place, err)
		}
		on := vt.New(1, 1, vt.Options{ScrollbackLines: lines, ScrollbackBytes: 64 << 20})
		on.Resize(s.Size())
		on.Feed(s.Redraw(), nil)
		k := 0
		if _, err := log.Read(&work{}, func(i *history.Item) bool {
			if k++; k <= n+1 {
				return true
			}
			switch i.Kind {
			case history.Data:
				on.Feed(i.Data, nil)
			case history.Resized:
				on.Resize(i.Cols, i.Rows)
			case history.Gap:
				on.Feed(fmt.Appendf(nil, "\x18\x1b[m\r\n%s\r\n", history.GapText(i.Missing, i.Reason)), nil)
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		got := on.AppendRedraw(nil, vt.Redraw{Update: true, Scrollback: on.HistoryLines()})
		if !bytes.Equal(got, whole.Redraw()) {
			t.Fatalf("from item %d of %d on it ends with\n%q\nand not\n%q", n, len(places), got, whole.Redraw())
		}
	}
}

// Once its work has ended, a request reads nothing more, wherever it is.
func TestReadingEndsWithItsWork(t *testing.T) {
	t.Parallel()
	w := newWritten(t, 1, 4<<20)
	w.busy(200 << 10)
	log := w.history(newIndex())
	enough := errors.New("enough")
	pattern, err := history.NewPattern("line", false)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		stopped := &work{stop: enough}
		_, readErr := log.Read(stopped, func(*history.Item) bool { t.Error("it reads"); return true })
		_, showErr := log.Show(stopped, nil, 0, time.Now())
		_, castErr := log.Cast(stopped, "x", history.Header{})
		searchErr := log.Search(stopped, history.Search{Pattern: pattern}, func(*history.Line) bool {
			t.Error("it searches")
			return true
		})
		for _, err := range []error{readErr, showErr, castErr, searchErr} {
			if !errors.Is(err, enough) {
				t.Errorf("it ends with %v", err)
			}
		}
		if _, err := log.Show(&work{}, nil, 0, time.Now()); err != nil { // there are keyframes now
			t.Fatal(err)
		}
	}
}

// While no host runs, nobody writes checkpoints, and a program may print more than the log holds.
func TestALogWithoutBeginningAndCheckpointsIsReadFromItsFirstRecord(t *testing.T) {
	t.Parallel()
	w := newWritten(t, 1, termlog.MinSize)
	last := 0
	for turned := 0; turned <= termlog.Segments; last++ {
		again, err := w.log.Append(termlog.Data, w.at, fmt.Appendf(nil, "line %d\r\n", last))
		if err != nil {
			t.Fatal(err)
		}
		if again {
			turned++
		}
	}
	log := w.history(newIndex())
	for range 2 { // the second time with keyframes
		s, err := log.Show(&work{}, nil, history.AllLines, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if text := string(s.Styled(s.Lines()-2, s.Lines())); !s.Cut() || !strings.Contains(text, fmt.Sprintf("line %d", last-1)) {
			t.Errorf("cut %v, %d lines, which end with %q", s.Cut(), s.Lines(), text)
		}
	}
	// The next host writes a checkpoint, from which the log is followed then.
	w.checkpoint()
	w.print([]byte("more\r\n"))
	compare(t, w, log.Index)
}

// A Shown knows where the commands stand that are in its lines.
func TestCommandsAreShownWhereTheyStand(t *testing.T) {
	t.Parallel()
	w := newWritten(t, 1, 1<<20)
	w.print([]byte("hello\r\n\x1b]133;A\a$ make\r\n\x1b]133;C\aone\r\ntwo\r\n\x1b]133;D;3\a\x1b]133;A\a$ ls\r\n\x1b]133;C\a"))
	w.print([]byte("file\r\n"))
	s, err := w.history(nil).Show(&work{}, nil, history.AllLines, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	got := s.Commands()
	if len(got) != 2 || got[0] != (vt.CommandLines{Typed: 1, From: 2, To: 4}) ||
		got[1].Typed != 4 || got[1].From != 5 || got[1].To < 6 {
		t.Errorf("got %v of\n%s", got, s.Styled(0, s.Lines()))
	}
}

// A recording that began in the middle of the output is whole from there.
func TestARecordingThatBeganLaterIsWhole(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "rec"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWritten(t, 1, 1<<20)
	if w.log, err = termlog.NewAt(f, 1<<20, 5000); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.log.Close() })
	w.checkpoint()
	w.print([]byte("more\r\n"))
	for _, whole := range []bool{true, false} {
		log := w.history(nil)
		log.Whole = whole
		s, err := log.Show(&work{}, nil, history.AllLines, time.Now())
		if err != nil || s.Truncated == whole {
			t.Errorf("whole %v: truncated %v, %v", whole, s.Truncated, err)
		}
	}
}
