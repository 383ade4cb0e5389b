package ptypool

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"
)

// A process without a terminal counts as a terminal, is found like one, and ends with the pool.
func TestAProcessIsLimitedFoundAndEnded(t *testing.T) {
	t.Parallel()
	p := New(Config{MaxTerminals: 1})
	s := Spec{Argv: []string{"/bin/sh", "-c", "trap '' HUP; cat; exit 3"}, Marker: p.NewMarker()}
	process, err := p.StartProcess(s)
	if err != nil {
		t.Fatal(err)
	}
	defer process.Close()
	var limit *LimitError
	if _, err := p.StartProcess(s); !errors.As(err, &limit) {
		t.Errorf("a second one: %v", err)
	}
	if got := p.Find(process.Pid()); got != s.Marker {
		t.Errorf("it is found as %q, want %q", got, s.Marker)
	}
	if _, err := process.Stdin.Write([]byte("through")); err != nil {
		t.Fatal(err)
	}
	process.Stdin.Close()
	if out, err := io.ReadAll(process.Stdout); string(out) != "through" || err != nil {
		t.Errorf("output %q, %v", out, err)
	}
	if st, err := process.Wait(); st.Code != 3 || err != nil {
		t.Errorf("it ended with %+v, %v", st, err)
	}
	var second *Process
	deadline := time.Now().Add(patience)
	for second == nil && time.Now().Before(deadline) { // the slot comes back just after the end
		second, _ = p.StartProcess(s)
	}
	if second == nil {
		t.Fatal("its slot was not given back")
	}
	defer second.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	if err := second.Signal(0); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("after the shutdown: %v", err)
	}
	if _, err := p.StartProcess(s); !errors.Is(err, ErrShutdown) {
		t.Errorf("after the shutdown another one: %v", err)
	}
}
