package helptext

import (
	"strings"
	"testing"
)

func TestAUsageEndsItsLinesBetweenItsParts(t *testing.T) {
	const usage = "invite --terminal NAME [--role ROLE] [--ttl 1h] [--once] " +
		"[--github USER | --key FILE | --page [--url URL]] [GUEST] | --revoke GUEST"
	const want = `usage: termhost invite --terminal NAME [--role ROLE] [--ttl 1h] [--once]
        [--github USER | --key FILE | --page [--url URL]] [GUEST] | --revoke GUEST
`
	if got := Usage("usage: termhost ", usage); got != want {
		t.Errorf("got\n%s", got)
	}
	flags := strings.Repeat("--name NAME ", 20)
	for line := range strings.Lines(Usage("  ", flags)) {
		if len(line) > Columns+1 || !strings.HasSuffix(line, "--name NAME\n") {
			t.Errorf("a flag is apart from its value: %q", line)
		}
	}
}

func TestTextIsSetInLines(t *testing.T) {
	for _, c := range []struct{ first, text, want string }{
		{"- ", "", "-\n"},
		{"- ", "one", "- one\n"},
		{"- ", "one two three", "- one\n  two\n  three\n"},
		{"", "a b c d e", "a b c\n  d e\n"},
		{"- ", "longer-than-that x", "- longer-than-that\n  x\n"},
		{"", "äöü x", "äöü x\n"},
	} {
		if got := Fill(c.first, "  ", strings.Fields(c.text), 5); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
