package mcp

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// plain returns a line without control characters and without those that are not seen, such as
// marks of direction. At its beginning it is indented if it begins as a [Header] and as what is
// omitted do.
func plain(line string, beginning bool) string {
	line = strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == zeroWidthJoiner, r == zeroWidthNonJoiner:
			return r
		case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r),
			unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(line, "\uFFFD"))
	if beginning {
		return indented(line)
	}
	return line
}

// indented returns a line that no reader takes for the host's word.
func indented(line string) string {
	seen := strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Other_Default_Ignorable_Code_Point),
			r == zeroWidthJoiner, r == zeroWidthNonJoiner:
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, line[:min(len(line), longestWord)])
	if hostWord.MatchString(seen) {
		return " " + line
	}
	return line
}

// longestWord is how much of a line, in bytes, may make it look like the host's word.
const longestWord = 512

// Characters that are not seen and that writing needs.
const (
	zeroWidthNonJoiner = '\u200C'
	zeroWidthJoiner    = '\u200D'
)

// hostWord is how lines begin that are the host's word.
var hostWord = regexp.MustCompile(`^\[(\.\.\. |\S+ +(running|exited|waiting for|held by|gone)\b)`)

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
