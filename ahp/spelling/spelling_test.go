package spelling

import (
	"strings"
	"testing"
)

func TestNearestNames(t *testing.T) {
	names := []string{"listen", "login", "term", "max_terminals"}
	for in, want := range map[string]string{"lisen": "listen", "LOGIN": "login", "max-terminal": "max_terminals", "colour": "", "": ""} {
		if got := Nearest(in, names); got != want {
			t.Errorf("nearest to %q: %q, want %q", in, got, want)
		}
	}
}

func TestAmongListsSomeOfTheWordsAndTheNearest(t *testing.T) {
	many := strings.Fields(strings.Repeat("x ", 30))
	for want, got := range map[string]string{
		"":                                   Among("a", nil),
		", but box, home; did you mean box?": Among("BOX", []string{"box", "home"}),
		", but box, home":                    Among("nothing", []string{"box", "home"}),
		", but " + strings.Repeat("x, ", 19) + "x and 10 more": Among("nothing", many),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
