package host_test

import (
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// A client whose connection was lost is told what of its input was taken. Nothing that the lost
// connection still brings is, then.
func TestAClientLearnsWhatOfItsInputWasTaken(t *testing.T) {
	t.Parallel()
	passed := &passage{c: make(chan struct{})}
	h := hosttest.New(t, func(c *host.Config) { c.Now = passed.now })
	p := connect(t, h, carol, "c")
	uri, other := p.create("x", "/bin/cat"), p.create("y", "/bin/cat")
	input := func(p *peer, data string, after int64) string {
		t.Helper()
		return p.dispatch(uri, ahp.TerminalInput{Data: []byte(data), After: after})
	}
	_, none := reconnect(t, h, "c", h.Stats().ServerSeq)
	if none.Typed == nil || len(none.Typed) != 0 {
		t.Errorf("who has typed nothing is told %v", none.Typed)
	}
	p = connect(t, h, carol, "c")
	p.seq = 40
	if got := input(p, "a", 0); got != "" {
		t.Fatal(got)
	}
	if got := input(p, "b", 41); got != "" {
		t.Fatal(got)
	}
	for _, after := range []int64{41, 43, -1} {
		if got := input(p, "never", after); got != "the input before it was not taken" {
			t.Errorf("an input after %d, while the last one taken is 42: %q", after, got)
		}
	}
	// Its connection is lost, and has not noticed. An action of it is on its way to the terminal.
	term, late := lookup(h, uri), p.c
	release := host.Hold(term)
	passed.arm()
	taken := make(chan bool, 1)
	go func() { taken <- late.Dispatch(uri, 50, ahp.TerminalInput{Data: []byte("late")}) }()
	wait(t, "the action", passed.c)
	go func() {
		<-late.Context().Done()
		release()
	}()
	fresh, r := reconnect(t, h, "c", h.Stats().ServerSeq)
	if len(r.Typed) != 1 || r.Typed[uri] != 42 || r.Typed[other] != 0 {
		t.Errorf("the client is told %v, want 42", r.Typed)
	}
	if <-taken {
		t.Error("input of a connection that was taken over from is taken")
	}
	fresh.seq = 60
	if got := input(fresh, "c\r", 42); got != "" {
		t.Error(got)
	}
	awaitOutput(t, h, term, "abc\r\nabc")

	// The next host does not know, and says so.
	seen := h.Stats().ServerSeq
	next := after(t, killed(t, h))
	_, r = reconnect(t, next, "c", seen)
	if r.Typed != nil {
		t.Errorf("the next host tells %v", r.Typed)
	}
	_, r = reconnect(t, next, "c", seen) // the answer was lost
	if r.Typed != nil {
		t.Errorf("asked again, it tells %v", r.Typed)
	}
	_, r = reconnect(t, next, "c", next.Stats().ServerSeq)
	if r.Typed == nil {
		t.Error("it does not tell what it has taken itself")
	}
}

func TestWhoHasTypedIsForgottenWithTheTerminals(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := connect(t, h, carol, "c")
	uris := []string{p.create("x", "/bin/cat"), p.create("y", "/bin/cat")}
	for _, uri := range uris {
		if got := p.dispatch(uri, ahp.TerminalInput{Data: []byte("a")}); got != "" {
			t.Fatal(got)
		}
	}
	refused := connect(t, h, carol, "refused")
	if refused.dispatch(uris[0], ahp.TerminalInput{Data: []byte("a"), After: 7}) == "" {
		t.Error("an input that follows none is taken")
	}
	if n := host.Typists(h); n != 1 {
		t.Errorf("%d clients have typed, want 1", n)
	}
	for i, uri := range uris {
		if _, r := reconnect(t, h, "c", h.Stats().ServerSeq); len(r.Typed) != 2-i {
			t.Errorf("the client is told of %v", r.Typed)
		}
		dispose(t, h, lookup(h, uri))
	}
	if n := host.Typists(h); n != 0 {
		t.Errorf("%d clients are remembered that have typed into nothing that is there", n)
	}
}
