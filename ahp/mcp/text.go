package mcp

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	// defaultChars and mostChars bound the output in a result, in characters.
	defaultChars = 12_000
	mostChars    = 40_000
)

// Output is lines that a terminal has shown, for a result.
type Output struct {
	Terminal string   // its NAME
	From     int64    // the cursor of the first line
	Lines    []string // without line feeds
}

// Text returns the lines with at most about chars characters: all of them, or the first quarter and
// the last three quarters, at ends of lines, with the call between them that reads what is omitted.
// A line alone that is longer is cut in the same way. A line that begins as a [Header] or as what is
// omitted does is indented.
func (o Output) Text(chars int) string {
	lines := make([]string, len(o.Lines))
	for i, line := range o.Lines {
		lines[i] = plain(line)
	}
	size := 0
	for _, line := range lines {
		size += utf8.RuneCountInString(line) + 1
	}
	var b strings.Builder
	if size <= chars {
		for _, line := range lines {
			b.WriteString(line + "\n")
		}
		return b.String()
	}
	head, first := 0, 0
	for head < len(lines) {
		n := utf8.RuneCountInString(lines[head]) + 1
		if first+n > chars/4 {
			break
		}
		first, head = first+n, head+1
	}
	tail, last := len(lines), 0
	for tail > head {
		n := utf8.RuneCountInString(lines[tail-1]) + 1
		if last+n > chars-first {
			break
		}
		last, tail = last+n, tail-1
	}
	for _, line := range lines[:head] {
		b.WriteString(line + "\n")
	}
	if tail == len(lines) { // not even the last line fits
		tail--
		b.WriteString(o.omission(head, tail))
		b.WriteString(middleCut(lines[tail], chars-first) + "\n")
		return b.String()
	}
	b.WriteString(o.omission(head, tail))
	for _, line := range lines[tail:] {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// omission says how the lines from head to tail are read.
func (o Output) omission(head, tail int) string {
	if head == tail {
		return ""
	}
	unit := "lines"
	if tail-head == 1 {
		unit = "line"
	}
	return fmt.Sprintf("[... %d %s omitted: %s ...]\n", tail-head, unit,
		callText("terminal_read", "terminal", o.Terminal, "cursor", o.From+int64(head)))
}

// middleCut returns the first quarter and the last three quarters of a line.
func middleCut(line string, chars int) string {
	runes := []rune(line)
	if len(runes) <= chars {
		return line
	}
	head := chars / 4
	tail := len(runes) - (chars - head)
	return fmt.Sprintf("%s[... %d characters omitted ...]%s", string(runes[:head]), tail-head,
		string(runes[tail:]))
}

// plain returns a line without control characters, indented if it begins as a [Header] and as what
// is omitted do.
func plain(line string) string {
	line = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(line, "\uFFFD"))
	if hostWord.MatchString(line) {
		return " " + line
	}
	return line
}

// hostWord is how lines begin that are the host's word.
var hostWord = regexp.MustCompile(`^\[(\.\.\. |\S+ (running|exited|waiting for|held by|gone) )`)

// callText returns a tool's call as a model writes it: the name, and the arguments as JSON, which are
// given as names and values.
func callText(tool string, arguments ...any) string {
	var b strings.Builder
	b.WriteString(tool + " {")
	for i := 0; i < len(arguments); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := json.Marshal(arguments[i+1])
		if err != nil {
			panic(err) // a string, a number or a bool
		}
		fmt.Fprintf(&b, "%q:%s", arguments[i], value)
	}
	return b.String() + "}"
}
