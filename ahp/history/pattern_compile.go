package history

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

const (
	// maxPattern bounds a regular expression, in bytes: far more than a person types.
	maxPattern = 1 << 10
	// maxInstructions bounds the compiled program. In the worst case each byte of output costs as
	// many steps, and each instruction some 100 bytes of memory. Repetitions such as \pL{1000} make
	// a short expression large.
	maxInstructions = 5000
)

var errPattern = errors.New("the regular expression is too large")

// compilePattern compiles a regular expression (RE2, Go's syntax) for lines of output, and returns
// how many instructions it has. It refuses an expression that would take too long to match.
func compilePattern(expr string) (*regexp.Regexp, int, error) {
	if len(expr) > maxPattern {
		return nil, 0, fmt.Errorf("%w: more than %d bytes", errPattern, maxPattern)
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, 0, err
	}
	if instructions(tree) > maxInstructions { // compiling it would take long, too
		return nil, 0, fmt.Errorf("%w: repeat fewer times", errPattern)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, 0, err
	}
	if len(prog.Inst) > maxInstructions {
		return nil, 0, fmt.Errorf("%w: repeat fewer times", errPattern)
	}
	compiled, err := regexp.Compile(expr)
	return compiled, len(prog.Inst), err
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
