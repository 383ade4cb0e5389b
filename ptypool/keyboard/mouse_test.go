package keyboard

import "testing"

func TestAMouseReportIsMovedAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		encoding int
		in, want string
	}{
		{1006, "a\x1b[<0;5;7Mb\x1b[<0;5;7mc", "a\x1b[<0;105;17Mb\x1b[<0;105;17mc"},
		{1006, "\x1b[A\x1b[1;5C\x1b[I\x1b[<0;5", "\x1b[A\x1b[1;5C\x1b[I\x1b[<0;5"},
		{1006, "\x1b[200~\x1b[<0;5;7M", "\x1b[200~\x1b[<0;5;7M"},
		{1015, "\x1b[32;5;7M", "\x1b[32;105;17M"},
		{0, "\x1b[M %'x", "\x1b[M \x891x"},
		{0, "\x1b[M \xf0'", "\x1b[M \xf0'"},
		{1005, "\x1b[M %'x", "\x1b[M \u00891x"},
	} {
		if got := string(MoveMouse([]byte(c.in), c.encoding, 100, 10)); got != c.want {
			t.Errorf("in mode %d %q becomes %q, want %q", c.encoding, c.in, got, c.want)
		}
	}
}

func TestTheMouseInPixelsIsWhereItIsInCells(t *testing.T) {
	t.Parallel()
	times := func(x, y int) (int, int) { return x * 10, y * 20 }
	in := "a\x1b[<35;5;7Mb\x1b[M %'\x1b[32;5;7M\x1b[200~\x1b[<0;5;7M"
	want := "a\x1b[<35;50;140Mb\x1b[M %'\x1b[32;5;7M\x1b[200~\x1b[<0;5;7M"
	if got := string(ChangeMouse([]byte(in), times)); got != want {
		t.Errorf("%q becomes %q, want %q", in, got, want)
	}
}
