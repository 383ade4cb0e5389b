package history

import (
	"strconv"

	"termhost/ahp"
	"termhost/ptypool/vt"
)

// found is what the parser finds in a log's output.
type found struct {
	vt.Discard
	r *reader
}

// Data is output as viewers get it.
func (f found) Data(p []byte) { f.r.emit(Item{Kind: Data, Data: p}) }

// CommandExecuted is the begin of a command.
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

// CommandFinished is the end of one.
func (f found) CommandFinished(code int, known bool) {
	if known {
		f.r.finished(&code)
		return
	}
	f.r.finished(nil)
}

// PromptStart is the end of one as well, if the shell does not tell of it.
func (f found) PromptStart() { f.r.finished(nil) }
