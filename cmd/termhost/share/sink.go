package share

import (
	"fmt"
	"time"

	"termhost/ahp"
)

// sharedSink turns what the parser finds into what is sent. The feed is locked.
type sharedSink struct{ f *feed }

func (s sharedSink) output(p []byte) {
	if !s.f.paused {
		s.f.output(p)
	}
}

// Data is the output without queries and markers.
func (s sharedSink) Data(p []byte) { s.output(p) }

// Reply is for programs whose user has no terminal that would answer.
func (s sharedSink) Reply(p []byte) {
	if s.f.answer != nil {
		s.f.answer(p)
	}
}

// Clipboard is for the user's terminal alone, which has it already.
func (s sharedSink) Clipboard([]byte) {}

// Title needs nothing: the sequence is in Data.
func (s sharedSink) Title(string) {}

// Bell needs nothing either.
func (s sharedSink) Bell() {}

// Cwd passes the directory on, which is in no Data (OSC 7).
func (s sharedSink) Cwd(uri string) {
	if !s.f.paused {
		s.f.cwd = uri
		s.f.output([]byte(cwdMark(uri)))
	}
}

// CommandDetection comes with the first prompt.
func (s sharedSink) CommandDetection() {}

// PromptStart tells the host that this shell tells of its commands (OSC 133;A).
func (s sharedSink) PromptStart() {
	s.CommandFinished(0, false)
	if !s.f.paused {
		s.f.marked = true
		s.f.output([]byte("\x1b]133;A\x07"))
	}
}

// CommandExecuted begins a command.
func (s sharedSink) CommandExecuted(line string) {
	f := s.f
	s.CommandFinished(0, false)
	if f.paused {
		return
	}
	f.counter++
	f.running, f.begun, f.marked = fmt.Sprintf("command-%d", f.counter), time.Now(), true
	f.journal.add(ahp.TerminalCommandExecuted{CommandID: f.running, CommandLine: line, Timestamp: f.begun.UnixMilli()})
}

// CommandFinished ends the running command, if watchers know of one. Of one that
// ends in a pause they are told after it, and not how.
func (s sharedSink) CommandFinished(code int, known bool) {
	f := s.f
	switch {
	case f.running == "":
		return
	case f.paused:
		f.unsaid = true
		return
	}
	ms := time.Since(f.begun).Milliseconds()
	a := ahp.TerminalCommandFinished{CommandID: f.running, DurationMs: &ms}
	if known {
		a.ExitCode = &code
	}
	f.running = ""
	f.journal.add(a)
}
