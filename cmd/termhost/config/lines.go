package config

import (
	"fmt"
	"strconv"
	"strings"
)

// lineIndex maps the path of each key, and of each array's entries, to the line of the TOML file
// that sets it, from 1. The TOML library tells the position only of a syntax error or of a value
// that it cannot decode, and where an array of tables is concerned only that of its last table.
type lineIndex map[string]int

// of returns the line of the key at path. If the file does not contain the key, it is the line of
// the innermost table or array around it that the file does contain, or 0.
func (x lineIndex) of(path string) int {
	for path != "" {
		if line, ok := x[path]; ok {
			return line
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 0
}

// joinKey appends a key to the path of its table. The key is quoted where TOML requires it.
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

// indexLines finds the keys of a valid TOML text. For an invalid text it returns as well, with an
// index that makes no sense.
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

// lineScanner walks through a TOML text and records the lines of its keys.
type lineScanner struct {
	rest   string // of the text, not yet scanned
	line   int    // of rest's first byte
	index  lineIndex
	tables map[string]int // how many entries an array of tables has so far
}

// advance skips the next n bytes, or what is left if that is less.
func (s *lineScanner) advance(n int) {
	n = min(n, len(s.rest))
	s.line += strings.Count(s.rest[:n], "\n")
	s.rest = s.rest[n:]
}

// eat skips prefix if it comes next, and reports whether it did.
func (s *lineScanner) eat(prefix string) bool {
	if !strings.HasPrefix(s.rest, prefix) {
		return false
	}
	s.advance(len(prefix))
	return true
}

func (s *lineScanner) skipBlanks() { s.rest = strings.TrimLeft(s.rest, " \t") }

// skipLine skips the rest of the line, but not the line break.
func (s *lineScanner) skipLine() {
	if n := strings.IndexByte(s.rest, '\n'); n >= 0 {
		s.rest = s.rest[n:]
	} else {
		s.rest = ""
	}
}

// skipSpace skips white space, line breaks and comments.
func (s *lineScanner) skipSpace() {
	for {
		s.advance(len(s.rest) - len(strings.TrimLeft(s.rest, " \t\r\n")))
		if !strings.HasPrefix(s.rest, "#") {
			return
		}
		s.skipLine()
	}
}

// key reads a dotted key below table and returns its path. It records the line for the key and
// for each of its parts that has no line yet. If entry is set, the key is the header of an array
// of tables, and begins another table of it.
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

// note records the current line for path, unless it has one already.
func (s *lineScanner) note(path string) {
	if _, ok := s.index[path]; !ok {
		s.index[path] = s.line
	}
}

// keyPart reads one part of a dotted key. It skips at least one byte.
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

// value skips the value of the key at path and the rest of the value's last line. It records the
// lines of an array's entries.
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

// quoted skips a string of any of TOML's four kinds.
func (s *lineScanner) quoted() {
	quote := s.rest[:1]
	multiline := strings.HasPrefix(s.rest, strings.Repeat(quote, 3))
	if multiline {
		quote = strings.Repeat(quote, 3)
	}
	s.advance(len(quote))
	for s.rest != "" {
		switch {
		case quote[0] == '"' && s.rest[0] == '\\':
			s.advance(2)
		case s.eat(quote):
			// A multi-line string may end with up to two quotes that belong to it.
			for i := 0; multiline && i < 2 && s.eat(quote[:1]); i++ {
			}
			return
		default:
			s.advance(1)
		}
	}
}
