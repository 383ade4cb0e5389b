package share

import (
	"bytes"
	"fmt"
	"time"

	"termhost/ahp"
)

// watcherSink sends watchers what the parser finds in the program's output. tee.mu is held.
type watcherSink struct{ t *tee }

func (s watcherSink) output(p []byte) {
	if !s.t.paused {
		s.t.output(p)
	}
}

// Data is the output without queries and shell-integration marks.
func (s watcherSink) Data(p []byte) { s.output(p) }

// Reply answers a query of a program whose user has no terminal that would.
func (s watcherSink) Reply(p []byte) {
	if s.t.answer != nil {
		s.t.answer(p)
	}
}

// Clipboard does nothing: a copy is for the user's terminal only, which has got the sequence.
func (s watcherSink) Clipboard([]byte) {}

// Notification sends a notification, which Data does not contain: it tells those who do not look.
func (s watcherSink) Notification(p []byte, _ string) { s.output(p) }

// Mark sends the end of a prompt, which begins no command and ends none. Where a prompt begins,
// PromptStart sends a mark, and the other two are actions.
func (s watcherSink) Mark(p []byte) {
	if bytes.HasPrefix(p, promptEnd) {
		s.output(p)
	}
}

// promptEnd begins the mark OSC 133;B.
var promptEnd = []byte("\x1b]133;B")

// DrawsPictures returns false: watchers get boxes.
func (s watcherSink) DrawsPictures() bool { return false }

// ControlMode does nothing: the user's terminal may be iTerm2.
func (s watcherSink) ControlMode() {}

// Zmodem does nothing: the user's terminal may know it.
func (s watcherSink) Zmodem() {}

// Title does nothing: Data contains the sequence.
func (s watcherSink) Title(string) {}

// Bell does nothing, for the same reason.
func (s watcherSink) Bell() {}

// Cwd sends the working directory (OSC 7), which Data does not contain.
func (s watcherSink) Cwd(uri string) {
	if !s.t.paused {
		s.t.cwd = uri
		s.t.output([]byte(cwdSequence(uri)))
	}
}

// CommandDetection does nothing: the first prompt says the same.
func (s watcherSink) CommandDetection() {}

// PromptStart sends the mark OSC 133;A, which also tells the host that the shell sends marks.
func (s watcherSink) PromptStart() {
	s.CommandFinished(0, false)
	if !s.t.paused {
		s.t.marked = true
		s.t.output([]byte("\x1b]133;A\x07"))
	}
}

// CommandExecuted begins a command.
func (s watcherSink) CommandExecuted(line string) {
	t := s.t
	s.CommandFinished(0, false)
	if t.paused {
		return
	}
	t.commands++
	t.running, t.begun, t.marked = fmt.Sprintf("command-%d", t.commands), time.Now(), true
	t.outbox.add(ahp.TerminalCommandExecuted{CommandID: t.running, CommandLine: line,
		Timestamp: t.begun.UnixMilli()})
}

// CommandFinished ends the running command, if watchers know of one. If that happens during a
// pause, watchers are told after it.
func (s watcherSink) CommandFinished(code int, known bool) {
	t := s.t
	switch {
	case t.running == "":
		return
	case t.paused:
		t.ended = true
		return
	}
	ms := time.Since(t.begun).Milliseconds()
	a := ahp.TerminalCommandFinished{CommandID: t.running, DurationMs: &ms}
	if known {
		a.ExitCode = &code
	}
	t.running = ""
	t.outbox.add(a)
}
