package vt

import "time"

// frameTime is how long a frame is hidden: as long as in tmux.
const frameTime = time.Second

// Tick tells the screen the time, which it knows no other way. What has taken too long ends: a
// frame, and then ended is true. Callers that call it do so before each Feed, and when [Screen.Due]
// says.
func (s *Screen) Tick(now time.Time) (ended bool) {
	s.now = now
	if s.frame.before != nil && now.Sub(s.frame.began) >= frameTime {
		s.EndFrame()
		ended = true
	}
	return ended
}

// Due returns when Tick must be called unless there is more output before; zero: it need not be.
func (s *Screen) Due() (at time.Time) {
	if s.frame.before != nil {
		at = s.frame.began.Add(frameTime)
	}
	return at
}
