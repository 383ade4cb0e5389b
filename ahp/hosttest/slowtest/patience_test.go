package slowtest_test

import (
	"testing"

	"termhost/ahp/hosttest/slowtest"
)

func TestOnlyTheTestThatHurriesWaitsLess(t *testing.T) {
	t.Run("hurried", func(t *testing.T) {
		if got := slowtest.PatienceOf(t); got != slowtest.Patience {
			t.Errorf("before: %v", got)
		}
		slowtest.Hurry(t)
		if got := slowtest.PatienceOf(t); got != slowtest.AtOnce {
			t.Errorf("then: %v", got)
		}
	})
	if got := slowtest.PatienceOf(t); got != slowtest.Patience {
		t.Errorf("another test: %v", got)
	}
}
