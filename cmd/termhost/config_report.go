package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// configError lists what is wrong with a configuration file, one line for each
// problem, in the order of the file: "FILE:LINE: KEY: PROBLEM".
type configError struct {
	lines []string
}

// Error returns all lines, separated by newlines.
func (e *configError) Error() string { return strings.Join(e.lines, "\n") }

// problem is one thing wrong with a configuration.
type problem struct {
	line int // in the file, from 1; 0 when the file does not say it anywhere
	text string
}

// report collects the problems of one configuration file.
type report struct {
	name     string // of the file, for messages
	lines    lineIndex
	problems []problem
	paths    map[string]bool // those that have a problem
}

// add records a problem of the key at the given path, such as
// "principal[0].role", unless it has one already: a value that could not be
// decoded must not be called missing as well. The message must not quote values
// that may be secrets.
func (r *report) add(path, format string, args ...any) {
	if r.paths[path] {
		return
	}
	if r.paths == nil {
		r.paths = map[string]bool{}
	}
	r.paths[path] = true
	r.addLine(r.lines.of(path), path+": "+fmt.Sprintf(format, args...))
}

// addLine records a problem at a line, which may be 0. Control characters in
// text, which can come from the file, are replaced, so a problem is one line.
func (r *report) addLine(line int, text string) {
	text = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return unicode.ReplacementChar
		}
		return c
	}, text)
	r.problems = append(r.problems, problem{line, text})
}

// err returns nil when nothing was reported, else a *configError.
func (r *report) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b problem) int { return a.line - b.line })
	e := &configError{}
	for _, p := range r.problems {
		where := r.name
		if p.line > 0 {
			where += ":" + strconv.Itoa(p.line)
		}
		e.lines = append(e.lines, where+": "+p.text)
	}
	return e
}

// nearest returns the candidate most like word, or "" when none is close enough
// to be a slip of the keyboard: a third of its letters may differ.
func nearest(word string, candidates []string) string {
	word = strings.ToLower(word)
	best, bestDistance := "", (len(word)+2)/3+1
	for _, c := range candidates {
		if d := editDistance(word, c); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// editDistance returns how many bytes must be inserted, deleted or replaced to
// make b from a (Levenshtein's distance).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitution := diagonal
			if a[i] != b[j] {
				substitution++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitution, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// quoteAll writes words as `"a", "b" or "c"`.
func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	return joinOr(quoted)
}

// joinOr writes words as "a, b or c".
func joinOr(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
