package ptypool

import "time"

// arm sets the timer that tells the screen the time when something is due there. The lock is held.
func (t *Term) arm() {
	due := t.screen.Due()
	if due.IsZero() || due.Equal(t.tickAt) {
		return
	}
	t.tickAt = due
	if t.ticker == nil {
		t.ticker = time.AfterFunc(time.Until(due), t.tick)
	} else {
		t.ticker.Reset(time.Until(due))
	}
}

// tick ends what has taken too long on the screen. It runs on the timer's goroutine.
func (t *Term) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken {
		return
	}
	defer t.contain("what the program has not ended")
	t.tickAt = time.Time{}
	if t.exited { // and was restored: nobody waits for it
		t.screen.Tick(time.Now(), nil)
		return
	}
	t.tickNow(time.Now())
	t.h.Fed()
	t.arm()
}

// tickNow tells the screen the time. The lock is held.
func (t *Term) tickNow(now time.Time) {
	if t.screen.Tick(now, t.h) {
		t.h.FrameEnded()
	}
}
