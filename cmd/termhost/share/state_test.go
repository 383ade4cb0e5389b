package share

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ptypool/vt"
)

// recordingHost is what a host makes of what it is sent.
type recordingHost struct {
	cols    int
	running string
	ends    []string // of commands: how
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

// TestNoGapLosesState has a host reached now and then, and sometimes started anew,
// while a program prints more than is kept, runs commands and is resized.
func TestNoGapLosesState(t *testing.T) {
	gaps := 0
	for seed := range 30 {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		j, host := newJournal(), &recordingHost{}
		var seq, arrived int64
		var flying, answers []*piece
		cols, commands, running := 0, 0, ""
		linked := true
		for range 400 {
			switch n := r.IntN(20); {
			case n < 5:
				j.output(make([]byte, 3*pieceBytes))
			case n < 7:
				cols++
				j.add(ahp.TerminalResized{Cols: cols, Rows: 1})
			case n < 10 && running == "":
				commands++
				running = fmt.Sprint(commands)
				j.add(ahp.TerminalCommandExecuted{CommandID: running})
			case n < 10:
				code := commands
				j.add(ahp.TerminalCommandFinished{CommandID: running, ExitCode: &code})
				running = ""
			case n < 16 && linked:
				if p, _ := j.next(); p != nil {
					seq++
					j.sent(p, seq)
					flying = append(flying, p)
				}
			case n < 18:
				for len(flying) > 0 && r.IntN(3) > 0 {
					p := flying[0]
					flying = flying[1:]
					host.take(p.action)
					arrived = p.seq
					answers = append(answers, p)
				}
				for len(answers) > 0 && r.IntN(4) > 0 {
					j.settled(answers[0])
					answers = answers[1:]
				}
			case linked:
				j.cut()
				flying, answers, linked = nil, nil, false
			case r.IntN(4) == 0:
				*host, arrived = recordingHost{cols: cols}, 0
				j.anew()
				linked = true
			default:
				j.resume(arrived)
				linked = true
			}
		}
		j.cut()
		j.resume(arrived)
		for {
			p, _ := j.next()
			if p == nil {
				break
			}
			if out, ok := p.action.(ahp.TerminalOutput); ok && bytes.Contains(out.Data, []byte("missing here")) {
				gaps++
			}
			host.take(p.action)
			j.settled(p)
		}
		if host.cols != cols || host.running != running {
			t.Errorf("seed %d: the host has %d columns, and %q runs; it should be %d, and %q", seed, host.cols, host.running, cols, running)
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

// told returns what a host is told of commands.
func told(j *journal) (list []string) {
	for {
		p, _ := j.next()
		if p == nil {
			return list
		}
		switch a := p.action.(type) {
		case ahp.TerminalCommandExecuted:
			list = append(list, "begins "+a.CommandLine)
		case ahp.TerminalCommandFinished:
			how := "somehow"
			if a.ExitCode != nil {
				how = fmt.Sprint(*a.ExitCode)
			}
			list = append(list, "ends "+how)
		}
	}
}

func TestOfACommandThatAPauseFallsIntoItsEndIsTold(t *testing.T) {
	const begin, end, prompt, other = "\x1b]633;E;make;n\x07\x1b]633;C\x07", "\x1b]633;D;3\x07", "\x1b]633;A\x07", "\x1b]633;E;secret;n\x07\x1b]633;C\x07"
	for name, tc := range map[string]struct {
		during, after string
		want          []string
	}{
		"it goes on":                 {"x", end + prompt, []string{"begins make", "ends 3"}},
		"it ends":                    {end + prompt, "", []string{"begins make", "ends somehow"}},
		"it ends, and another runs":  {end + prompt + other, end + prompt, []string{"begins make", "ends somehow"}},
		"another one has come after": {end + prompt + other + end + prompt, begin, []string{"begins make", "ends somehow", "begins make"}},
		"without an end, a prompt":   {prompt, "", []string{"begins make", "ends somehow"}},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJournal()
			f := newFeed(&bytes.Buffer{}, j, 80, 24, vt.Options{Nonce: "n"})
			defer f.close()
			f.Write([]byte(begin))
			f.toggle()
			f.Write([]byte(tc.during))
			f.toggle()
			f.Write([]byte(tc.after))
			if got := told(j); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("told was %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTheEndOfTheProgramComesBehindTheScreen(t *testing.T) {
	j := newJournal()
	f := newFeed(&bytes.Buffer{}, j, 80, 24, vt.Options{})
	defer f.close()
	for range 40 {
		f.Write(bytes.Repeat([]byte{'x'}, pieceBytes))
	}
	f.Write([]byte("\r\nthe end"))
	f.exited(0)
	var text strings.Builder
	var pieces []*piece
	for more := true; more; {
		some, sent := outputOf(j) // as much as may be on its way
		for _, p := range sent {
			j.settled(p)
		}
		text.WriteString(some)
		pieces = append(pieces, sent...)
		more = len(sent) > 0
	}
	if _, ok := pieces[len(pieces)-1].action.(ahp.TerminalExited); !ok {
		t.Errorf("the last of %d pieces is not the end", len(pieces))
	}
	if strings.Count(text.String(), "the end") != 2 {
		t.Error("the screen is not sent after the gap")
	}
	f.draw()
	if rest, _ := outputOf(j); rest != "" {
		t.Errorf("behind the end %d bytes are sent", len(rest))
	}
}
