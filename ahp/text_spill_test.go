package ahp_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ptypool/smalldisk"
)

func TestATextThatIsSpilledReadsAsOneThatIsNot(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "é", "\xc3", "\xa9", "\x1b[m", strings.Repeat("long ", 20)}
	for range 300 {
		var x, want ahp.Text
		var d smalldisk.Spill
		for range rng.IntN(30) {
			p := []byte(pieces[rng.IntN(len(pieces))])
			switch rng.IntN(5) {
			case 0:
				n := rng.IntN(want.Len() + 2)
				x.Drop(n)
				want.Drop(n)
			case 1:
				x.Prepend(ahp.NewText(p))
				want.Prepend(ahp.NewText(p))
			case 2:
				was := x
				var err error
				if x, err = x.Spill(d.Save); err != nil || x.Resident() != 0 {
					t.Fatal(x.Resident(), err)
				}
				if was.String() != want.String() {
					t.Fatal("the text that was spilled has changed")
				}
			default:
				x.Append(p)
				want.Append(p)
			}
			if got, w := x.AppendJSON(nil), want.AppendJSON(nil); !bytes.Equal(got, w) ||
				x.String() != want.String() || x.Len() != want.Len() {
				t.Fatalf("%s, want %s", got, w)
			}
			if !bytes.Equal(bytes.Join(x.Chunks(), nil), bytes.Join(want.Chunks(), nil)) {
				t.Fatalf("the chunks are %q, want %q", x.Chunks(), want.Chunks())
			}
		}
	}
}

func TestATextThatCannotBeSpilledStaysInMemory(t *testing.T) {
	x := ahp.NewText([]byte("hello"))
	got, err := x.Spill((&smalldisk.Spill{Full: true}).Save)
	if !errors.Is(err, smalldisk.ErrSpill) || got.String() != "hello" || got.Resident() != 5 {
		t.Errorf("%q, %d in memory, %v", got, got.Resident(), err)
	}
}

func TestATextThatCannotBeReadBackSaysSo(t *testing.T) {
	var d smalldisk.Spill
	long, err := ahp.NewText(make([]byte, 100)).Spill(d.Save)
	if err != nil {
		t.Fatal(err)
	}
	short, err := ahp.NewText(make([]byte, 5)).Spill(d.Save)
	if err != nil {
		t.Fatal(err)
	}
	d.Torn = true
	if got := long.String(); strings.TrimRight(got, " ") != ahp.Unreadable || len(got) != 100 {
		t.Errorf("%q", got)
	}
	if got := short.String(); got != ahp.Unreadable[:5] {
		t.Errorf("%q", got)
	}
}
