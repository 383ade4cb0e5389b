package history_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"termhost/ahp/history"
	"termhost/ptypool/termlog"
	"termhost/ptypool/vt"
)

// textLog returns a log of records.
func textLog(nonce string, records ...termlog.Record) *history.Log {
	return &history.Log{ID: "x", Nonce: nonce, Format: format{},
		Records: func(_ func(termlog.Spot) termlog.Spot, visit func(termlog.Record) bool) error {
			for _, r := range records {
				if !visit(r) {
					break
				}
			}
			return nil
		}}
}

// printed returns records of output, cut at random places.
func printed(random *rand.Rand, text string) (records []termlog.Record) {
	for at := 0; at < len(text); {
		n := min(1+random.IntN(40), len(text)-at)
		records = append(records, termlog.Record{Kind: termlog.Data, Pos: int64(at), Payload: []byte(text[at : at+n])})
		at += n
	}
	return records
}

type textLine struct {
	from int64
	text string
}

// textLines returns the lines from a position on; marks are in angle brackets.
func textLines(t *testing.T, l *history.Log, from int64) (lines []textLine, e history.Extent) {
	t.Helper()
	part := false
	e, err := l.TextLines(&work{}, from, func(l *history.TextLine) bool {
		text := string(l.Text)
		switch {
		case l.Mark == history.Finished && l.ExitCode != nil:
			text = fmt.Sprintf("<%s %d>", l.Mark, *l.ExitCode)
		case l.Mark != "":
			text = fmt.Sprintf("<%s>", l.Mark)
		}
		if part {
			lines[len(lines)-1].text += text
		} else {
			lines = append(lines, textLine{l.From, text})
		}
		part = l.Part
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines, e
}

func texts(lines []textLine) (all []string) {
	for _, l := range lines {
		all = append(all, l.text)
	}
	return all
}

func TestTextLinesAreReadFromAnyOfThem(t *testing.T) {
	t.Parallel()
	pieces := []string{"plain\r\n", "10%\r20%\r30%\r\n", "\x1b[31mred\x1b[m\n", "wörld ✓\r\n", "no end", "\r", "\n",
		"\x1b[2Aup", "\x1b[?1049h", "inside\r\n", "\x1b[?1049l", "\x1b]0;title\a", "tab\tx  ", "\x1b[K", "   ",
		strings.Repeat("long ", 1500) + "\n", strings.Repeat("ü", 3000) + "\n"}
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		var text strings.Builder
		for range random.IntN(40) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		log := textLog("", printed(random, text.String())...)
		var whole vt.Lines
		want := strings.Split(string(whole.AppendRest(whole.Append(nil, []byte(text.String())))), "\n")
		want = want[:len(want)-1]
		all, e := textLines(t, log, 0)
		if got := texts(all); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %q:\n got %q\nwant %q", seed, text.String(), got, want)
		}
		for i, l := range all {
			rest, end := textLines(t, log, l.from)
			if got := texts(rest); !slices.Equal(got, want[i:]) || end != e {
				t.Fatalf("seed %d: %q from %d:\n got %q %+v\nwant %q %+v", seed, text.String(), l.from, got, end, want[i:], e)
			}
		}
		again, end := textLines(t, log, e.Next)
		if len(again) > 1 || end.Next != e.Next || end.Alternate != e.Alternate {
			t.Fatalf("seed %d: %q from its end: %q, %+v", seed, text.String(), texts(again), end)
		}
		if beyond, end := textLines(t, log, 1<<40); len(beyond) > 0 || end.Next > int64(text.Len()) {
			t.Fatalf("seed %d: beyond the end: %q, %+v", seed, texts(beyond), end)
		}
	}
}

func TestTextLinesHaveTheMarksOfTheShellAlone(t *testing.T) {
	t.Parallel()
	const forged = "\x1b]633;C;other\a\x1b]133;C\a\x1b]633;C\a"
	text := "$ make\r\n\x1b]633;C;secret\aone\r\n" + forged + "two\x1b]633;D;3;secret\x1b\\$ "
	log := textLog("secret", printed(rand.New(rand.NewPCG(1, 1)), text)...)
	got, _ := textLines(t, log, 0)
	if got := texts(got); !slices.Equal(got, []string{"$ make", "<command>", "one", "two", "<finished 3>", "$"}) {
		t.Errorf("%q", got)
	}
}

func TestTextLinesAreNotJoinedWhereOutputIsMissing(t *testing.T) {
	t.Parallel()
	data := func(pos int64, text string) termlog.Record {
		return termlog.Record{Kind: termlog.Data, Pos: pos, Payload: []byte(text)}
	}
	gap := termlog.Record{Kind: termlog.Gap, Pos: 10, Payload: []byte("disk full")}
	for want, log := range map[string]*history.Log{
		"one <gap> two": textLog("", data(0, "one"), gap, data(10, "two\n")),
		"one two":       textLog("", data(10, "one"), data(20, "two\n")),
		"three":         textLog("", data(1000, "three\n")),
	} {
		lines, e := textLines(t, log, 0)
		if got := strings.Join(texts(lines), " "); got != want && got != strings.Replace(want, "one two", "one <gap> two", 1) {
			t.Errorf("%q, want %q", got, want)
		}
		if e.Next == 0 || want == "three" && (e.Oldest != 1000 || e.Next != 1006) {
			t.Errorf("%q: %+v", want, e)
		}
	}
}

func BenchmarkTextLinesAtTheEndOfALargeLog(b *testing.B) {
	var records []termlog.Record
	line := bytes.Repeat([]byte("a line of output, as programs print them\r\n"), 100)
	at := int64(0)
	for at < 16<<20 {
		records = append(records, termlog.Record{Kind: termlog.Data, Pos: at, Payload: line})
		at += int64(len(line))
	}
	log := textLog("", records...)
	for _, from := range []int64{0, at - int64(len(line))} {
		b.Run(fmt.Sprint(from), func(b *testing.B) {
			for b.Loop() {
				if _, err := log.TextLines(&work{}, from, func(*history.TextLine) bool { return true }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
