package ahp_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"termhost/ahp"
)

func TestTextGrowsItsLastChunkWhereTheBytesLieBehindIt(t *testing.T) {
	arena := []byte("abcdefghij")
	var x ahp.Text
	x.Append(arena[0:3])
	x.Append(arena[3:5])
	x.Append(nil)
	x.Append(arena[5:6])
	if n := len(x.Chunks()); n != 1 || x.String() != "abcdef" || x.Len() != 6 {
		t.Errorf("%d chunks, %q", n, x)
	}
	x.Append(arena[8:9]) // a gap
	x.Append([]byte("k"))
	if n := len(x.Chunks()); n != 3 || x.String() != "abcdefik" {
		t.Errorf("%d chunks, %q", n, x)
	}
	full := ahp.NewText(arena[0:3:3]) // its end is all of it
	full.Append(arena[3:5])
	if n := len(full.Chunks()); n != 2 || full.String() != "abcde" {
		t.Errorf("%d chunks, %q", n, full)
	}
	short := ahp.NewText(arena[0:3:4]) // its end is in the middle
	short.Append(arena[3:6])
	if n := len(short.Chunks()); n != 2 || short.String() != "abcdef" {
		t.Errorf("%d chunks, %q", n, short)
	}
	equal := ahp.NewText([]byte("ab"))
	equal.Append([]byte("cd")) // the same bytes elsewhere are not behind it
	if n := len(equal.Chunks()); n != 2 {
		t.Errorf("%d chunks, %q", n, equal)
	}
}

func TestTextDropAndPrependAgreeWithAString(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var x ahp.Text
		var want string
		for i := range rng.IntN(20) {
			p := fmt.Sprintf("<%d>", i)
			switch rng.IntN(4) {
			case 0:
				n := rng.IntN(len(want) + 2)
				before, was := x, want // even a plain copy keeps what it has
				x.Drop(n)
				want = want[min(n, len(want)):]
				if before.String() != was {
					t.Fatalf("Drop changed a copy: %q, was %q", before, was)
				}
			case 1:
				x.Prepend(ahp.NewText([]byte(p)))
				want = p + want
			default:
				x.Append([]byte(p))
				want += p
			}
			if x.String() != want || x.Len() != len(want) {
				t.Fatalf("got %q (%d), want %q", x, x.Len(), want)
			}
		}
	}
}

// TestCloneIsLeftAloneByLaterActions reads a clone while the original grows into the
// same memory, so that the race detector has something to find.
func TestCloneIsLeftAloneByLaterActions(t *testing.T) {
	arena := make([]byte, 0, 1<<16)
	st := ahp.TerminalState{Title: "t", Claim: ahp.ClientClaim("c")}
	grow := func(i int) {
		switch n := len(arena); {
		case i%50 == 20:
			st.Apply(ahp.TerminalCommandExecuted{CommandID: fmt.Sprint(i), CommandLine: "x"})
		case i%50 == 40:
			st.Apply(ahp.TerminalCommandFinished{CommandID: fmt.Sprint(i - 20)})
		case i%331 == 330:
			st.Apply(ahp.TerminalCleared{})
		default:
			arena = fmt.Appendf(arena, "%d,", i)
			st.Apply(ahp.TerminalData{Data: arena[n:]})
		}
	}
	var readers sync.WaitGroup
	for i := range 2000 {
		grow(i)
		if i%20 != 0 {
			continue
		}
		clone := st.Clone()
		before := clone.AppendJSON(nil, ahp.ShapeLifecycle)
		readers.Go(func() {
			for range 20 {
				if after := clone.AppendJSON(nil, ahp.ShapeLifecycle); !bytes.Equal(before, after) {
					t.Errorf("a clone changed:\n%s\n%s", before, after)
					return
				}
			}
		})
	}
	readers.Wait()
}

func TestACloneThatGrowsLeavesTheOriginalAlone(t *testing.T) {
	arena := []byte("abcdef")
	st := ahp.TerminalState{}
	st.Apply(ahp.TerminalData{Data: arena[:2]})
	clone := st.Clone()
	st.Apply(ahp.TerminalData{Data: arena[2:4]})
	clone.Apply(ahp.TerminalData{Data: []byte("XY")})
	clone.Apply(ahp.TerminalCommandExecuted{CommandID: "1"})
	if got := st.Content[0].Text.String(); got != "abcd" || len(st.Content) != 1 {
		t.Error(got)
	}
	if got := clone.Content[0].Text.String(); got != "abXY" {
		t.Error(got)
	}
}

func TestDataFindsItsPart(t *testing.T) {
	var st ahp.TerminalState
	say := func(s string) { st.Apply(ahp.TerminalData{Data: []byte(s)}) }
	say("$ ")
	st.Apply(ahp.TerminalCommandExecuted{CommandID: "1", CommandLine: "make"})
	if st.Running() == nil {
		t.Error("no command is running")
	}
	say("out")
	st.Apply(ahp.TerminalOutput{Data: []byte("put")})
	st.Apply(ahp.TerminalCommandFinished{CommandID: "1", ExitCode: ptr(1)})
	if st.Running() != nil {
		t.Error("a finished command is running")
	}
	st.Apply(ahp.TerminalCommandFinished{CommandID: "none"})
	say("$ ")
	say("q")
	var got []string
	for _, p := range st.Content {
		got = append(got, fmt.Sprintf("%v:%s", p.Command != nil, p.Text))
	}
	if s := fmt.Sprint(got); s != "[false:$  true:output false:$ q]" {
		t.Error(s)
	}
	if !st.Detection {
		t.Error("a command did not turn detection on")
	}
	st.Apply(ahp.TerminalCleared{})
	if !st.Detection || len(st.Content) != 0 {
		t.Error("clear keeps detection and drops content")
	}
}

// One reader was sent each piece as JSON, and a later one the whole text. They read the
// same, even if a piece ended within a rune.
func TestTextAsJSONIsItsPiecesAsJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const sample = "aé中😀\xff\xe4\xb8\xf0\x9f\xad\n"
	for range 2000 {
		arena := make([]byte, 0, 64)
		var x ahp.Text
		var sent strings.Builder
		for range 1 + rng.IntN(8) {
			at := len(arena)
			if rng.IntN(8) == 0 && at < 60 {
				at++ // not right behind the piece before it
			}
			from := rng.IntN(len(sample))
			piece := sample[from : from+rng.IntN(len(sample)-from+1)]
			if at+len(piece) > cap(arena) {
				break
			}
			arena = arena[:at+len(piece)]
			copy(arena[at:], piece)
			x.Append(arena[at:])
			sent.Write(ahp.AppendJSONString(nil, piece))
		}
		want := `"` + strings.ReplaceAll(sent.String(), `"`, "") + `"`
		if got := string(x.AppendJSON(nil)); got != want {
			t.Fatalf("%q\nis as JSON %s\nand was sent as %s", x.Chunks(), got, want)
		}
	}
}

func TestTextIsCutBetweenRunes(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"", 4, ""}, {"abcd", 4, "abcd"}, {"abcde", 4, "abcd"}, {"abc\u00e9", 4, "abc"}, {"ab\u20ac", 4, "ab"}, {"ab\u20ac", 5, "ab\u20ac"},
		{"a\U0001f600b", 4, "a"}, {"a\U0001f600b", 5, "a\U0001f600"}, {"\U0001f600b", 4, "\U0001f600"},
		{"a\x80\x80\x80\x80\x80", 5, "a\x80\x80\x80\x80"},
	} {
		for _, n := range []int{ahp.WholeRunes(c.text, c.n), ahp.WholeRunes([]byte(c.text), c.n)} {
			if c.text[:n] != c.want {
				t.Errorf("%d bytes of %q: %q", c.n, c.text, c.text[:n])
			}
		}
	}
}
