package main

import (
	"fmt"
	"strconv"
	"strings"
)

// lineIndex says on which line, from 1, a TOML file sets a key, and each entry
// of an array. The TOML library tells it only for values it cannot decode, and
// never for arrays of tables.
type lineIndex map[string]int

// of returns the line of the key at path, or of the nearest table or array
// around it that the file names, or 0.
func (x lineIndex) of(path string) int {
	for path != "" {
		if line, ok := x[path]; ok {
			return line
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 0
}

// joinKey appends a key to the path of its table. A key that TOML would have to
// quote is quoted.
func joinKey(path, key string) string {
	if key == "" || strings.Trim(key, bareKeyChars) != "" {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// indexKey returns the path of entry i, from 0, of the array at path.
func indexKey(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// bareKeyChars may stand in a key without quotes (TOML 1.0, "Keys").
const bareKeyChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// indexLines finds the keys of a TOML text. It relies on the text being valid;
// for any other text it ends too, with an index that makes no sense.
func indexLines(text string) lineIndex {
	s := lineScanner{rest: text, line: 1, index: lineIndex{}, tables: map[string]int{}}
	table := ""
	for s.skipSpace(); s.rest != ""; s.skipSpace() {
		switch {
		case s.eat("[["):
			table = s.key("", true)
			s.skipLine()
		case s.eat("["):
			table = s.key("", false)
			s.skipLine()
		default:
			key := s.key(table, false)
			s.skipBlanks()
			s.eat("=")
			s.skipBlanks()
			s.value(key)
		}
	}
	return s.index
}

// lineScanner walks through a TOML text and notes where keys are.
type lineScanner struct {
	rest   string // not yet seen
	line   int    // of rest's first byte
	index  lineIndex
	tables map[string]int // how many entries an array of tables has so far
}

// advance moves over the next n bytes, or what is left.
func (s *lineScanner) advance(n int) {
	n = min(n, len(s.rest))
	s.line += strings.Count(s.rest[:n], "\n")
	s.rest = s.rest[n:]
}

// eat moves over prefix if it comes next.
func (s *lineScanner) eat(prefix string) bool {
	if !strings.HasPrefix(s.rest, prefix) {
		return false
	}
	s.advance(len(prefix))
	return true
}

func (s *lineScanner) skipBlanks() { s.rest = strings.TrimLeft(s.rest, " \t") }

// skipLine moves to the next line's end.
func (s *lineScanner) skipLine() {
	if n := strings.IndexByte(s.rest, '\n'); n >= 0 {
		s.rest = s.rest[n:]
	} else {
		s.rest = ""
	}
}

// skipSpace moves over white space, line ends and comments.
func (s *lineScanner) skipSpace() {
	for {
		s.advance(len(s.rest) - len(strings.TrimLeft(s.rest, " \t\r\n")))
		if !strings.HasPrefix(s.rest, "#") {
			return
		}
		s.skipLine()
	}
}

// key reads a dotted key below table, notes its line and that of every part
// seen for the first time, and returns its path. With entry, it begins a new
// entry of an array of tables.
func (s *lineScanner) key(table string, entry bool) string {
	path := table
	for {
		s.skipBlanks()
		path = joinKey(path, s.keyPart())
		s.skipBlanks()
		last := !s.eat(".")
		if last && entry {
			s.note(path)
			s.tables[path]++
		}
		if n := s.tables[path]; n > 0 {
			path = indexKey(path, n-1)
		}
		s.note(path)
		if last {
			return path
		}
	}
}

// note remembers the current line for path, unless an earlier one is known.
func (s *lineScanner) note(path string) {
	if _, ok := s.index[path]; !ok {
		s.index[path] = s.line
	}
}

// keyPart reads one part of a key, moving over at least one byte.
func (s *lineScanner) keyPart() string {
	if strings.HasPrefix(s.rest, `"`) || strings.HasPrefix(s.rest, "'") {
		raw := s.rest
		s.quoted()
		raw = raw[:len(raw)-len(s.rest)]
		if raw[0] == '"' {
			if part, err := strconv.Unquote(raw); err == nil {
				return part
			}
		}
		return strings.Trim(raw, "'")
	}
	n := len(s.rest) - len(strings.TrimLeft(s.rest, bareKeyChars))
	part := s.rest[:n]
	s.advance(max(n, 1))
	return part
}

// value moves over the value of the key at path, to the end of its line at
// least, noting the lines of an array's entries.
func (s *lineScanner) value(path string) {
	depth, entry, begun := 0, 0, false
	for s.rest != "" {
		c := s.rest[0]
		if depth == 1 && !begun && !strings.ContainsRune(" \t\r\n#],", rune(c)) {
			s.note(indexKey(path, entry))
			begun = true
		}
		switch c {
		case '"', '\'':
			s.quoted()
			continue
		case '#':
			s.skipLine()
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 1 {
				entry, begun = entry+1, false
			}
		case '\n':
			if depth <= 0 {
				return
			}
		}
		s.advance(1)
	}
}

// quoted moves over a string of any of TOML's four kinds.
func (s *lineScanner) quoted() {
	quote := s.rest[:1]
	long := strings.HasPrefix(s.rest, strings.Repeat(quote, 3))
	if long {
		quote = strings.Repeat(quote, 3)
	}
	s.advance(len(quote))
	for s.rest != "" {
		switch {
		case quote[0] == '"' && s.rest[0] == '\\':
			s.advance(2)
		case s.eat(quote):
			// A long string may end in up to two quotes of its own.
			for i := 0; long && i < 2 && s.eat(quote[:1]); i++ {
			}
			return
		default:
			s.advance(1)
		}
	}
}
