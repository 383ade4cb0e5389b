package viewer

import (
	"strings"
	"testing"
)

// writes notes each write by itself.
type writes struct{ all []string }

func (w *writes) Write(p []byte) (int, error) {
	w.all = append(w.all, string(p))
	return len(p), nil
}

func TestOutputIsGathered(t *testing.T) {
	var b Buffers
	var w writes
	g := b.batch(&w)
	big := strings.Repeat("b", batchBytes+1)
	for _, p := range []string{"a", "", "b", "c", strings.Repeat("x", batchBytes-3), "y", big, "z"} {
		if err := g.add([]byte(p)); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.flush(); err != nil {
		t.Fatal(err)
	}
	g.release()
	want := []string{"abc" + strings.Repeat("x", batchBytes-3), "y", big, "z"}
	if len(w.all) != len(want) {
		t.Fatalf("%d writes, want %d", len(w.all), len(want))
	}
	for i := range want {
		if w.all[i] != want[i] {
			t.Errorf("write %d has %d bytes, want %d", i, len(w.all[i]), len(want[i]))
		}
	}
}
