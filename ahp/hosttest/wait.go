package hosttest

import (
	"bytes"
	"log/slog"
	"sync"
	"testing"
	"time"

	"termhost/ahp/hosttest/slowtest"
)

// Eventually waits until done returns true. It is for what no event tells of.
func Eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(slowtest.PatienceOf(t))
	for ; !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never happened: %s", what)
		}
	}
}

// Reaches waits until progress returns at least goal, as long as what it returns goes on changing.
// It is for work that takes the longer the slower the machine is.
func Reaches(t testing.TB, what string, goal int, progress func() int) {
	t.Helper()
	from, last := progress(), time.Now()
	for n := from; n < goal; n = progress() {
		switch {
		case n != from:
			from, last = n, time.Now()
		case time.Since(last) > slowtest.PatienceOf(t):
			t.Fatalf("it stopped at %d of %d: %s", n, goal, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Check ends the test if err is not nil.
func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Log is a log that can be read while it is written.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Logger returns a logger that writes everything to l, as text.
func (l *Log) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Write appends to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns what was logged.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
