package sshd

import (
	"testing"

	"termhost/ahp/hosttest/slowtest"
)

// tmux's control mode is for iTerm2: whoever starts it by mistake is told, and can leave it.
func TestTmuxsControlModeSaysWhatItIs(t *testing.T) {
	t.Parallel()
	slowtest.Programs(t, "tmux")
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24, `new -n work -- echo ready; tmux -S "$HOME/socket" `+
		`-f /dev/null -CC new "exec sleep 90"; tmux -S "$HOME/socket" kill-server; echo it is over; exec cat`)
	p.sees("termhost: tmux -CC is for iTerm2 alone: Enter ends it")
	p.typeIn("\r")
	p.sees("it is over")
	p.typeIn("typed\r")
	p.sees("typed")
}
