package mcptest

import (
	"regexp"
	"testing"
)

// like fails unless a text matches a pattern.
func like(t testing.TB, text, pattern string) {
	t.Helper()
	if !regexp.MustCompile(pattern).MatchString(text) {
		t.Errorf("got %q, want %s", text, pattern)
	}
}

func TestTheModelSeesTheExactStatus(t *testing.T) {
	tell(t, func(t *testing.T, s *site, a agent) {
		m := newModel(t, a.wire, calls(step{tool: "terminal_run", args: args{"command": "echo out; echo err >&2; exit 3"}}))
		out := s.begin(a, m).wait()
		t.Log(out)
		for _, x := range m.bodies { t.Log(x) }
		told := m.told()
		t.Logf("%q", told)
	})
}
