package history_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"termhost/ahp/history"
)

func TestAPatternFindsTheLinesThatMatch(t *testing.T) {
	t.Parallel()
	var text history.Block
	w := &work{}
	lines := []string{"", "error: one", "  two", "ERROR", "Straße ſtop", "K and k", "a.b", "x", "end"}
	block := []byte(strings.Join(lines, "\n") + "\n")
	for _, expr := range []string{"error", "^$", "$", "^", "", "e", "(?i)error", `\d`, "^end$", `\Aend\z`,
		"[^x]", `\s`, `\s\w`, "(?s)r.*t", "o.e|t.o", "a\\.b", "(error)+", "stop", "k", "x*", "(?m)^x$",
		"[[:upper:]]", "ro{1,2}", "^ *two", `\Berr`, "\n", "straSSe", "straße"} {
		for _, fold := range []bool{false, true} {
			p, err := history.NewPattern(expr, fold)
			if err != nil {
				t.Fatalf("%q: %v", expr, err)
			}
			alone := expr
			if fold {
				alone = "(?i)" + expr
			}
			line := regexp.MustCompile(alone)
			var want, got []string
			for _, l := range lines {
				if line.MatchString(l) {
					want = append(want, l)
				}
			}
			text.Set(block)
			for at := 0; ; {
				start, line, err := p.Next(w, &text, at)
				if err != nil {
					t.Fatal(err)
				}
				if start == len(block) {
					break
				}
				got = append(got, string(line))
				at = start + len(line) + 1
			}
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
				t.Errorf("%q, ignoring case %v: %q, want %q", expr, fold, got, want)
			}
		}
	}
	for _, expr := range []string{"(", "a{1,1000}{1,1000}", strings.Repeat("x", 2000)} {
		if _, err := history.NewPattern(expr, true); err == nil {
			t.Errorf("%.20q is taken", expr)
		}
	}
}

func TestAPatternCountsItsMatchesInALine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ab", 300_000)
	for _, c := range []struct {
		expr, line string
		want       int
	}{
		{"a", "a", 1}, {"a", "Banana", 3}, {"ana", "banana", 1}, {"é", "été", 2}, {"a+", "aa aa", 2},
		{"^a", "aaa", 1}, {"a$", "aaa", 1}, {`\ba`, "aaa", 1}, {"x*", "aaa", 1}, {"b|ab", long, 1000},
	} {
		p, err := history.NewPattern(c.expr, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Count(&work{}, []byte(c.line), 1000); got != c.want {
			t.Errorf("%q is in %.20q %d times, want %d", c.expr, c.line, got, c.want)
		}
		if got := p.Count(&work{stop: errors.New("ended")}, []byte(c.line), 1000); got != 1 {
			t.Errorf("%q is in %.20q %d times after the end of the work", c.expr, c.line, got)
		}
	}
}

// TestFindBoundsTheMatches: what it finds are the last matches, and it says whether there are more.
func TestFindBoundsTheMatches(t *testing.T) {
	t.Parallel()
	w := newWritten(t, 1, 1<<20)
	w.checkpoint()
	w.print([]byte("x\r\nxx\r\nnone\r\nxxx\r\n"))
	s, err := w.history(nil).Show(&work{}, nil, history.AllLines, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	p, err := history.NewPattern("x", false)
	if err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int]string{
		7: "[0 1 3] [1 2 3] false", 6: "[0 1 3] [1 2 3] false", 5: "[1 3] [2 3] true",
		4: "[1 3] [1 3] true", 3: "[3] [3] true", 2: "[3] [2] true",
	} {
		if got := fmt.Sprint(s.Find(p, most)); got != want {
			t.Errorf("with at most %d it finds %s, want %s", most, got, want)
		}
	}
}
