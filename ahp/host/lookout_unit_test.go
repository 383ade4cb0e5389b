package host

import (
	"testing"
	"time"
)

func TestLooksBecomeSeldom(t *testing.T) {
	l := lookout{}
	var all time.Duration
	for l.looks = 1; l.looks < 100; l.looks++ {
		all += l.pause()
		if l.looks == 9 && all > 2*time.Minute {
			t.Errorf("the first looks take %s", all)
		}
	}
	if got := l.pause(); got != seldomLook {
		t.Errorf("the next look comes in %s", got)
	}
}
