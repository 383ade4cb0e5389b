package slowtest_test

import (
	"testing"

	"termhost/ahp/hosttest/slowtest"
)

func TestWhatMeasuresRunsOnlyWhenItIsAskedFor(t *testing.T) {
	for value, want := range map[string]bool{"": false, "1": true} {
		t.Setenv(slowtest.MeasureVariable, value)
		ran := false
		t.Run("TERMHOST_MEASURE="+value, func(t *testing.T) {
			slowtest.Measures(t)
			ran = true
		})
		if ran != want {
			t.Errorf("with TERMHOST_MEASURE=%q it runs: %v", value, ran)
		}
	}
}
