package keyboard

import (
	"slices"
	"strings"
	"testing"
)

// reports are what terminals send by themselves.
var reports = []string{
	"\x1b[I", "\x1b[O", // focus
	"\x1b[M !!", "\x1b[<0;1;1M", "\x1b[<0;1;1m", "\x1b[35;10;20M", // mouse: X10, SGR, urxvt
	"\x1b[?62;22;52c", "\x1b[>1;277;0c", "\x1bP!|00000000\x1b\\", // DA1, DA2, DA3
	"\x1b[0n", "\x1b[1;1R", "\x1b[?1;1R", "\x1b[?997;1n", // DSR, CPR, DECXCPR, colour scheme
	"\x1b]11;rgb:0000/0000/0000\x07", "\x1b]11;rgb:0000/0000/0000\x1b\\", "\x1b]4;1;rgb:cdcd/0000/0000\x1b\\",
	"\x1bP>|xterm(370)\x1b\\", "\x1bP1$r0m\x1b\\", "\x1bP1+r544e=787465726d\x1b\\", "\x1b_Gi=1;OK\x1b\\",
	"\x1b[?2026;2$y", "\x1b[4;480;640t", "\x1b[8;24;80t", "\x1b[?5u", "\x1b[48;24;80;480;640t",
	"\x1b[97;1:3u", "\x1b[1;1:3A", "\x1b[3;1:3~", // a key let go
	"\x1b]52;c;aGk=\x07",
	"\x1b[57442;5u", "\x1b[57441u", "\x1b[57454;1:1u", "\x1b[57358;65u", // a modifier alone
}

// keystrokes are what people type.
var keystrokes = []string{
	"a", "\r", "\t", "\x03", "é", "漢", "\x1b[A", "\x1bOA", "\x1bOI", "\x1b[1;5C", "\x1b[3~", "\x1b[15~", "\x1b[Z",
	"\x1bx", "\x1b\x1b", "\x1b[97;5u", "\x1b[97;1:2u", "\x1b[200~pasted\x1b[201~", "\x1b[[A", "\x1bPhello", "\x1b]q", "\x1b_x", "\x1b^",
	"\x1b]1\r",
}

func TestReportsAreNoKeysHoweverTheyAreSplit(t *testing.T) {
	all := strings.Join(reports, "")
	for _, r := range append(slices.Clone(reports), all) {
		if keys, rest := HasKeys([]byte(r)); keys || len(rest) > 0 {
			t.Errorf("%q: keys %v, rest %q", r, keys, rest)
		}
		for i := 1; i < len(r); i++ {
			keys, rest := HasKeys([]byte(r[:i]))
			if keys {
				t.Errorf("%q counts as keys", r[:i])
			}
			if keys, rest := HasKeys(append(slices.Clone(rest), r[i:]...)); keys || len(rest) > 0 {
				t.Errorf("%q after %q: keys %v, rest %q", r[i:], r[:i], keys, rest)
			}
		}
	}
}

func TestKeysAreKeysAlsoAmongReports(t *testing.T) {
	for _, k := range keystrokes {
		if keys, _ := HasKeys([]byte(k)); !keys {
			t.Errorf("%q does not count", k)
		}
		for _, r := range reports {
			if keys, _ := HasKeys([]byte(r + k)); !keys {
				t.Errorf("%q after %q does not count", k, r)
			}
			if keys, _ := HasKeys([]byte(k + r)); !keys {
				t.Errorf("%q before %q does not count", k, r)
			}
		}
	}
	// A person who begins with an escape is heard with the next key at the latest.
	for _, k := range []string{"\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b_"} {
		keys, rest := HasKeys([]byte(k))
		if keys || string(rest) != k {
			t.Errorf("%q: keys %v, rest %q", k, keys, rest)
		}
		if keys, _ := HasKeys([]byte(k + "\r")); !keys {
			t.Errorf("%q and a key do not count", k)
		}
	}
	if keys, _ := HasKeys([]byte("\x1b]11;" + strings.Repeat("x", maxReport))); !keys {
		t.Error("what is held grows without end")
	}
}

func FuzzHasKeys(f *testing.F) {
	for _, s := range append(slices.Clone(reports), keystrokes...) {
		f.Add([]byte(s), 1)
	}
	f.Fuzz(func(t *testing.T, p []byte, at int) {
		keys, rest := HasKeys(p)
		if keys && rest != nil || len(rest) > len(p) {
			t.Errorf("keys %v, rest %.99q", keys, rest)
		}
		if at < 0 || at > len(p) || len(p) > maxReport {
			return
		}
		// A split never hides a key for good.
		if first, held := HasKeys(p[:at]); !first {
			if second, _ := HasKeys(append(slices.Clone(held), p[at:]...)); second != keys {
				t.Errorf("%.99q split at %d: %v, whole: %v", p, at, second, keys)
			}
		}
	})
}
