package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A line of a comment with two relative clauses has to be read twice: a noun says it better.
var (
	twoPronouns = regexp.MustCompile(`// .*\b(what|who)\b.*\b(what|who)\b`)
	twoClauses  = regexp.MustCompile(`// .*\b(what|who|which)\b.*\b(what|who|which)\b`)
)

// mostClauses bounds the number of such lines where "which" counts, too. It may only fall.
const mostClauses = 192

func TestCommentsAreReadOnce(t *testing.T) {
	clauses := 0
	for _, s := range sources(t) {
		if s.path == "cmd/termhost/words_test.go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(moduleRoot, s.path))
		if err != nil {
			t.Error(err)
			continue
		}
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			if twoPronouns.MatchString(line) {
				t.Errorf("%s:%d says what and who twice: name the things", s.path, number)
			}
			if twoClauses.MatchString(line) {
				clauses++
			}
		}
	}
	if clauses > mostClauses {
		t.Errorf("%d lines of comments have two clauses with what, who or which: %d are allowed",
			clauses, mostClauses)
	}
}
