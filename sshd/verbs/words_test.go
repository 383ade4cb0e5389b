package verbs

import (
	"strings"
	"testing"
)

func TestWordsBeforeAndTextAfterTheDashes(t *testing.T) {
	for _, c := range []struct {
		in    string
		words string // joined with |
		rest  string
		tail  bool
		bad   bool
	}{
		{in: "ls --json", words: "ls|--json"},
		{in: `run -n 'a b' -- echo "x  y"  `, words: "run|-n|a b", rest: `echo "x  y"  `, tail: true},
		{in: `a "b\"c\$d\e" f\ g ''`, words: `a|b"c$d\e|f g|`},
		{in: `send x '--' y`, words: "send|x|--|y"},
		{in: "run --", words: "run", tail: true},
		{in: "run --x", words: "run|--x"},
		{in: "  ", words: ""},
		{in: "a 'b", bad: true},
		{in: `a "b`, bad: true},
		{in: `a \`, bad: true},
		{in: "$(id) `id` *", words: "$(id)|`id`|*"},
	} {
		l, err := parseLine(c.in)
		words := strings.Join(l.words, "|")
		right := words == c.words && l.rest == c.rest && l.tail == c.tail
		if (err != nil) != c.bad || err == nil && !right {
			t.Errorf("%q: %+v, %v", c.in, l, err)
		}
	}
}

func FuzzParseLine(f *testing.F) {
	for _, seed := range []string{"run -- x", `a 'b' "c\"" \d`, "'", "--", "a -- -- b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := parseLine(text)
		if err == nil && l.tail && !strings.HasSuffix(text, l.rest) {
			t.Errorf("%q: what follows the dashes became %q", text, l.rest)
		}
	})
}
