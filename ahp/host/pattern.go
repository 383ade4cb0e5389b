package host

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

const (
	// maxPattern bounds a regular expression, in bytes: far more than anybody types.
	maxPattern = 1 << 10
	// maxInstructions bounds what it is compiled to. As many steps are made for each byte of
	// output in the worst case, and some 100 bytes are kept for each. Repetitions such as
	// \pL{1000} make a short expression large.
	maxInstructions = 5000
)

var errPattern = errors.New("the regular expression is too large")

// CompilePattern returns a regular expression (RE2, Go's syntax) for lines of output. It refuses
// one that takes too long to look for.
func CompilePattern(expr string) (*regexp.Regexp, error) {
	if len(expr) > maxPattern {
		return nil, fmt.Errorf("%w: more than %d bytes", errPattern, maxPattern)
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	if len(prog.Inst) > maxInstructions {
		return nil, fmt.Errorf("%w: repeat fewer times", errPattern)
	}
	return regexp.Compile(expr)
}
