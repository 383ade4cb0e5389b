package viewer

import (
	"strings"
	"testing"
)

func TestTheKeyboardsFlagsAreWithheldFromTerminalsWithoutThem(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                   "",
		"u\x1b[":                             "u\x1b[",
		"a\x1b[>1ub\x1b[<uc\x1b[=5;1ud":      "abcd",
		"\x1b[<99u\x1b[=0u\x1b[>4;0m\x1b[0m": "\x1b[>4;0m\x1b[0m",
		"\x1b[u\x1b[?u\x1b[>4;2m\x1b[>1":     "\x1b[u\x1b[?u\x1b[>4;2m\x1b[>1",
		"\x1b[>1\x1b[>1u":                    "\x1b[>1",
	} {
		before := strings.Clone(in)
		if got := string(withoutKeys([]byte(in))); got != want || in != before {
			t.Errorf("%q becomes %q, want %q", before, got, want)
		}
		var out strings.Builder
		k := keyFlags{out: &out}
		if n, err := k.Write([]byte(in)); n != len(in) || err != nil || out.String() != want ||
			k.withheld != (in != want) {
			t.Errorf("%q: %d bytes and %v, written as %q, withheld: %v", in, n, err, out.String(), k.withheld)
		}
		out.Reset()
		k.passes = true
		if _, _ = k.Write([]byte(in)); out.String() != in {
			t.Errorf("where they are known, %q becomes %q", in, out.String())
		}
	}
}

func TestATerminalSaysWhetherItHasTheKeyboardProtocol(t *testing.T) {
	t.Parallel()
	const name, last = "\x1bP>|a terminal\x1b\\", "\x1b[?62c"
	for _, c := range []struct {
		want    ability
		answers []string
	}{
		{unknown, []string{name}},
		{unable, []string{name, last}},
		{able, []string{"\x1b[?0u"}},
		{able, []string{name, "\x1b[?5u", last}},
		{able, []string{last, name, "\x1b[?0u", last}}, // the first is of others
	} {
		var got answers
		for _, a := range c.answers {
			got.note([]byte(a))
		}
		if got.keys != c.want {
			t.Errorf("%q: %d, want %d", c.answers, got.keys, c.want)
		}
	}
}
