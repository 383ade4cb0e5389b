package slowtest

import (
	"sync"
	"testing"
	"time"
)

const (
	// Patience is how long a test waits for what must come. It is far more than anything takes, so
	// that only what never comes fails.
	Patience = 90 * time.Second
	// AtOnce is how long a test waits that has called [Hurry], also on a busy machine that is long
	// in running a program.
	AtOnce = 30 * time.Second
)

// hurried has the names of the tests that have called Hurry.
var hurried sync.Map

// Hurry has a test wait for [AtOnce] only from here on: it promises that something comes at once,
// or does not hang, and a hang then costs less time.
func Hurry(t testing.TB) {
	hurried.Store(t.Name(), true)
	t.Cleanup(func() { hurried.Delete(t.Name()) })
}

// PatienceOf returns how long a test waits for what must come: [Patience], or [AtOnce].
func PatienceOf(t testing.TB) time.Duration {
	if _, ok := hurried.Load(t.Name()); ok {
		return AtOnce
	}
	return Patience
}

// Receive returns what comes from a channel. It fails the test if nothing comes in time: see
// [PatienceOf].
func Receive[T any](t testing.TB, what string, from <-chan T) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(PatienceOf(t)):
		t.Fatalf("not in %v: %s", PatienceOf(t), what)
	}
	return got
}
