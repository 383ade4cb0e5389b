package viewer

import (
	"testing"
	"time"
)

func TestWhatHasChangedLittleIsDrawnAgainSoon(t *testing.T) {
	for bytes, want := range map[int]time.Duration{
		0:       time.Millisecond,
		150:     1500 * time.Microsecond, // a row that somebody types in
		4000:    40 * time.Millisecond,   // a screen
		1 << 20: frame,
	} {
		if got := pauseAfter(bytes); got != want {
			t.Errorf("after %d bytes the pause is %v, not %v", bytes, got, want)
		}
	}
}
