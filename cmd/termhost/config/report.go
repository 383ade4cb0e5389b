package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Error lists what is wrong with a configuration file: one line for each problem, such as
// "FILE:LINE: KEY: PROBLEM", in the order of the file.
type Error struct {
	lines []string
}

// Error returns all lines, separated by newlines.
func (e *Error) Error() string { return strings.Join(e.lines, "\n") }

// problem is one thing wrong with a configuration.
type problem struct {
	line int // of the file, from 1; 0 when no line of the file is to blame
	text string
}

// report collects the problems of one configuration file.
type report struct {
	name     string // of the file, for messages
	lines    lineIndex
	problems []problem
	reported map[string]bool // the paths of keys that have a problem
}

// add records a problem of the key at the given path, such as "principal[0].role". Only the first
// problem of a key counts: a value that could not be decoded must not be reported as missing as
// well. The message must not quote values that may be secrets.
func (r *report) add(path, format string, args ...any) {
	if r.reported[path] {
		return
	}
	if r.reported == nil {
		r.reported = map[string]bool{}
	}
	r.reported[path] = true
	r.addLine(r.lines.of(path), path+": "+fmt.Sprintf(format, args...))
}

// addLine records a problem at a line of the file, or at none if line is 0. The text may quote the
// file, so control characters in it are replaced: every problem is one printable line.
func (r *report) addLine(line int, text string) {
	r.problems = append(r.problems, problem{line, oneLine(text)})
}

// oneLine returns a text with its control characters replaced.
func oneLine(text string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return unicode.ReplacementChar
		}
		return c
	}, text)
}

// err returns an *Error with all problems, or nil if there are none.
func (r *report) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b problem) int { return a.line - b.line })
	e := &Error{}
	for _, p := range r.problems {
		where := r.name
		if p.line > 0 {
			where += ":" + strconv.Itoa(p.line)
		}
		e.lines = append(e.lines, where+": "+p.text)
	}
	return e
}
