package keyboard

import (
	"strings"
	"testing"
	"time"
)

// queryAnswers are what terminals answer to queries.
var queryAnswers = []string{
	"\x1b[?62;22;52c", "\x1b[>1;277;0c", "\x1b[?1;2c", "\x1bP!|00000000\x1b\\", // DA
	"\x1b[0n", "\x1b[?1;1R", "\x1b[?997;1n", // DSR, DECXCPR, colour scheme
	"\x1b]10;rgb:aaaa/bbbb/cccc\x1b\\", "\x1b]11;rgb:0000/0000/0000\x07", "\x1b]4;1;rgb:cdcd/0/0\x1b\\",
	"\x1b]52;c;aGk=\x07", "\x1b]lA title\x1b\\", "\x1b]99;i=termhost:p=?;p=title,body\x1b\\",
	"\x1bP>|xterm(370)\x1b\\", "\x1bP1$r0m\x1b\\", "\x1bP1+r544e=787465726d\x1b\\",
	"\x1b_Gi=1;OK\x1b\\", "\x1b^private\x1b\\", "\x1bXstring\x1b\\",
	"\x1b[?2026;2$y", "\x1b[4;2$y", "\x1b[4;480;640t", "\x1b[8;24;80t", "\x1b[48;24;80;480;640t",
	"\x1b[24;80R", "\x1b[1;80R", "\x1b[1;1R", "\x1b[2;2R",
	"\x1b[?5u", "\x1b[>4;2m", "\x1b[?1;0;256S", "\x1b[2;1;1;128;128;1;0x",
}

// typedThings are keys, and reports of a terminal that belong to the program.
var typedThings = []string{
	"a", "\r", "\x03", "é", "漢", "\x1b", "\x1b[A", "\x1bOA", "\x1b[1;5C", "\x1b[3~", "\x1b[Z", "\x1bx", "\x1b\x1b",
	"\x1b[97;5u", "\x1b[97;1:3u", "\x1b[27;5;92~", "\x1b[1;2R", "\x1b[1;16R", "\x1b[1;1:3R", "\x1b[R", "\x1b[[A", "\x1b[n", "\x1b[t",
	"\x1b[I", "\x1b[O", "\x1b[M !!", "\x1b[<0;1;1M", "\x1b[<0;1;1m", "\x1b[35;10;20M",
	"\x1b[200~\x1b]11;rgb:0/0/0\x07 \x1b[?1c\x1b[201~",
	"\x1b]", "\x1bP", "\x1b_", "\x1b^", "\x1bX", "\x1b[", "\x1b]q\r", "\x1bPhello\r", "\x1b^x\x1b[A",
	"\x1b]" + strings.Repeat("j", 2*maxHeldKeys),
}

// takeAll gives the pieces to an Answers. late: nothing follows a piece for longer than is waited.
func takeAll(late bool, pieces ...string) string {
	a := Answers{Now: time.Now}
	var typed []byte
	for _, p := range pieces {
		typed = append(typed, a.Take([]byte(p))...)
		for late && a.Wait() > 0 {
			typed = append(typed, a.Release()...)
		}
	}
	return string(append(typed, a.Release()...))
}

// takeAfter gives the pieces to an Answers, each so long after the one before it, and lets the time
// pass that it waits for after the last.
func takeAfter(a *Answers, pause time.Duration, pieces ...string) string {
	now := time.Unix(1e9, 0)
	a.Now = func() time.Time { return now }
	var typed []byte
	passes := func(d time.Duration) {
		for end := now.Add(d); ; {
			wait := a.Wait()
			if wait == 0 || now.Add(wait).After(end) {
				now = end
				return
			}
			now = now.Add(wait)
			typed = append(typed, a.Release()...)
		}
	}
	for _, p := range pieces {
		typed = append(typed, a.Take([]byte(p))...)
		passes(pause)
	}
	passes(time.Minute)
	return string(typed)
}

// pauses are what may be between two pieces that belong together.
var pauses = []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond,
	200 * time.Millisecond, 1200 * time.Millisecond, 9 * time.Second}

// Of an answer that comes in two pieces no more is typed than a key that it begins with.
func TestOfALateAnswerNoRestIsTyped(t *testing.T) {
	for _, s := range queryAnswers {
		if s[1] == '^' || s[1] == 'X' {
			continue // no terminal answers with these
		}
		for i := range len(s) {
			for _, pause := range pauses {
				a := Answers{Now: time.Now}
				want := ""
				switch {
				case i == 1 && pause > escapeTime, i == 2 && pause > beginTime:
					want = s[:i]
				}
				if got := takeAfter(&a, pause, s[:i], s[i:], "z"); got != want+"z" {
					t.Errorf("%q cut at %d for %v: %q is typed", s, i, pause, got)
				}
			}
		}
	}
}

func TestKeysAreTypedWhateverIsBetweenTheirBytes(t *testing.T) {
	for _, s := range typedThings {
		for i := range len(s) {
			for _, pause := range pauses {
				if strings.Contains(s, "200~") && pause > 0 && i < 6 {
					continue // the bracket itself is never so late
				}
				a := Answers{Now: time.Now}
				if got := takeAfter(&a, pause, s[:i], s[i:]); got != s {
					t.Errorf("%q cut at %d for %v: %q is typed", s, i, pause, got)
				}
			}
		}
	}
	// Somebody types on after Escape or Alt-[, one key after the other.
	for _, s := range []string{"\x1bP0x", "\x1bP>x", "\x1b[2n", "\x1b[24;80R", "\x1b]1;x\x07",
		"\x1b_Gx", "\x1b[?1c", "\x1b[I"} {
		for _, pause := range pauses[3:] {
			a := Answers{Now: time.Now}
			if got := takeAfter(&a, pause, strings.Split(s, "")...); got != s {
				t.Errorf("%q typed with %v between: %q is typed", s, pause, got)
			}
		}
	}
}

// A key that is held back delays what follows it by less than anybody notices.
func TestKeysDoNotWaitLong(t *testing.T) {
	for s, most := range map[string]time.Duration{
		"\x1b": 50 * time.Millisecond, "\x1b]": beginTime, "\x1b[": beginTime, "\x1bP": beginTime,
		"\x1b_": beginTime, "\x1bx": 0, "x": 0, "\x1b[A": 0,
	} {
		a := Answers{Now: time.Now}
		if typed := a.Take([]byte(s)); len(typed) == 0 {
			if a.Wait() > most {
				t.Errorf("%q waits for %v", s, a.Wait())
			}
			typed = a.Release()
			if string(typed) != s {
				t.Errorf("%q is typed as %q", s, typed)
			}
		}
		a.Release() // a moment later
		if typed := a.Take([]byte("P")); string(typed) != "P" {
			t.Errorf("after %q, P waits", s)
		}
	}
}

// What is left of an answer that never ends does not take a person's keys for long.
func TestAnAnswerWhoseEndNeverComesIsGivenUp(t *testing.T) {
	for _, begin := range []string{"\x1b]1", "\x1b]11;rgb:", "\x1bP>|x", "\x1b[?62", "\x1b]52;c;" +
		strings.Repeat("A", 5000)} {
		a := Answers{Now: time.Now}
		now := time.Unix(1e9, 0)
		a.Now = func() time.Time { return now }
		a.Take([]byte(begin))
		for range 12 {
			now = now.Add(time.Second)
			if typed := a.Take([]byte("0")); len(typed) > 0 && now.Unix() < 1e9+10 {
				t.Errorf("%q: typed after %v", begin, now)
			}
		}
		if typed := a.Take([]byte("x")); string(typed) != "x" {
			t.Errorf("%q takes the keys for ever", begin)
		}
	}
	a := Answers{Now: time.Now}
	if got := takeAfter(&a, time.Second, "\x1b]11;rgb:00", "00\x1b[A", "ls\r"); got != "\x1b[Als\r" {
		t.Errorf("after an answer that broke off: %q is typed", got)
	}
}

func TestTheFocusIsReportedToWhoHasAskedForIt(t *testing.T) {
	for _, s := range []string{"\x1b[I", "\x1b[O"} {
		for _, asked := range []bool{false, true} {
			a := Answers{Now: time.Now, Focus: func() bool { return asked }}
			want := "a" + s + "b"
			if !asked {
				want = "ab"
			}
			if got := takeAfter(&a, 0, "a"+s+"b"); got != want {
				t.Errorf("%q, asked for: %v: %q is typed", s, asked, got)
			}
		}
	}
	a := Answers{Now: time.Now, Focus: func() bool { return false }}
	for _, s := range []string{"\x1bOI", "\x1bI", "\x1bO", "\x1b[1;2O", "\x1b[200~\x1b[I\x1b[201~"} {
		if got := takeAfter(&a, 0, s); got != s {
			t.Errorf("%q is typed as %q", s, got)
		}
	}
	if got := takeAfter(&a, time.Second, "\x1b", "[I"); got != "\x1b[I" {
		t.Errorf("Escape and [I are typed as %q", got)
	}
}

func TestNoAnswerIsTypedHoweverItIsCut(t *testing.T) {
	for _, s := range append(queryAnswers, strings.Join(queryAnswers, "")) {
		for i := range len(s) {
			got := takeAll(false, "a"+s[:i], s[i:]+"b")
			if i == 1 || i > 1 && s[i-1] == 0x1b && s[i] != '\\' {
				got = strings.Replace(got, "\x1b", "", 1) // it may have been the key
			}
			if got != "ab" {
				t.Errorf("%q cut at %d: %q is typed", s, i, got)
			}
		}
		var bytes []string
		for _, c := range []byte(s) {
			bytes = append(bytes, string([]byte{c}))
		}
		if got := strings.ReplaceAll(takeAll(false, bytes...), "\x1b", ""); got != "" &&
			!strings.ContainsAny(s, "^X") {
			t.Errorf("%q byte by byte: %q is typed", s, got)
		}
	}
}

func TestWhileAnAnswerIsExpectedEscapeWaitsForItsRest(t *testing.T) {
	for _, s := range queryAnswers {
		a := Answers{Now: time.Now, Asked: func([]byte) bool { return true }}
		var found []string
		a.Found = func(p []byte) { found = append(found, string(p)) }
		var typed []byte
		for _, c := range []byte(s) {
			if typed = append(typed, a.Take([]byte{c})...); len(typed) > 0 {
				t.Fatalf("%q: %q is typed", s, typed)
			}
		}
		if len(found) != 1 || found[0] != s {
			t.Errorf("found %q in %q", found, s)
		}
		if got := a.Take([]byte{0x1b}); len(got) > 0 || a.Wait() == 0 {
			t.Error("Escape does not wait")
		}
		if got := a.Release(); string(got) != "\x1b" {
			t.Errorf("Escape is typed as %q", got)
		}
	}
}

func TestKeysAreTypedHoweverTheyAreCut(t *testing.T) {
	for _, s := range typedThings {
		for i := range len(s) {
			for _, late := range []bool{false, true} {
				if strings.Contains(s, "200~") && late && i < 6 {
					continue // the bracket itself is never so late
				}
				if got := takeAll(late, s[:i], s[i:]); got != s {
					t.Errorf("%q cut at %d, late: %v: %q is typed", s, i, late, got)
				}
			}
		}
		for _, r := range queryAnswers {
			if got := takeAll(true, s, r+"z"); got != s+"z" {
				t.Errorf("%q before %q: %q is typed", s, r, got)
			}
			if got := takeAll(true, r+s); got != s {
				t.Errorf("%q behind %q: %q is typed", s, r, got)
			}
		}
	}
}

func TestAnAnswerWithoutEndIsNeitherKeptNorTyped(t *testing.T) {
	a := Answers{Now: time.Now}
	for _, begin := range []string{"\x1b]52;c;", "\x1bP>|", "\x1b_G"} {
		if got := a.Take([]byte(begin)); len(got) > 0 {
			t.Fatalf("%q is typed", got)
		}
		for range 100 {
			if got := a.Take([]byte(strings.Repeat("A", 999))); len(got) > 0 || len(a.held) > maxHeldAnswer {
				t.Fatalf("%q is typed, %d bytes are held", got, len(a.held))
			}
		}
		if got := a.Take([]byte("\x1b")); len(got) > 0 {
			t.Fatalf("%q is typed", got)
		}
		if got := a.Take([]byte("\\end")); string(got) != "end" {
			t.Errorf("then %q", got)
		}
		if got := a.Take([]byte(begin + strings.Repeat("A", 9999))); len(got) > 0 {
			t.Fatalf("%q is typed", got)
		}
		if got := a.Take([]byte("\rls\x1b[A")); string(got) != "\rls\x1b[A" {
			t.Errorf("after one that broke off: %q", got)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	for _, s := range append(append([]string(nil), queryAnswers...), typedThings...) {
		f.Add([]byte(s), 1)
	}
	f.Fuzz(func(t *testing.T, p []byte, at int) {
		if at < 0 || at > len(p) {
			return
		}
		a := Answers{Now: time.Now, Asked: func([]byte) bool { return true }}
		n := len(a.Take(p[:at])) + len(a.Take(p[at:]))
		for range 3 {
			n += len(a.Release())
		}
		if n > len(p) || a.Wait() != 0 {
			t.Errorf("%d of %d bytes are typed, then it waits for %v", n, len(p), a.Wait())
		}
	})
}

// An answer that was asked for is waited for by what it is: of its rest nothing is typed, whenever
// that comes, and what is not its rest is typed.
func TestAnAnswerThatWasAskedForIsWaitedForByWhatItIs(t *testing.T) {
	const answer = "\x1b]11;rgb:1212/3434/5656\x1b\\"
	asked := func(p []byte) bool { return strings.HasPrefix(answer, string(p)) }
	for _, pause := range append(pauses, 11*time.Second, time.Hour) {
		for i := 1; i < len(answer); i++ {
			for j := i; j < len(answer); j++ {
				var found []string
				a := Answers{Asked: asked, Found: func(p []byte) { found = append(found, string(p)) }}
				want := ""
				switch {
				case i <= keyBytes && pause > beginTime:
					want = answer[:i]
					if j > i && j-i < restBytes {
						continue // as if typed: single keys after Escape or Alt-]
					}
				}
				got := takeAfter(&a, pause, answer[:i], answer[i:j], answer[j:], "z")
				if got != want+"z" || len(found) != 1 {
					t.Fatalf("cut at %d and %d for %v: %q is typed, found %q", i, j, pause, got, found)
				}
			}
			if i <= keyBytes {
				continue
			}
			a := Answers{Asked: asked}
			if got := takeAfter(&a, 11*time.Second, answer[:i], "ls", "\r"); got != "ls\r" {
				t.Errorf("after the beginning %q: %q is typed", answer[:i], got)
			}
		}
	}
}
