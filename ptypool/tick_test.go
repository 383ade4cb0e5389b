package ptypool

import (
	"testing"
	"time"
)

// A terminal that printed half a title shows what comes after it: see tmux's input.c.
func TestWhatComesAfterHalfATitleIsSeen(t *testing.T) {
	t.Parallel()
	began := time.Now()
	_, rec := sh(t, newPool(t, Config{}),
		`printf '\033]0;half a title'; while sleep 0.1; do echo and on; done`)
	rec.text(t, "and on")
	if took := time.Since(began); took < 5*time.Second {
		t.Errorf("the title has ended after %v", took)
	}
}
