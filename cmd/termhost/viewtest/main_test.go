// Package viewtest tests what each audience is told of a terminal: whatever an observer, a guest or
// another person's agent asks of any door, no answer has what an agent wants to type there.
//
// The rows of the tests are the program's own lists of verbs, methods, tools and pages: one that is
// added there without a row here fails.
package viewtest

import (
	"testing"

	"termhost/ahp/hosttest"
)

func TestMain(m *testing.M) { hosttest.Main(m) }
