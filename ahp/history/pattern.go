package history

import (
	"bytes"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pattern finds matching lines in text. It is made for much text and few matches: it searches
// blocks for a literal that every match contains, and matches only the lines with it. It may be
// used concurrently.
type Pattern struct {
	text string
	re   *regexp.Regexp
	size int // of re, in instructions
	// blocks: re finds, in several lines at once, the beginnings of lines that may match.
	// Otherwise matches may cross line ends, so it would find too much.
	blocks  bool
	literal []byte // is in every match; nil: no such text is known
	fold    bool   // literal is in lower case, and case is ignored
	around  bool   // whether it matches depends on what is around it: see [Pattern.Count]
}

// directWork bounds the text that is searched at once, in bytes times the pattern's instructions.
// That is the most steps that the search makes, which take some milliseconds.
const directWork = 1 << 18

// NewPattern parses a regular expression and compiles it: see [ParseExpression]. Whoever compiles
// what a peer has sent counts the pattern's memory.
func NewPattern(expr string, ignoreCase bool) (*Pattern, error) {
	e, err := ParseExpression(expr, ignoreCase)
	if err != nil {
		return nil, err
	}
	return e.Compile()
}

// String returns the regular expression.
func (s *Pattern) String() string { return s.text }

// required returns the longest text that every match of a pattern contains; fold: in any case, and
// text is in lower case.
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

// foldable returns the longest part of s, in lower case, that only ASCII case folding changes: k
// and s have a third form.
func foldable(s string) (longest string) {
	apart := func(r rune) bool { return r >= unicode.MaxASCII || strings.ContainsRune("kKsS", r) }
	for part := range strings.FieldsFuncSeq(s, apart) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return strings.ToLower(longest)
}

// asserts reports whether a pattern has an assertion: ^, $, \A, \z, \b or \B.
func asserts(tree *syntax.Regexp) bool {
	switch tree.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(tree.Sub, asserts)
}

// anchorLines replaces a pattern's anchors of the text by those of a line, and reports whether it
// has any.
func anchorLines(tree *syntax.Regexp) (any bool) {
	switch tree.Op {
	case syntax.OpBeginText:
		tree.Op, any = syntax.OpBeginLine, true
	case syntax.OpEndText:
		tree.Op, any = syntax.OpEndLine, true
		tree.Flags &^= syntax.WasDollar
	}
	for _, sub := range tree.Sub {
		any = anchorLines(sub) || any
	}
	return any
}

// crossesLines reports whether a match of a pattern may cross lines.
func crossesLines(tree *syntax.Regexp) (crosses bool) {
	switch tree.Op {
	case syntax.OpAnyChar:
		return true
	case syntax.OpLiteral:
		crosses = strings.ContainsRune(string(tree.Rune), '\n')
	case syntax.OpCharClass:
		for i := 0; i < len(tree.Rune); i += 2 {
			crosses = crosses || tree.Rune[i] <= '\n' && '\n' <= tree.Rune[i+1]
		}
	}
	return crosses || slices.ContainsFunc(tree.Sub, crossesLines)
}

// Block is text that patterns search: lines, each but the last with a line feed. Its methods must
// not be called concurrently.
type Block struct {
	text  []byte
	lower []byte // text with its ASCII letters in lower case; empty: not made yet
}

// Set replaces the text, which must not be modified until the next call of Set.
func (b *Block) Set(text []byte) { b.text, b.lower = text, b.lower[:0] }

// Len returns how long the text is, in bytes.
func (b *Block) Len() int { return len(b.text) }

// inLower returns the text in lower case.
func (b *Block) inLower() []byte {
	if len(b.lower) > 0 {
		return b.lower
	}
	b.lower = append(b.lower, b.text...)
	for i, c := range b.lower {
		if c-'A' < 26 {
			b.lower[i] = c + 'a' - 'A'
		}
	}
	return b.lower
}

// Next returns the first matching line from the line that begins at from, without its line feed.
// start is where it begins, or the length of the text if no line matches. The error is that of w.
func (s *Pattern) Next(w Work, b *Block, from int) (start int, line []byte, err error) {
	for from < len(b.text) {
		if err := w.Step(); err != nil {
			return 0, nil, err
		}
		end := s.reach(b.text, from)
		at := s.candidate(b, from, end)
		if at < 0 || at >= end {
			from = end
			continue
		}
		start = bytes.LastIndexByte(b.text[:at], '\n') + 1
		line, _, _ = bytes.Cut(b.text[start:], []byte{'\n'})
		if ok, err := s.matches(w, line); err != nil || ok {
			return start, line, err
		}
		from = start + len(line) + 1
	}
	return len(b.text), nil, nil
}

// reach returns where the lines end that are searched at once: at least one line, however long.
func (s *Pattern) reach(text []byte, from int) int {
	end := from + directWork/s.size
	if len(s.literal) > 0 || end >= len(text) {
		return len(text)
	}
	if i := bytes.LastIndexByte(text[from:end], '\n'); i >= 0 {
		return from + i + 1
	}
	if i := bytes.IndexByte(text[end:], '\n'); i >= 0 {
		return end + i + 1
	}
	return len(text)
}

// candidate returns a place in the first line that may match; -1: no line may.
func (s *Pattern) candidate(b *Block, from, end int) int {
	text, found := b.text, 0
	switch {
	case len(s.literal) > 0:
		if s.fold {
			text = b.inLower()
		}
		found = bytes.Index(text[from:end], s.literal)
	case s.blocks && (end-from)*s.size <= directWork:
		found = -1
		if loc := s.re.FindIndex(text[from:end]); loc != nil {
			found = loc[0]
		}
	}
	if found < 0 {
		return -1
	}
	return from + found
}

// matches reports whether a line matches. The error is that of w.
func (s *Pattern) matches(w Work, line []byte) (bool, error) {
	if len(line)*s.size <= directWork {
		return s.re.Match(line), nil
	}
	r := s.runes(w, line)
	ok := s.re.MatchReader(r)
	return ok && r.err == nil, r.err
}

// Match returns the first match in a line, which must have one. The error is that of w.
func (s *Pattern) Match(w Work, line []byte) ([]byte, error) {
	loc, err := s.locate(w, line)
	if loc == nil {
		return nil, err
	}
	return line[loc[0]:loc[1]], nil
}

// locate returns where the first match in a line begins and ends; nil: there is none. The error is
// that of w.
func (s *Pattern) locate(w Work, line []byte) (loc []int, err error) {
	if len(line)*s.size <= directWork {
		return s.re.FindIndex(line), nil
	}
	r := s.runes(w, line)
	if loc = s.re.FindReaderIndex(r); r.err != nil {
		return nil, r.err
	}
	return loc, nil
}

// Count returns how many matches that do not overlap a line has, which must have one; at most most.
// If the pattern has an assertion, or matches empty text, it returns 1. Once w ends, Count returns
// what it has counted.
func (s *Pattern) Count(w Work, line []byte, most int) int {
	if s.around {
		return 1
	}
	n := 0
	for n < most && w.Step() == nil {
		loc, err := s.locate(w, line)
		if err != nil || loc == nil || loc[0] == loc[1] {
			break
		}
		n, line = n+1, line[loc[1]:]
	}
	return max(n, 1)
}

// runes returns a reader of a line that takes long to match.
func (s *Pattern) runes(w Work, line []byte) *steppedRunes {
	return &steppedRunes{work: w, rest: line, every: max(1, directWork/s.size)}
}

// steppedRunes reads a line that takes long to match, with a step of the work after every so many
// characters.
type steppedRunes struct {
	work  Work
	rest  []byte
	every int // characters are read in one piece of work
	read  int
	err   error // of the work
}

func (r *steppedRunes) ReadRune() (c rune, size int, err error) {
	if r.read++; r.err == nil && r.read%r.every == 0 {
		r.err = r.work.Step()
	}
	if r.err != nil || len(r.rest) == 0 {
		return 0, 0, io.EOF
	}
	c, size = utf8.DecodeRune(r.rest)
	r.rest = r.rest[size:]
	return c, size, nil
}
