package history_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

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
