package relay_test

import (
	"testing"
	"time"

	"termhost/ahp/client"
	"termhost/ahp/hosttest"
)

// TestWhatIsTypedIsRefusedThatComesTooLate: it was typed at a picture that stood still.
func TestWhatIsTypedIsRefusedThatComesTooLate(t *testing.T) {
	w := newTown(t, "home", "box")
	c := w.connect("home", w.door("home"), ann)
	w.hears(1, time.Now())
	m := w.run(c, "ahp-terminal://box/echo", "while read x; do echo got $x; done")
	hosttest.Check(t, w.types(c, m, "one"))
	w.sees(m, "got one")
	w.hears(2, time.Now().Add(-time.Minute))
	if err := w.types(c, m, "two"); err == nil || !contains(err.Error(), "silent; not typed") {
		t.Errorf("it is not refused: %v", err)
	}
	w.hears(3, time.Now())
	hosttest.Check(t, w.types(c, m, "three"))
	w.sees(m, "got three")
	if s := m.Terminal(); contains(client.Text(&s), "two") {
		t.Errorf("it is typed: %q", client.Text(&s))
	}
}
