package carry_test

import (
	"strings"
	"testing"
)

// The status is about all hosts, whichever answers first.
func TestGrepSucceedsIfOneHostMatches(t *testing.T) {
	t.Parallel()
	_, home, _ := newTown(t, "box1", "box2")
	home.makes("home", "here", "near")
	home.makes("box1", "there", "far")
	for pattern, want := range map[string]string{
		"near": "home/here:", "far": "box1/there:", "nowhere": ""} {
		out, status := home.run("grep " + pattern)
		if !strings.HasPrefix(out, want) || (status == 0) != (want != "") || status > 1 {
			t.Errorf("grep %s: %q and status %d", pattern, out, status)
		}
	}
}
