// Package helptext lays out what help says, in lines that fit into a window of 100 columns, and
// describes the verb that is also a command where no host runs.
package helptext

import (
	"strings"
	"unicode"

	"termhost/ptypool/vt/width"
)

// Columns is the width of help, in cells: no line is longer, unless one word is.
const Columns = 100

// Fill sets words in lines of at most cols cells. The first line begins with first, and each other
// one with rest. Every line ends with a line break.
func Fill(first, rest string, words []string, cols int) string {
	var b strings.Builder
	line, empty := first, true
	for _, w := range words {
		switch {
		case empty:
			line += w
		case width.String(line)+1+width.String(w) <= cols:
			line += " " + w
		default:
			b.WriteString(line + "\n")
			line = rest + w
		}
		empty = false
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
	return b.String()
}

// Text sets a sentence in lines: see Fill.
func Text(first, rest, text string) string {
	return Fill(first, rest, strings.Fields(text), Columns)
}

// Usage sets a command line, as usages have it, in lines that begin with before, and then with
// blanks. What is in brackets, a flag with its value, and "|" with what follows, stay together.
func Usage(before, usage string) string {
	indent := len(before) - len(strings.TrimLeft(before, " ")) + 8
	return Fill(before, strings.Repeat(" ", indent), parts(usage), Columns)
}

// parts splits a usage where a line may end.
func parts(usage string) (list []string) {
	depth, joins := 0, false
	for _, word := range strings.Fields(usage) {
		value := isValue(word) && len(list) > 0 && strings.HasPrefix(last(list), "-")
		if depth > 0 || joins || value {
			list[len(list)-1] += " " + word
		} else {
			list = append(list, word)
		}
		depth += strings.Count(word, "[") - strings.Count(word, "]")
		joins = word == "|"
	}
	return list
}

// isValue reports whether a word of a usage stands for something.
func isValue(word string) bool { return unicode.IsUpper([]rune(word)[0]) }

// last returns the last word of the last part.
func last(list []string) string {
	part := list[len(list)-1]
	return part[strings.LastIndexByte(part, ' ')+1:]
}
