package predict_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"termhost/cmd/termhost/local/predict"
)

// program is one that answers keys as a shell does, or a prompt for a password, or an editor.
type program struct {
	*rand.Rand
	hides bool
	line  int // characters of the line so far
}

// answer returns what the program prints for a key.
func (p *program) answer(key string) string {
	switch {
	case key == "\r":
		p.hides, p.line = p.IntN(4) == 0, 0
		return "\r\n" + []string{"", "\x1b[H\x1b[2J", "a line\r\n\r\n", "\x1b[1;33m"}[p.IntN(4)] +
			[]string{"$ ", "\x1b[m> ", "\x1b[44mname: ", "wide \u6f22\u5b57: "}[p.IntN(4)]
	case p.hides:
		return ""
	case key == "\x7f" && p.line > 0:
		p.line--
		return "\b \b"
	case len(key) > 1 || key < " " || key == "\x7f":
		return []string{"", "\a", "\x1b[D", "\x1b[C", "\x1b[?1049h", "\x1b[?1049l"}[p.IntN(6)]
	case p.IntN(20) == 0: // another one than was typed, or none
		return []string{"", "?", "\x1b[31m" + key, "\x1b[4h\x1b[4l" + key, "\r" + key}[p.IntN(5)]
	}
	p.line++
	return key
}

// coming is something that is on its way to the person.
type coming struct {
	at  time.Time
	out string
	ack uint64
}

// Whatever is typed, and whatever a program makes of it, in the end the terminal is as it would be
// without predictions; and what is typed at a hidden prompt that the person sees is never shown.
func TestPredictionsLeaveNoTrace(t *testing.T) {
	drawn := 0
	for seed := range uint64(400) {
		g := rand.New(rand.NewPCG(seed, 39))
		w := newWorld(t, predict.When(1+g.IntN(2)), trip)
		prog := &program{Rand: g}
		var way []coming
		deliver := func(until time.Time) {
			for len(way) > 0 && !way[0].at.After(until) {
				c := way[0]
				way = way[1:]
				w.passes(max(0, c.at.Sub(w.now)))
				for len(c.out) > 0 {
					n := 1 + g.IntN(len(c.out))
					w.prints(c.out[:n])
					c.out = c.out[n:]
				}
				w.acksTo(c.ack)
			}
			w.passes(max(0, until.Sub(w.now)))
		}
		hidden := false // the person sees that it is
		for range 60 {
			key := []string{"a", "b", "ü", "c", " ", "\x7f", "\r", "\x1b[D", "\x1b[I", "\t"}[min(
				g.IntN(20), 9)/(1+g.IntN(2))]
			if hidden && key != "\r" {
				key = "#"
			}
			if key == "\r" {
				hidden = false
			}
			w.types(key)
			out := ""
			if key != "\x1b[I" {
				out = prog.answer(key)
			}
			at := w.now.Add(trip + time.Duration(g.IntN(30))*time.Millisecond)
			if len(way) > 0 && way[len(way)-1].at.After(at) {
				at = way[len(way)-1].at
			}
			way = append(way, coming{at, out, w.sent})
			deliver(w.now.Add(time.Duration(g.IntN(400)) * time.Millisecond))
			if len(way) == 0 {
				hidden = prog.hides
			}
			if hidden && strings.Contains(string(w.terminal.AppendText(nil, false)), "#") {
				t.Fatalf("seed %d: what is hidden is shown", seed)
			}
		}
		deliver(w.now.Add(time.Minute))
		if !w.same(fmt.Sprintf("seed %d", seed)) {
			return
		}
		drawn += w.drawn
	}
	if drawn < 400*100 {
		t.Errorf("only %d bytes were drawn", drawn)
	}
}
