package acp

import (
	"strings"
	"testing"
)

func TestATitleIsTheCommandLine(t *testing.T) {
	t.Parallel()
	for want, argv := range map[string][]string{
		"npm test 'a b' (x)":                {"npm", "test", "a b"},
		"cd y && echo 'it' (x)":             {"bash", "-lc", "cd y && echo 'it'"},
		"sh -c 'ls $1' sh y (x)":            {"sh", "-c", "ls $1", "sh", "y"},
		"one two (x)":                       {"/bin/sh", "-e", "-c", "one\n  two"},
		"bash run.sh (x)":                   {"bash", "run.sh"},
		"bash -c (x)":                       {"bash", "-c"},
		strings.Repeat("é", 90) + "... (x)": {strings.Repeat("é", 100)},
	} {
		if got := titleOf(argv, "x"); got != want {
			t.Errorf("%q has the title %q, want %q", argv, got, want)
		}
	}
}
