package slowtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"termhost/ahp/hosttest/slowtest"
)

// .ci/full runs those tests again that are on the list: one that is missing would run nowhere.
func TestWhatIsLeftOutIsOnTheList(t *testing.T) {
	file := filepath.Join(t.TempDir(), "list")
	t.Setenv("TERMHOST_SLOW_LIST", file)
	t.Setenv(slowtest.Variable, "1")
	if !slowtest.On(t) {
		t.Error("the slow tests do not run")
	}
	t.Setenv(slowtest.Variable, "")
	t.Run("skipped", func(t *testing.T) { slowtest.Skip(t) })
	if slowtest.On(t) {
		t.Error("the slow tests run")
	}
	const want = "TestWhatIsLeftOutIsOnTheList\nTestWhatIsLeftOutIsOnTheList\n"
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("the list is %q, %v", got, err)
	}
}
