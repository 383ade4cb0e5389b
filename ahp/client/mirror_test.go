package client_test

import (
	"testing"

	"termhost/ahp"
)

// A condition that panics must not leave the mirror locked: the client applies actions
// to it, and could not even be closed.
func TestAPanicInAConditionLeavesTheMirrorUsable(t *testing.T) {
	w := newWorld(t)
	c := w.connect("alice")
	m := w.run(c, "t", "read x")
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was lost")
			}
		}()
		_ = m.WaitTerminal(w.ctx, func(*ahp.TerminalState) bool { panic("a bug") })
	}()
	check(t, c.Dispatch(w.ctx, m.URI(), ahp.TerminalTitleChanged{Title: "still here"}))
	if st := m.Terminal(); st.Title != "still here" {
		t.Errorf("the title is %q", st.Title)
	}
}
