package history

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"unsafe"
)

const (
	// maxPattern bounds a regular expression, in bytes: far more than a person types.
	maxPattern = 1 << 10
	// maxInstructions bounds the compiled program. In the worst case each byte of output costs as
	// many steps. Repetitions such as \pL{1000} make a short expression large.
	maxInstructions = 5000
	// patternBytes is the size of a compiled pattern without its expression's part, in bytes.
	patternBytes = 2 << 10
)

var errPattern = errors.New("the regular expression is too large")

// Expression is a regular expression that is good for a [Pattern] and not compiled yet. It never
// changes.
type Expression struct {
	text  string // of the Pattern
	expr  string // what is compiled: text with anchors of a line instead of those of the text
	tree  *syntax.Regexp
	count sizes
	// crosses: a match may cross line ends.
	crosses bool
}

// ParseExpression reads a regular expression (RE2, Go's syntax) for lines of output. ignoreCase:
// letters match in any case. It refuses an expression that would take too long to match.
func ParseExpression(text string, ignoreCase bool) (*Expression, error) {
	if ignoreCase {
		text = "(?i)" + text
	}
	if len(text) > maxPattern {
		return nil, fmt.Errorf("%w: more than %d bytes", errPattern, maxPattern)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if instructions(tree) > maxInstructions { // to simplify it would take long, too
		return nil, fmt.Errorf("%w: repeat fewer times", errPattern)
	}
	e := &Expression{text: text, expr: text, crosses: crossesLines(tree)}
	// A line has no line ends, so that these anchors match where those of the text do. With them
	// one program serves for a line and for several, and regexp keeps no second form of it.
	if anchorLines(tree) {
		e.expr = tree.String()
	}
	e.tree = tree.Simplify()
	e.count = sizesOf(e.tree)
	if e.count.instructions > maxInstructions {
		return nil, fmt.Errorf("%w: repeat fewer times", errPattern)
	}
	return e, nil
}

// String returns the regular expression, which is the one of the [Pattern], too.
func (e *Expression) String() string { return e.text }

// Bytes returns how much memory the pattern takes that is compiled from it, in bytes.
func (e *Expression) Bytes() int {
	return patternBytes + len(e.text) + len(e.expr) + e.count.instructions*instructionBytes +
		e.count.tables
}

// Compile returns the pattern.
func (e *Expression) Compile() (*Pattern, error) {
	re, err := regexp.Compile(e.expr)
	if err != nil {
		return nil, err
	}
	p := &Pattern{text: e.text, re: re, size: e.count.instructions, around: asserts(e.tree)}
	text, fold := required(e.tree)
	p.literal, p.fold = []byte(text), fold
	p.blocks = len(p.literal) == 0 && !e.crosses
	return p, nil
}

// sizes is what package regexp/syntax makes of an expression.
type sizes struct {
	instructions int
	tables       int // the ranges of characters, in bytes
}

// instructionBytes is the size of an instruction.
const instructionBytes = int(unsafe.Sizeof(syntax.Inst{}))

// sizesOf returns the size of a simplified expression's program. It stops counting above
// maxInstructions.
func sizesOf(tree *syntax.Regexp) sizes {
	c := sizeCounter{seen: map[*syntax.Regexp]struct{}{}}
	c.instructions = 2 // which begin each program, and end it
	c.count(tree)
	return c.sizes
}

type sizeCounter struct {
	sizes
	seen map[*syntax.Regexp]struct{}
}

// count counts what [syntax.Compile] makes of a node. Each repetition has instructions of its own,
// and all those of one node share its characters.
func (c *sizeCounter) count(tree *syntax.Regexp) {
	if c.instructions > maxInstructions {
		return
	}
	if _, seen := c.seen[tree]; !seen {
		c.seen[tree] = struct{}{}
		c.tables += int(unsafe.Sizeof(*tree)) + cap(tree.Rune)*int(unsafe.Sizeof(rune(0)))
	}
	for _, sub := range tree.Sub {
		c.count(sub)
	}
	switch tree.Op {
	case syntax.OpLiteral:
		c.instructions += max(len(tree.Rune), 1)
	case syntax.OpCapture, syntax.OpStar: // a star of what may be empty is one of a plus
		c.instructions += 2
	case syntax.OpConcat:
		if len(tree.Sub) == 0 {
			c.instructions++
		}
	case syntax.OpAlternate:
		c.instructions += len(tree.Sub) - 1
	default:
		c.instructions++
	}
}

// instructions returns a lower bound of how many instructions an expression compiles to; it stops
// counting above maxInstructions.
func instructions(tree *syntax.Regexp) (n int) {
	if tree.Op == syntax.OpLiteral {
		return len(tree.Rune)
	}
	for _, sub := range tree.Sub {
		if n += instructions(sub); n > maxInstructions {
			return n
		}
	}
	if tree.Op == syntax.OpRepeat {
		return n * max(tree.Min, tree.Max)
	}
	return n + 1
}
