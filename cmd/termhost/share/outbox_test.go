package share

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"termhost/ahp"
)

// outputOf returns all output that is to be sent, and its items.
func outputOf(b *outbox) (text string, items []*item) {
	var all strings.Builder
	for {
		i, _ := b.next()
		if i == nil {
			return all.String(), items
		}
		items = append(items, i)
		if out, ok := i.action.(ahp.TerminalOutput); ok {
			all.Write(out.Data)
		}
	}
}

func TestAnOutboxSendsEverythingOnceWhereverTheConnectionIsCut(t *testing.T) {
	for seed := range 200 {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		b := newOutbox()
		var want, got strings.Builder
		var seq, arrived int64 // the newest clientSeq that was sent, and that has arrived
		var inFlight []*item
		for i := range 300 {
			switch r.IntN(4) {
			case 0, 1:
				text := fmt.Sprintf("%d;", i)
				want.WriteString(text)
				b.output([]byte(text))
			case 2:
				if p, _ := b.next(); p != nil {
					seq++
					b.sent(p, seq)
					inFlight = append(inFlight, p)
				}
			case 3: // some items arrive, and some of those are acknowledged
				for len(inFlight) > 0 && r.IntN(3) > 0 {
					p := inFlight[0]
					inFlight = inFlight[1:]
					got.Write(p.action.(ahp.TerminalOutput).Data)
					arrived = p.seq
					if r.IntN(2) == 0 {
						b.settled(p)
					}
				}
				if r.IntN(5) == 0 {
					b.disconnected()
					b.resume(arrived)
					inFlight = nil
				}
			}
		}
		b.disconnected()
		b.resume(arrived)
		rest, _ := outputOf(b)
		if got.WriteString(rest); got.String() != want.String() {
			t.Fatalf("seed %d: the host has\n%s\nprinted was\n%s",
				seed, got.String(), want.String())
		}
	}
}

func TestAnOutboxKeepsTheLastMiBAndSaysHowMuchIsMissing(t *testing.T) {
	b := newOutbox()
	line := []byte(strings.Repeat("x", 1023) + "\n")
	for range 3 << 10 {
		b.output(line)
	}
	b.add(ahp.TerminalResized{Cols: 5, Rows: 5})
	var text strings.Builder
	resized, drained := false, false
	for !drained {
		p, done := b.next()
		if drained = done; p == nil {
			continue
		}
		if out, ok := p.action.(ahp.TerminalOutput); ok {
			text.Write(out.Data)
		} else {
			resized = true
		}
		b.settled(p)
	}
	if n := text.Len(); n < outboxBytes*9/10 || n > outboxBytes {
		t.Errorf("%d bytes are sent", n)
	}
	const gap = "\x1b[0m\r\n[termhost: 2.0 MiB of output are missing here]\r\n"
	if !strings.HasPrefix(text.String(), gap) {
		t.Errorf("it begins with %.60q", text.String())
	}
	if !resized {
		t.Error("the size was dropped with the output")
	}
}

func TestWhatMayHaveArrivedIsNotCountedAsMissing(t *testing.T) {
	b := newOutbox()
	b.output([]byte("arrived"))
	p, _ := b.next()
	b.sent(p, 1)
	b.disconnected()
	for range 40 {
		b.output(make([]byte, chunkBytes))
	}
	lost := b.gap.lost
	b.resume(1)
	if b.gap.lost != lost-len("arrived") {
		t.Errorf("%d bytes are missing, %d before", b.gap.lost, lost)
	}
}

func TestNoActionEndsWithinARune(t *testing.T) {
	for before := range 4 {
		b := newOutbox()
		text := strings.Repeat("x", before) + strings.Repeat("€", chunkBytes)
		b.output([]byte(text))
		sent, items := outputOf(b)
		if sent != text {
			t.Errorf("%d bytes were sent of %d", len(sent), len(text))
		}
		for _, p := range items {
			if out := p.action.(ahp.TerminalOutput).Data; !utf8.Valid(out) {
				t.Errorf("an action ends with %q", out[len(out)-4:])
			}
		}
	}
}

// recordingHost is the state that a host has after the actions it was sent.
type recordingHost struct {
	cols    int
	running string
	ends    []string // how each command ended
}

func (h *recordingHost) take(a ahp.Action) {
	switch a := a.(type) {
	case ahp.TerminalResized:
		h.cols = a.Cols
	case ahp.TerminalCommandExecuted:
		if h.running != "" && h.running != a.CommandID {
			h.ends = append(h.ends, h.running+" ends with the next one")
		}
		h.running = a.CommandID
	case ahp.TerminalCommandFinished:
		if h.running == a.CommandID { // else it is rejected
			h.running = ""
			h.ends = append(h.ends, fmt.Sprint(a.CommandID, " ends with ", *a.ExitCode))
		}
	}
}

// TestNoGapLosesState connects to a host now and then, which sometimes was started anew, while a
// program prints more than is kept, runs commands and is resized.
func TestNoGapLosesState(t *testing.T) {
	gaps := 0
	for seed := range 30 {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		b, host := newOutbox(), &recordingHost{}
		var seq, arrived int64
		var inFlight, answers []*item
		cols, commands, running := 0, 0, ""
		connected := true
		for range 400 {
			switch n := r.IntN(20); {
			case n < 5:
				b.output(make([]byte, 3*chunkBytes))
			case n < 7:
				cols++
				b.add(ahp.TerminalResized{Cols: cols, Rows: 1})
			case n < 10 && running == "":
				commands++
				running = fmt.Sprint(commands)
				b.add(ahp.TerminalCommandExecuted{CommandID: running})
			case n < 10:
				code := commands
				b.add(ahp.TerminalCommandFinished{CommandID: running, ExitCode: &code})
				running = ""
			case n < 16 && connected:
				if p, _ := b.next(); p != nil {
					seq++
					b.sent(p, seq)
					inFlight = append(inFlight, p)
				}
			case n < 18:
				for len(inFlight) > 0 && r.IntN(3) > 0 {
					p := inFlight[0]
					inFlight = inFlight[1:]
					host.take(p.action)
					arrived = p.seq
					answers = append(answers, p)
				}
				for len(answers) > 0 && r.IntN(4) > 0 {
					b.settled(answers[0])
					answers = answers[1:]
				}
			case connected:
				b.disconnected()
				inFlight, answers, connected = nil, nil, false
			case r.IntN(4) == 0:
				*host, arrived = recordingHost{cols: cols}, 0
				b.startOver()
				connected = true
			default:
				b.resume(arrived)
				connected = true
			}
		}
		b.disconnected()
		b.resume(arrived)
		for {
			p, _ := b.next()
			if p == nil {
				break
			}
			if p.lost > 0 {
				gaps++
			}
			host.take(p.action)
			b.settled(p)
		}
		if host.cols != cols || host.running != running {
			t.Errorf("seed %d: the host has %d columns, and %q runs; it should be %d, and %q",
				seed, host.cols, host.running, cols, running)
		}
		for _, end := range host.ends {
			if id, how, _ := strings.Cut(end, " ends with "); how != id {
				t.Errorf("seed %d: %s", seed, end)
			}
		}
	}
	if gaps == 0 {
		t.Error("there was no gap")
	}
}
