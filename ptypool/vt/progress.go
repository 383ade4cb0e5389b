package vt

import (
	"bytes"
	"strconv"
)

// Progress is what a program says of its progress (OSC 9;4 of ConEmu, "Windows Terminal sequences";
// Windows Terminal, Ghostty, kitty, iTerm2 and others know it, too). Zero: it says nothing.
type Progress struct {
	State ProgressState
	// Percent is how far it is, 0..100. Where it has failed or pauses it may not have said: 0.
	Percent int
}

// ProgressState is the kind of a progress, as OSC 9;4 numbers them.
type ProgressState uint8

// The kinds.
const (
	ProgressNone ProgressState = iota
	ProgressNormal
	ProgressError
	ProgressIndeterminate // it is not known how far
	ProgressPaused
)

// Progress returns what the program says of its progress. It is over when the program takes it
// back or resets the terminal, when the shell reports the end of the command, and with EndProgress.
func (s *Screen) Progress() Progress { return s.progress }

// EndProgress ends the program's progress, because the program has ended. sink, unless nil, gets
// Data that ends it in viewers' terminals.
func (s *Screen) EndProgress(sink Sink) {
	if s.overProgress(true) == replace && sink != nil {
		sink.Data(s.output.repl)
	}
}

// oscProgress is OSC 9;4;state;percent without the numbers of the function. A percentage may be
// missing: what failed or pauses is as far as it was.
func (s *Screen) oscProgress(params []byte) verdict {
	number, rest, _ := bytes.Cut(params, []byte{';'})
	if len(number) != 1 || number[0] < '0' || number[0] > '0'+byte(ProgressPaused) {
		return drop
	}
	p := Progress{State: ProgressState(number[0] - '0')}
	if text := bytes.TrimSuffix(rest, []byte{';'}); len(text) > 0 {
		n, err := strconv.ParseUint(string(text), 10, 16)
		if err != nil {
			return drop
		}
		p.Percent = int(min(n, 100))
	}
	switch p.State {
	case ProgressNone, ProgressIndeterminate:
		p.Percent = 0
	case ProgressError, ProgressPaused:
		if p.Percent == 0 {
			p.Percent = s.progress.Percent
		}
	}
	s.progress, s.progressUsed = p, true
	return keep
}

// overProgress ends the progress if over is set. What has ended it is replaced, in Data, by what
// ends it in viewers' terminals; or else it is removed.
func (s *Screen) overProgress(over bool) verdict {
	if !over || s.progress == (Progress{}) {
		return drop
	}
	s.progress = Progress{}
	s.output.repl = append(s.output.repl[:0], resetProgress...)
	return replace
}

// drawProgress has a viewer's terminal show the progress, or none if the program has ever shown
// some.
func (s *Screen) drawProgress(w *writer) {
	switch p := s.progress; {
	case p.State != ProgressNone:
		w.str("\x1b]9;4;" + strconv.Itoa(int(p.State)) + ";" + strconv.Itoa(p.Percent) + "\x1b\\")
	case s.progressUsed:
		w.str(resetProgress)
	}
}

// shownProgress is the progress that a viewer's terminal shows. The zero value: it is unknown.
type shownProgress struct {
	known bool
	is    Progress
}

// draw draws that of s, unless it is shown already.
func (p *shownProgress) draw(w *writer, s *Screen) {
	if now := (shownProgress{true, s.progress}); *p != now {
		*p = now
		s.drawProgress(w)
	}
}
