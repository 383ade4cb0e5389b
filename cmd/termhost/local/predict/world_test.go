package predict_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"termhost/cmd/termhost/local/predict"
	"termhost/ptypool/vt"
)

const (
	cols, rows = 40, 6
	trip       = 200 * time.Millisecond
	settled    = 50 * time.Millisecond
)

// world is a person's terminal, on which a Predictor draws, and the screen as the host has it.
type world struct {
	t        *testing.T
	p        *predict.Predictor
	now      time.Time
	sent     uint64 // bytes typed
	hidden   bool   // what the host says of the input
	terminal *vt.Screen
	host     *vt.Screen
	drawn    int // bytes that were drawn besides the output
}

// newWorld returns one whose host has drawn its screen, and whose round trips are known to take
// long.
func newWorld(t *testing.T, when predict.When, trip time.Duration) *world {
	w := &world{t: t, p: predict.New(cols, rows, when, trip), now: time.Unix(1_700_000_000, 0),
		terminal: vt.New(cols, rows, vt.Options{}), host: vt.New(cols, rows, vt.Options{})}
	w.prints(string(w.host.AppendRedraw(nil, vt.Redraw{})))
	for range 2 {
		w.types("\x1b[I") // the focus
		w.passes(trip)
		w.acks()
		w.passes(settled)
	}
	return w
}

func (w *world) draws(p []byte) {
	w.drawn += len(p)
	w.terminal.Feed(p, nil)
}

func (w *world) types(keys string) {
	w.sent += uint64(len(keys))
	w.draws(w.p.Typed(nil, []byte(keys), w.now))
}

func (w *world) prints(out string) {
	before, after := w.p.Printed([]byte(out), w.now)
	w.draws(before)
	w.terminal.Feed([]byte(out), nil)
	w.host.Feed([]byte(out), nil)
	w.draws(after)
}

// acks says that the program was given all that was typed.
func (w *world) acks() { w.acksTo(w.sent) }

func (w *world) acksTo(bytes uint64) {
	w.draws(w.p.Taken(nil, bytes, !w.hidden, w.now))
}

func (w *world) passes(d time.Duration) {
	end := w.now.Add(d)
	for due := w.p.Due(); !due.IsZero() && !due.After(end); due = w.p.Due() {
		w.now = due
		w.draws(w.p.Tick(nil, due))
		if w.p.Due().Equal(due) {
			w.t.Fatal("what was due is due again")
		}
	}
	w.now = end
}

// answers lets a round trip pass, after which the program prints this for all that was typed.
func (w *world) answers(out string) {
	w.passes(trip)
	w.prints(out)
	w.acks()
}

// shows checks a row of the person's terminal, in which what is underlined stands in _ and _.
func (w *world) shows(row int, want string) {
	w.t.Helper()
	lines := strings.Split(string(w.terminal.AppendText(nil, true)), "\n")
	got := strings.NewReplacer("\x1b[0;4m", "_", "\x1b[0m", "_").Replace(lines[row])
	if got != strings.TrimRight(want, " ") {
		w.t.Errorf("row %d shows %q, want %q", row, got, want)
	}
}

// cursor checks where the terminal's cursor is.
func (w *world) cursor(x, y int) {
	w.t.Helper()
	if gotX, gotY, _ := w.terminal.Cursor(); gotX != x || gotY != y {
		w.t.Errorf("the cursor is at %d,%d, want %d,%d", gotX, gotY, x, y)
	}
}

// same checks that the terminal is as it would be without predictions, and that it would show the
// same of what is printed next.
func (w *world) same(what string) bool {
	w.t.Helper()
	state := func(s *vt.Screen) string {
		x, y, shown := s.Cursor()
		text := s.AppendText(fmt.Appendf(nil, "cursor %d,%d,%v, ", x, y, shown), true)
		s = s.Clone()
		s.Feed([]byte("next\x1b[H\x1bMfirst"), nil)
		return string(s.AppendText(text, true))
	}
	if got, want := state(w.terminal), state(w.host); got != want {
		w.t.Errorf("%s: the terminal shows\n%q\nwant\n%q", what, got, want)
		return false
	}
	return true
}

// prompted returns a world with a prompt of two characters, at which one has been typed and shown.
func prompted(t *testing.T) *world {
	w := newWorld(t, predict.Adaptive, trip)
	w.prints("$ ")
	w.types("a")
	w.answers("a")
	return w
}

// vtUpdate is how a host draws over what it has drawn before.
var vtUpdate = vt.Redraw{Update: true}
