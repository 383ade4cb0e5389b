package vt

import "time"

// Both as in tmux.
const (
	// frameTime is how long a frame is hidden.
	frameTime = time.Second
	// stringTime is how long a string (OSC, DCS, APC, SOS, PM) may take: a program has printed its
	// beginning only. Of a picture or a clipboard, each piece may take so long.
	stringTime = 5 * time.Second
)

// Tick tells the screen the time, which it knows no other way. What has taken too long ends: a
// string, so that what comes next is text, and a frame, and then ended is true. Callers that call
// it do so before each Feed, and when [Screen.Due] says.
func (s *Screen) Tick(now time.Time, sink Sink) (ended bool) {
	s.now = now
	if s.frame.before != nil && now.Sub(s.frame.began) >= frameTime {
		s.EndFrame()
		ended = true
	}
	if s.parser.state >= inString && now.Sub(s.stringAt) >= stringTime {
		s.endString(sink)
	}
	return ended
}

// endString ends a string whose end is missing.
func (s *Screen) endString(sink Sink) {
	if sink == nil {
		sink = Discard{}
	}
	s.output.sink = sink
	s.output.retracted(s.parser.drop(inGround) == retracted)
	s.output.sink = nil
}

// noteString records, after a chunk of output, when the string that is not ended has begun. fresh:
// in this chunk.
func (s *Screen) noteString(fresh bool) {
	ps := &s.parser
	if ps.state >= inString && (fresh || ps.long || mayBeLong(ps.held)) {
		s.stringAt = s.now
	}
}

// Due returns when Tick must be called unless there is more output before; zero: it need not be.
func (s *Screen) Due() (at time.Time) {
	if s.parser.state >= inString {
		at = s.stringAt.Add(stringTime)
	}
	if s.frame.before == nil {
		return at
	}
	if frame := s.frame.began.Add(frameTime); at.IsZero() || frame.Before(at) {
		at = frame
	}
	return at
}
