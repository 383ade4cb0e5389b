package ptypool

import (
	"strings"
	"testing"
	"time"
)

// As in tmux, a frame that a program does not complete is shown after a second.
func TestAFrameThatIsNotCompletedIsShownAfterASecond(t *testing.T) {
	began := time.Now()
	term, rec := sh(t, newPool(t, Config{}), `printf 'before\033[?2026h\r\033[Khalf'; read -r _`)
	rec.await(t, "end of the frame", func() bool { return rec.frames > 0 })
	if took := time.Since(began); took < time.Second {
		t.Errorf("the frame was hidden for %v", took)
	}
	term.Lock()
	defer term.Unlock()
	if got := string(term.Screen().AppendText(nil, false)); !strings.HasPrefix(got, "half\n") {
		t.Errorf("the screen is\n%s", got)
	}
}
