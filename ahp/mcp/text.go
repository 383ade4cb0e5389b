package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"termhost/ahp/visible"
)

// Two things are done to text before a model reads it. All text is cleaned, as [visible.Clean]
// does: lines of terminals where they are taken from the terminal, because then their length
// counts, and whatever else is in a result when the result is made. Lines of terminals are indented
// where they could be taken for the host's word.

// plainLines returns the lines of a terminal, cleaned and indented.
func plainLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = indented(visible.Clean(line), false)
	}
	return strings.Join(lines, "\n")
}

// cleaned returns lines, among which are the host's own, without what nobody sees.
func cleaned(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = visible.Clean(line)
	}
	return strings.Join(lines, "\n")
}

// cleanedError returns an error with a clean text. The SDK writes the URI of a missing resource
// into the error's data as Go quotes it, which may be no JSON, and would end the session.
func cleanedError(err error) error {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		clean := *wire
		clean.Message = visible.Clean(err.Error())
		clean.Data = json.RawMessage(visible.Clean(string(wire.Data)))
		if !json.Valid(clean.Data) {
			clean.Data = nil
		}
		return &clean
	}
	if err == nil || visible.Clean(err.Error()) == err.Error() {
		return err
	}
	return errors.New(visible.Clean(err.Error()))
}

// hostWord is how lines begin that are the host's word: as a [Header] and as what is omitted do.
// mayBecome is what is too short to tell, if the line goes on. emptyLooking may be read as a part
// of the NAME, or as a space behind it.
var (
	hostWord = regexp.MustCompile(`(?i)^\[[ \x{2800}]*(\.\.\.|…|` +
		`[^ ]+[ \x{2800}]+(running|exited|waiting|held|gone)\b)`)
	mayBecome = regexp.MustCompile(`(?i)^\[[ \x{2800}]*([^ ]*|[^ ]+[ \x{2800}]+[a-z]{0,7})$`)
)

// emptyLooking stands for all characters that look empty and are no spaces.
const emptyLooking = '\u2800'

// indented returns a line that was cleaned, indented if a reader could take it for the host's word,
// or for the beginning of it and goesOn says that the line goes on.
func indented(line string, goesOn bool) string {
	if !strings.Contains(line, "[") {
		return line
	}
	seen := asSeen(line)
	if hostWord.MatchString(seen) || goesOn && mayBecome.MatchString(seen) {
		return " " + line
	}
	return line
}

// asSeen returns what a reader sees of the beginning of a line that was cleaned: marks and kinds of
// spaces make no difference, and what only looks empty does not indent. "" is nothing yet.
func asSeen(line string) string {
	if line == "" || line[0] < utf8.RuneSelf && line[0] != '[' {
		return line // it begins as no header does
	}
	unmarked := strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Join_Control):
			return -1
		case r < utf8.RuneSelf:
			return r
		case unicode.IsSpace(r):
			return '\u00a0'
		case visible.Blank(r):
			return emptyLooking
		}
		return r
	}, line)
	seen := strings.TrimLeft(unmarked, "\u00a0"+string(emptyLooking))
	return strings.ReplaceAll(strings.ReplaceAll(seen, "\u00a0", " "), "\t", " ")
}

// callText returns a tool's call as a model writes it: the name, and the arguments as JSON, which
// are given as names and values.
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
