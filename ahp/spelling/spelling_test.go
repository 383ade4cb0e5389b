package spelling

import "testing"

func TestNearestNames(t *testing.T) {
	names := []string{"listen", "login", "term", "max_terminals"}
	for in, want := range map[string]string{"lisen": "listen", "LOGIN": "login", "max-terminal": "max_terminals", "colour": "", "": ""} {
		if got := Nearest(in, names); got != want {
			t.Errorf("nearest to %q: %q, want %q", in, got, want)
		}
	}
}
