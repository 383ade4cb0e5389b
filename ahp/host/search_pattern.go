package host

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

// SearchPattern finds lines in text. It is made for much text and few matches: whole blocks are
// looked through for what must be in every match, and only lines that have it are looked at.
type SearchPattern struct {
	line *regexp.Regexp // for one line
	// block finds the beginnings of lines that may match, in several lines; nil: the pattern may go
	// beyond a line's end, so it would find too much.
	block   *regexp.Regexp
	literal []byte // is in every match; nil: nothing is known to be
	fold    bool   // literal is in lower case, and matches in any
	lower   []byte // of the block, if fold is set
}

// NewSearchPattern returns a pattern for a regular expression (RE2, Go's syntax), which with
// ignoreCase matches in any case. It refuses what [CompilePattern] does. A SearchPattern must not
// be used concurrently.
func NewSearchPattern(expr string, ignoreCase bool) (*SearchPattern, error) {
	if ignoreCase {
		expr = "(?i)" + expr
	}
	line, err := CompilePattern(expr)
	if err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	tree = tree.Simplify()
	s := &SearchPattern{line: line}
	text, fold := required(tree)
	s.literal, s.fold = []byte(text), fold
	if !crossesLines(tree) {
		s.block, err = regexp.Compile(tree.String())
	}
	return s, err
}

// required returns the longest text that every match of a pattern has; fold: in any case, and it is
// given in lower case.
func required(tree *syntax.Regexp) (text string, fold bool) {
	switch tree.Op {
	case syntax.OpLiteral:
		text = string(tree.Rune)
		if tree.Flags&syntax.FoldCase == 0 {
			return text, false
		}
		return foldable(text), true
	case syntax.OpCapture, syntax.OpPlus:
		return required(tree.Sub[0])
	case syntax.OpConcat:
		for _, sub := range tree.Sub {
			if t, f := required(sub); len(t) > len(text) {
				text, fold = t, f
			}
		}
	}
	return text, fold
}

// foldable returns the longest part of s, in lower case, whose characters are the same in any case
// but for those of ASCII: k and s have a third form.
func foldable(s string) (longest string) {
	apart := func(r rune) bool { return r >= unicode.MaxASCII || strings.ContainsRune("kKsS", r) }
	for part := range strings.FieldsFuncSeq(s, apart) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return strings.ToLower(longest)
}

// crossesLines makes the ends of the text in a pattern those of a line, and reports whether a match
// may go beyond one.
func crossesLines(tree *syntax.Regexp) (crosses bool) {
	switch tree.Op {
	case syntax.OpBeginText:
		tree.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		tree.Op = syntax.OpEndLine
		tree.Flags &^= syntax.WasDollar
	case syntax.OpAnyChar:
		return true
	case syntax.OpLiteral:
		crosses = strings.ContainsRune(string(tree.Rune), '\n')
	case syntax.OpCharClass:
		for i := 0; i < len(tree.Rune); i += 2 {
			crosses = crosses || tree.Rune[i] <= '\n' && '\n' <= tree.Rune[i+1]
		}
	}
	for _, sub := range tree.Sub {
		crosses = crossesLines(sub) || crosses
	}
	return crosses
}

// begin is called with a block of whole lines before next.
func (s *SearchPattern) begin(block []byte) {
	if !s.fold || len(s.literal) == 0 {
		return
	}
	s.lower = append(s.lower[:0], block...)
	for i, b := range s.lower {
		if b-'A' < 26 {
			s.lower[i] = b + 'a' - 'A'
		}
	}
}

// next returns the first line at or behind a line's beginning that matches, without its line feed.
// start is where it begins; the length of the block: there is none.
func (s *SearchPattern) next(block []byte, from int) (start int, line []byte) {
	for from < len(block) {
		at := s.candidate(block, from)
		if at < 0 || at >= len(block) {
			break
		}
		start = bytes.LastIndexByte(block[:at], '\n') + 1
		line, _, _ = bytes.Cut(block[start:], []byte{'\n'})
		if s.line.Match(line) {
			return start, line
		}
		from = start + len(line) + 1
	}
	return len(block), nil
}

// candidate returns a place in the first line that may match; -1: none may.
func (s *SearchPattern) candidate(block []byte, from int) int {
	text, found := block, -1
	switch {
	case len(s.literal) > 0:
		if s.fold {
			text = s.lower
		}
		found = bytes.Index(text[from:], s.literal)
	case s.block != nil:
		if loc := s.block.FindIndex(block[from:]); loc != nil {
			found = loc[0]
		}
	default:
		found = 0
	}
	if found < 0 {
		return -1
	}
	return from + found
}
