package viewer

import (
	"time"

	"termhost/ahp/history"
)

// The bounds of a speed: beyond them a recording stands still, or is over at once.
const (
	MinSpeed = 1.0 / 16
	MaxSpeed = 1024.0
)

// previousMargin is how long after the begin of a command `p` goes to the one before.
const previousMargin = time.Second

// playhead moves through a recording as time passes, and from place to place.
type playhead struct {
	p      *history.Player
	speed  float64
	paused bool
	base   time.Duration // where in the recording it was at the time since
	since  time.Time
}

// now returns where in the recording it is.
func (h *playhead) now() time.Duration {
	if h.paused {
		return h.base
	}
	played := time.Duration(float64(time.Since(h.since)) * h.speed)
	return min(h.base+played, h.p.Length())
}

// goOnAt goes on from a place in the recording.
func (h *playhead) goOnAt(at time.Duration) { h.base, h.since = at, time.Now() }

// advance plays what is due.
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

// nextChange returns in what time the screen changes by itself; false: it does not.
func (h *playhead) nextChange() (wait time.Duration, changes bool) {
	due, more := h.p.Due()
	if h.paused || !more {
		return 0, false
	}
	return max(time.Duration(float64(due-h.now())/h.speed), 0), true
}

// pause stops, or goes on.
func (h *playhead) pause() {
	at := h.now()
	h.paused = !h.paused
	h.goOnAt(at)
}

// seek goes forward, or back if by is negative.
func (h *playhead) seek(by time.Duration) {
	at := max(min(h.now()+by, h.p.Length()), 0)
	h.p.Seek(at)
	h.goOnAt(at)
}

// nextCommand goes to the begin of the next command, and reports whether there is one.
func (h *playhead) nextCommand() bool {
	found := h.p.NextCommand()
	h.goOnAt(h.p.At())
	return found
}

// previousCommand goes to the begin of the command that is shown, or of the one before.
func (h *playhead) previousCommand() {
	margin := previousMargin
	if h.paused {
		margin = 0
	}
	h.p.PreviousCommand(margin)
	h.goOnAt(h.p.At())
}

// scale multiplies the speed.
func (h *playhead) scale(by float64) {
	h.goOnAt(h.now())
	h.speed = min(max(h.speed*by, MinSpeed), MaxSpeed)
}

// step plays one frame and stands still.
func (h *playhead) step() {
	h.paused = true
	h.p.Step()
	h.goOnAt(h.p.At())
}

// find goes to where text is shown next and stands still there. It reports false if it is nowhere.
func (h *playhead) find(text string) bool {
	h.advance()
	if !h.p.Find(text) {
		return false
	}
	h.paused = true
	h.goOnAt(h.p.At())
	return true
}
