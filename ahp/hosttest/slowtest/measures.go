package slowtest

import (
	"os"
	"testing"
)

// MeasureVariable is the environment variable with which the tests that measure run.
const MeasureVariable = "TERMHOST_MEASURE"

// Measures skips a test unless those run that measure: time, memory, threads or the goroutines of
// the whole process. They fail on a machine that is busy otherwise, so .ci/full runs each of them
// alone, in a process of its own. The name of such a test begins with TestMeasures, by which
// .ci/full finds it, and it is not parallel.
func Measures(t testing.TB) {
	t.Helper()
	if os.Getenv(MeasureVariable) == "" {
		t.Skip("it measures: it runs with TERMHOST_MEASURE=1, alone")
	}
}
