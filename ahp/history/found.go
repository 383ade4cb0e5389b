package history

import (
	"strconv"

	"termhost/ahp"
	"termhost/ptypool/vt"
)

// found gets what the parser finds in a log's output, and makes items of it.
type found struct {
	vt.Discard
	r *reader
}

// Data gets output as viewers see it.
func (f found) Data(p []byte) { f.r.emit(Item{Kind: Data, Data: p}) }

// CommandExecuted is called where a command begins.
func (f found) CommandExecuted(line string) {
	r := f.r
	r.commands++
	id := r.ID + "-" + strconv.Itoa(r.commands)
	begun, ok := r.survey.begun[id]
	if !ok || begun.CommandLine != line { // its record is missing
		begun = ahp.TerminalCommandExecuted{CommandID: id, CommandLine: line,
			Timestamp: r.walk.At.Time.UnixMilli()}
	}
	r.executed(begun)
}

// CommandFinished is called where a command ends.
func (f found) CommandFinished(code int, known bool) {
	if known {
		f.r.finished(&code)
		return
	}
	f.r.finished(nil)
}

// PromptStart ends a command whose end the shell has not reported.
func (f found) PromptStart() { f.r.finished(nil) }
