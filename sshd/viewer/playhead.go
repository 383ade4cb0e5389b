package viewer

import (
	"time"

	"termhost/ahp/history"
)

// The bounds of the speed: beyond them a recording stands still, or ends at once.
const (
	MinSpeed = 1.0 / 16
	MaxSpeed = 1024.0
)

// previousMargin is how long after a command's begin `p` goes to the command before.
const previousMargin = time.Second

// playhead is the position in a recording that is played.
type playhead struct {
	p      *history.Player
	speed  float64
	paused bool
	base   time.Duration // the position at the time since
	since  time.Time
}

// now returns the present position.
func (h *playhead) now() time.Duration {
	if h.paused {
		return h.base
	}
	played := time.Duration(float64(time.Since(h.since)) * h.speed)
	return min(h.base+played, h.p.Length())
}

// continueAt continues from a position.
func (h *playhead) continueAt(at time.Duration) { h.base, h.since = at, time.Now() }

// advance plays up to the present position.
func (h *playhead) advance() {
	if !h.paused {
		h.p.Advance(h.now())
	}
}

// ended reports whether all has been played.
func (h *playhead) ended() bool {
	_, more := h.p.Due()
	return !more
}

// nextChange returns when the screen changes next; false: never.
func (h *playhead) nextChange() (wait time.Duration, changes bool) {
	due, more := h.p.Due()
	if h.paused || !more {
		return 0, false
	}
	return max(time.Duration(float64(due-h.now())/h.speed), 0), true
}

// pause stops, or continues.
func (h *playhead) pause() {
	at := h.now()
	h.paused = !h.paused
	h.continueAt(at)
}

// seek goes forward, or back if by is negative.
func (h *playhead) seek(by time.Duration) {
	at := max(min(h.now()+by, h.p.Length()), 0)
	h.p.Seek(at)
	h.continueAt(at)
}

// nextCommand goes to the begin of the next command, and reports whether there is one.
func (h *playhead) nextCommand() bool {
	found := h.p.NextCommand()
	h.continueAt(h.p.At())
	return found
}

// previousCommand goes to the begin of the command that is shown, or of the one before.
func (h *playhead) previousCommand() {
	margin := previousMargin
	if h.paused {
		margin = 0
	}
	h.p.PreviousCommand(margin)
	h.continueAt(h.p.At())
}

// scale multiplies the speed.
func (h *playhead) scale(by float64) {
	h.continueAt(h.now())
	h.speed = min(max(h.speed*by, MinSpeed), MaxSpeed)
}

// step plays one frame and stops.
func (h *playhead) step() {
	h.paused = true
	h.p.Step()
	h.continueAt(h.p.At())
}

// find goes to where text is shown next and stops there. It returns false if it is not found.
func (h *playhead) find(text string) bool {
	h.advance()
	if !h.p.Find(text) {
		return false
	}
	h.paused = true
	h.continueAt(h.p.At())
	return true
}
