package host

import (
	"testing"

	"termhost/ahp"
	"termhost/ptypool"
	"termhost/ptypool/foreground"
)

// Nothing of a key can act by itself but its first byte.
func TestOneKeyIsHandedOver(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]int{
		"q": 1, "exit\r": 1, "\rls": 1, "\x04ls": 1, "\x1b": 1, "\x1b\r": 1, "\x1b\x1b[A": 1,
		"\x1b[Als": 3, "\x1bOPls": 3, "\x1b[1;5Cls": 6, "\x1bbls": 2, "\x1b[200~ls": 6,
		"\x1b[M a\r": 1, "\x1b[Mabc": 6, "üx": 2, "日x": 3, "\xc3": 1, "\xff\xfe": 1,
		"\x1b[1": 1, "\x1b[1\rls\r": 3, "\x1b]0;x\r": 2,
	} {
		if got := (gate{}).Key([]byte(p)); got != want {
			t.Errorf("%q begins with a key of %d bytes, not %d", p, got, want)
		}
	}
}

func TestWhoGetsWhatIsHeld(t *testing.T) {
	edits := ptypool.Line{Canonical: true, Echo: true}
	hidden := ptypool.Line{Canonical: true}
	raw := ptypool.Line{}
	for _, c := range []struct {
		line   ptypool.Line
		reads  foreground.Reads
		secret bool
		want   ptypool.Pass
	}{
		{edits, foreground.Nobody, false, ptypool.PassNothing},
		{edits, foreground.Unknown, false, ptypool.PassLine},
		{edits, foreground.Somebody, false, ptypool.PassLine},
		{hidden, foreground.Nobody, false, ptypool.PassRefused},
		{hidden, foreground.Unknown, false, ptypool.PassRefused},
		{hidden, foreground.Somebody, false, ptypool.PassRefused},
		{hidden, foreground.Somebody, true, ptypool.PassRefused},
		{raw, foreground.Nobody, false, ptypool.PassNothing}, // a shell
		{raw, foreground.Unknown, false, ptypool.PassLine},
		{raw, foreground.Somebody, false, ptypool.PassLine},
		{raw, foreground.Somebody, true, ptypool.PassRefused},
	} {
		if got := passOf(c.line, c.reads, c.secret); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A terminal keeps few marks, and forgets those of others rather than the newest.
func TestInputMarksAreBounded(t *testing.T) {
	var m inputMarks
	for i := range 3 * maxInputMarks {
		m.take(step{origin: &ahp.Origin{ClientID: string(rune('a' + i)), ClientSeq: int64(i + 1)}})
		if m[string(rune('a'+i))] != int64(i+1) || len(m) > maxInputMarks {
			t.Fatalf("after %d clients there are %d marks", i+1, len(m))
		}
	}
}
