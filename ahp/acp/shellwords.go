package acp

import "strings"

// maxWords is how many words of a command line are looked at.
const maxWords = 256

// simpleCommands splits a line of shell at its operators, and each part into its
// words without their quotes (POSIX.1-2024, Shell Command Language, 2.2, 2.3).
// Redirections and comments are left out; what substitutions hold stays in their
// word.
func simpleCommands(line string) (commands [][]string) {
	var words []string
	total := 0
	for i := 0; i < len(line) && total < maxWords; {
		switch c := line[i]; {
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case strings.IndexByte("\n;&|()", c) >= 0:
			if len(words) > 0 {
				commands, words = append(commands, words), nil
			}
			i++
		case c == '#':
			for i < len(line) && line[i] != '\n' {
				i++
			}
		case c == '<' || c == '>' || isDescriptor(line[i:]):
			i = skipRedirection(line, i)
		default:
			var w string
			w, i = word(line, i)
			words = append(words, w)
			total++
		}
	}
	if len(words) > 0 {
		commands = append(commands, words)
	}
	return commands
}

// isDescriptor reports whether s begins with a number that belongs to a
// redirection: 2>&1.
func isDescriptor(s string) bool {
	rest := strings.TrimLeft(s, "0123456789")
	return len(rest) < len(s) && rest != "" && (rest[0] == '<' || rest[0] == '>')
}

// skipRedirection returns the place behind the redirection at i.
func skipRedirection(line string, i int) int {
	const digits = "0123456789"
	for i < len(line) && strings.IndexByte(digits, line[i]) >= 0 {
		i++
	}
	for i < len(line) && strings.IndexByte("<>&|-", line[i]) >= 0 {
		i++
	}
	if i < len(line) && line[i-1] == '&' && strings.IndexByte(digits, line[i]) >= 0 { // a descriptor
		for i < len(line) && strings.IndexByte(digits, line[i]) >= 0 {
			i++
		}
		return i
	}
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	if i < len(line) && strings.IndexByte("\n;&|()<>", line[i]) < 0 {
		_, i = word(line, i)
	}
	return i
}

// word returns the word that begins at i without its quotes, and the place behind
// it.
func word(line string, i int) (string, int) {
	var b strings.Builder
	for i < len(line) {
		switch c := line[i]; c {
		case ' ', '\t', '\r', '\n', ';', '&', '|', '(', ')', '<', '>':
			return b.String(), i
		case '\\':
			if i+1 < len(line) && line[i+1] != '\n' {
				b.WriteByte(line[i+1])
			}
			i += 2
		case '\'', '"', '`':
			end := closing(line, i+1, c)
			b.WriteString(line[i+1 : end])
			i = end + 1
		case '$':
			end := i + 1
			if end < len(line) && (line[end] == '(' || line[end] == '{') {
				end = balanced(line, end)
			}
			b.WriteString(line[i:end])
			i = end
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), min(i, len(line))
}

// closing returns the place of the quote that ends what begins at i, or the
// line's end.
func closing(line string, i int, quote byte) int {
	for ; i < len(line) && line[i] != quote; i++ {
		if line[i] == '\\' && quote != '\'' {
			i++
		}
	}
	return min(i, len(line))
}

// balanced returns the place behind the bracket that closes the one at i.
func balanced(line string, i int) int {
	depth := 0
	for i < len(line) {
		switch line[i] {
		case '\'', '"', '`':
			i = closing(line, i+1, line[i])
		case '\\':
			i++
		case '(', '{':
			depth++
		case ')', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(line)
}
