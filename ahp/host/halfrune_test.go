package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/hosttest"
	"termhost/ahp/store"
)

// If a program stops in the middle of a rune, the half that came is released after a while. What a
// client has read of that half must be what a later snapshot shows.
func TestASnapshotShowsAReleasedHalfOfARuneAsItWasSent(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	early := connect(t, h, alice, "early")
	uri := early.create("half", "/bin/sh", "-c",
		`stty -icanon -echo; printf 'a\344\270'; read x; printf '\255b'; exec cat`)
	seen := asRead(t, early.subscribe(uri))
	follow := func(what, end string) {
		t.Helper()
		for !strings.HasSuffix(text(seen), end) {
			e := early.until(what, func(e *store.Entry) bool { return e.Channel() == uri })
			seen.ApplyCopy(decoded(t, e))
		}
	}
	follow("half a rune", "a\ufffd\ufffd")
	late := asRead(t, connect(t, h, alice, "late").subscribe(uri))
	if got := text(late); got != text(seen) {
		t.Errorf("between the halves a snapshot shows %q, and what was sent is %q", got, text(seen))
	}
	early.c.Dispatch(uri, 1, ahp.TerminalInput{Data: []byte("\n")})
	follow("the other half", "b")
	late = asRead(t, connect(t, h, alice, "later").subscribe(uri))
	if got := text(late); got != text(seen) {
		t.Errorf("a snapshot shows %q, and what was sent is %q", got, text(seen))
	}
}

// asRead returns a state as a client reads it.
func asRead(t *testing.T, st ahp.TerminalState) (read ahp.TerminalState) {
	t.Helper()
	if err := json.Unmarshal(st.AppendJSON(nil, ahp.ShapeLifecycle), &read); err != nil {
		t.Fatal(err)
	}
	return read
}

// decoded returns an entry's action as a client reads it.
func decoded(t *testing.T, e *store.Entry) ahp.Action {
	t.Helper()
	var w ahp.Envelope
	if err := json.Unmarshal(e.AppendEnvelope(nil, ahp.ShapeLifecycle), &w); err != nil {
		t.Fatal(err)
	}
	a, err := ahp.DecodeAction(w.Action)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
