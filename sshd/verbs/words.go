package verbs

import (
	"errors"
	"strings"
)

// line is a command line as SSH's exec request carries it.
type line struct {
	words []string // before "--"
	raw   []string // the same, with the backslashes that are not in quotes
	from  []string // for each of words, the line from that word on, verbatim
	rest  string   // after "--", verbatim
	tail  bool     // there was a "--"
	open  string   // what follows words, if a quote in it is not closed, verbatim
}

var errUnclosed = errors.New("a quote is not closed")

// parseLine splits a command line. Up to a word "--" that is not quoted, words are those of POSIX
// sh (XCU 2.2) without any expansion. What follows the "--" and its blanks is left as it is. With
// an error, the words before a quote that is not closed are there.
func parseLine(s string) (line, error) {
	var l line
	for {
		s = strings.TrimLeft(s, blanks)
		if s == "" {
			return l, nil
		}
		rest, dashes := strings.CutPrefix(s, "--")
		if dashes && (rest == "" || strings.Contains(blanks, rest[:1])) {
			l.tail = true
			l.rest = strings.TrimLeft(rest, blanks)
			return l, nil
		}
		word, n, err := scanWord(s, false)
		if err != nil {
			l.open = s
			return l, err
		}
		raw, _, _ := scanWord(s, true)
		l.words, l.raw, l.from = append(l.words, word), append(l.raw, raw), append(l.from, s)
		s = s[n:]
	}
}

// program is the command that a verb runs, or text to type: a line for a shell or, if a shell has
// parsed the command line already, words.
type program struct {
	line string   // for a shell
	argv []string // nil: line
}

func (p program) empty() bool { return p.line == "" && len(p.argv) == 0 }

// program reads the command or text at the end of the peer's line. A local peer has quoted each of
// its arguments, which are not parsed again.
func (c *Caller) program(text string) (program, error) {
	if !c.Local {
		return program{line: text}, nil
	}
	argv, err := splitWords(text)
	return program{argv: argv}, err
}

// takeWord splits the first word off a text. The word is "" if there is none.
func takeWord(s string) (word, rest string, err error) {
	s = strings.TrimLeft(s, blanks)
	word, n, err := scanWord(s, false)
	return word, strings.TrimLeft(s[n:], blanks), err
}

// splitWords splits a text into words. None of them is special, "--" included.
func splitWords(s string) (words []string, err error) {
	for s = strings.TrimLeft(s, blanks); s != ""; {
		var word string
		if word, s, err = takeWord(s); err != nil {
			return nil, err
		}
		words = append(words, word)
	}
	return words, nil
}

// blanks separate words.
const blanks = " \t\n"

// scanWord reads the word that s begins with and returns its length in s. With keep, a backslash
// that is not in quotes stays in the word, besides quoting what follows it.
func scanWord(s string, keep bool) (word string, n int, err error) {
	var w strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ', '\t', '\n':
			return w.String(), i, nil
		case '\'':
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return "", 0, errUnclosed
			}
			w.WriteString(s[i+1 : i+1+end])
			i += end + 1
		case '"':
			quoted, length, err := scanQuoted(s[i+1:])
			if err != nil {
				return "", 0, err
			}
			w.WriteString(quoted)
			i += length
		case '\\':
			if i++; i == len(s) {
				return "", 0, errors.New("the line ends with a backslash")
			}
			if s[i] == '\n' {
				continue
			}
			if keep {
				w.WriteByte('\\')
			}
			w.WriteByte(s[i])
		default:
			w.WriteByte(s[i])
		}
	}
	return w.String(), len(s), nil
}

// scanQuoted reads to the closing double quote and returns the length of that in s. Within the
// quotes, a backslash quotes only what is special there (XCU 2.2.3).
func scanQuoted(s string) (word string, n int, err error) {
	var w strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return w.String(), i + 1, nil
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0:
			if i++; s[i] != '\n' {
				w.WriteByte(s[i])
			}
		default:
			w.WriteByte(s[i])
		}
	}
	return "", 0, errUnclosed
}
