package admit

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// takes has an account wait for a turn, on a goroutine, and returns what tells that it has come.
func takes(ctx context.Context, turns *Turns, account string) <-chan error {
	came := make(chan error, 1)
	go func() { came <- turns.Take(ctx, account) }()
	synctest.Wait()
	return came
}

func has(came <-chan error) bool {
	synctest.Wait()
	select {
	case err := <-came:
		return err == nil
	default:
		return false
	}
}

func TestTheAccountThatHasWorkedLeastComesNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, ctx := NewTurns(1), t.Context()
		busy := takes(ctx, turns, "busy")
		again, other := takes(ctx, turns, "busy"), takes(ctx, turns, "other")
		if !has(busy) || has(again) || has(other) {
			t.Fatal("one turn is not had by one")
		}
		turns.Give("busy", time.Second)
		if has(again) || !has(other) {
			t.Error("who has worked comes before who has not")
		}
		// Whoever comes later has saved nothing up.
		late := takes(ctx, turns, "late")
		turns.Give("other", time.Millisecond)
		if !has(late) {
			t.Error("the newcomer waits for who has worked a second")
		}
		turns.Give("late", 2*time.Second)
		if !has(again) {
			t.Error("a newcomer works for longer than who was there")
		}
		turns.Give("busy", time.Millisecond)
		if !turns.Idle() {
			t.Error("a turn is missing")
		}
	})
}

func TestAWaitThatEndsLosesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(0) // which is one
		ctx, cancel := context.WithCancelCause(t.Context())
		if err := turns.Take(ctx, "a"); err != nil {
			t.Fatal(err)
		}
		gone, next := takes(ctx, turns, "gone"), takes(t.Context(), turns, "next")
		why := errors.New("the peer has left")
		cancel(why)
		synctest.Wait()
		if err := <-gone; !errors.Is(err, why) {
			t.Errorf("the wait ends with %v", err)
		}
		turns.Give("a", 0)
		if !has(next) || turns.Idle() {
			t.Error("the turn has gone with the wait")
		}
		turns.Give("next", 0)
	})
}

func TestTheMemoryOfWorkIsBounded(t *testing.T) {
	turns := NewTurns(2)
	for i := range 10 * maxAccountsWorked {
		if err := turns.Take(t.Context(), fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		if i > 0 { // the first one works all the time
			turns.Give(fmt.Sprint(i), time.Duration(i))
		}
	}
	if n := len(turns.worked); n != maxAccountsWorked {
		t.Errorf("%d accounts are remembered", n)
	}
	if turns.Give("0", 0); len(turns.worked) > 0 || !turns.Idle() {
		t.Errorf("nobody works, and %d accounts are remembered", len(turns.worked))
	}
}
