package store

import (
	"encoding/json"
	"strings"
	"testing"

	"termhost/ahp"
)

// A peer that gets entries as one has what one has that gets them one by one, whether or not they
// share encodings.
func TestJoinedOutputIsThatOfItsEntries(t *testing.T) {
	pieces := []string{"plain", "\x1b[31m\"quoted\"\\\r\n", "\xff\xe4\xb8", "\xad half a rune",
		"\U0001f600", strings.Repeat("x", 5000) + "\x00"}
	s := New(Options{})
	c := newTerminal(t, s, "a name")
	one, other := subscribed(t, s, c), subscribed(t, s, c)
	for _, p := range pieces {
		c.AppendData([]byte(p))
	}
	items := other.Pull(nil, 1<<20)
	if len(items) != len(pieces) {
		t.Fatalf("%d items", len(items))
	}
	for _, shared := range []int{0, 1, len(items)} { // how many of them share encodings
		for i := range items {
			items[i].Entry.shared.Store(i < shared)
		}
		for n := range len(items) + 1 {
			if n == 0 {
				continue
			}
			var apart, joined ahp.TerminalState
			for _, it := range items[:n] {
				apply(t, &apart, it.Entry.AppendEnvelope(nil, ahp.ShapeLifecycle))
			}
			raw := AppendJoined([]byte("kept"), items[:n], ahp.ShapeLifecycle)
			if !strings.HasPrefix(string(raw), "kept") {
				t.Fatal("dst was not kept")
			}
			e := apply(t, &joined, raw[len("kept"):])
			if e.Channel != c.URI() || e.ServerSeq != items[n-1].Entry.Seq() || e.Origin != nil {
				t.Errorf("%d of %d shared: %+v", shared, n, e)
			}
			if textOf(&joined) != textOf(&apart) {
				t.Errorf("%d of %d shared: %q, want %q", shared, n, textOf(&joined), textOf(&apart))
			}
		}
	}
	one.Pull(nil, 1)
}

// apply reduces an envelope's action as a client does.
func apply(t *testing.T, st *ahp.TerminalState, raw []byte) (e ahp.Envelope) {
	t.Helper()
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	a, err := ahp.DecodeAction(e.Action)
	if err != nil {
		t.Fatal(err)
	}
	st.Apply(a)
	return e
}
