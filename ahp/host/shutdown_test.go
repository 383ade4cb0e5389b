package host_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/store"
)

// plainHost is a host that the test shuts down itself.
func plainHost(t *testing.T) *host.Host {
	t.Helper()
	h, err := host.New(host.Config{Shell: "/bin/sh", StateDir: t.TempDir(), MaxExited: 10,
		LogBytes: 128 << 10, Env: hosttest.Owned(t, nil)})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestShutdownWithWorkInProgress(t *testing.T) {
	t.Parallel()
	h := plainHost(t)
	p := connect(t, h, carol, "c")
	uri := p.create("x", "/bin/sh", "-c",
		"trap 'echo farewell; exit 9' HUP; echo ready; while :; do read x; done")
	term := lookup(h, uri)
	awaitOutput(t, h, term, "ready")
	p.subscribe(uri)
	stubborn := run(t, h, carol, "stubborn",
		"trap '' HUP TERM; echo ready; while :; do sleep 1000; done")
	awaitOutput(t, h, stubborn, "ready")
	flood := run(t, h, carol, "flood", "exec yes")
	v := attach(t, h, carol, "x", host.AttachOptions{})
	c, err := h.Connect(carol, host.DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	pressed, err := createPiped(c, host.CreateOptions{Argv: []string{"yes"}}) // and nobody reads
	if err != nil {
		t.Fatal(err)
	}
	defer pressed.Close()
	awaitOutput(t, h, pressed.Terminal(), "y") // else nobody is known not to read
	done := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), hosttest.Patience)
	defer cancel()
	go func() { done <- h.Shutdown(ctx) }()

	wait(t, "the exit", term.Done())
	// The shutdown waits for its readers, which read only now.
	if _, err := hosttest.Create(h, carol, host.CreateOptions{}); !errors.Is(err, host.ErrClosed) {
		t.Errorf("a terminal can be created during the shutdown: %v", err)
	}
	if _, err := h.Connect(carol, host.DoorSSH); !errors.Is(err, host.ErrClosed) {
		t.Errorf("one can connect during the shutdown: %v", err)
	}
	p.until("the exit", func(e *store.Entry) bool {
		x, ok := e.Action().(ahp.TerminalExited)
		return ok && *x.ExitCode == 9
	})
	for running := true; running; {
		// What one Pull gives counts as written at the next one, and only after one that gives
		// nothing is there a signal to wait for.
		for len(p.c.Subscriber().Pull(nil, 1<<20)) > 0 {
		}
		for v.pull() {
		}
		select {
		case <-p.c.Subscriber().Signal():
		case <-v.a.Signal():
		case err := <-done:
			if running = false; err != nil {
				t.Errorf("shutdown: %v", err)
			}
		}
	}
	v.shows("farewell")
	for _, conn := range []*host.Conn{p.c, v.c, c} {
		if got := context.Cause(conn.Context()); !errors.Is(got, host.ErrClosed) {
			t.Errorf("a connection ended with %v", got)
		}
	}
	for _, term := range []*host.Terminal{stubborn, flood, pressed.Terminal()} {
		if !exited(term) {
			t.Errorf("%s still runs", term)
		}
	}
	if err := h.Shutdown(t.Context()); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

func TestAShutdownDoesNotWaitForADeadReaderBeyondItsDeadline(t *testing.T) {
	t.Parallel()
	h := plainHost(t)
	term := run(t, h, carol, "x", "echo something; exec cat")
	awaitOutput(t, h, term, "something")
	v := attach(t, h, carol, "x", host.AttachOptions{}) // never pulls
	hosttest.Check(t, h.Hangup(carol, term, 0))         // it may take longer than the deadline
	wait(t, "its end", term.Done())
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // for what is not the reader's
	defer cancel()
	if err := h.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if ctx.Err() == nil {
		t.Error("it did not wait for a reader that has not read")
	}
	wait(t, "the connection's end", v.c.Context().Done())
}

func TestTerminalsCreatedDuringAShutdownLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	for range 10 {
		h := plainHost(t)
		begun := make(chan struct{})
		ended := make(chan error, 1)
		go func() {
			close(begun)
			for {
				if _, err := hosttest.Create(h, carol, host.CreateOptions{Argv: []string{"/bin/cat"}}); err != nil {
					ended <- err
					return
				}
			}
		}()
		<-begun
		ctx, cancel := context.WithTimeout(t.Context(), hosttest.Patience)
		if err := h.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		cancel()
		if err := <-ended; !errors.Is(err, host.ErrClosed) {
			t.Errorf("it ended with %v", err)
		}
		if n := h.Stats().Terminals; n != 0 {
			t.Errorf("%d terminals are left", n)
		}
	}
}
