package host

import (
	"strconv"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// These are what the parser finds in the output that a log holds, see [vt.Sink].

func (r *historyReader) Data(p []byte) { r.emit(HistoryItem{Kind: HistoryData, Data: p}) }

func (r *historyReader) CommandExecuted(line string) {
	r.commands++
	id := r.name + "-" + strconv.Itoa(r.commands)
	begun, ok := r.begun[id]
	if !ok || begun.CommandLine != line { // its record is missing
		begun = ahp.TerminalCommandExecuted{CommandID: id, CommandLine: line,
			Timestamp: r.at.Time.UnixMilli()}
	}
	r.executed(begun)
}

func (r *historyReader) CommandFinished(code int, known bool) {
	if known {
		r.finished(&code)
		return
	}
	r.finished(nil)
}

func (r *historyReader) PromptStart() { r.finished(nil) }

func (r *historyReader) Reply([]byte)        {}
func (r *historyReader) Clipboard([]byte)    {}
func (r *historyReader) Notification([]byte) {}
func (r *historyReader) Title(string)        {}
func (r *historyReader) Cwd(string)          {}
func (r *historyReader) CommandDetection()   {}
func (r *historyReader) Bell()               {}

// readRetained is ReadHistory for a terminal of which nothing is logged. Of what it printed the
// host knows when only as far as it was a command's: the rest gets the time that came before.
func (h *Host) readRetained(p authz.Principal, t *Terminal, visit func(*HistoryItem) bool) (
	truncated bool, err error,
) {
	st, truncated, err := h.readLog(p, t)
	if err == nil {
		t.visitRetained(st, visit)
	}
	return truncated, err
}

// visitRetained calls visit with what a state of t retains.
func (t *Terminal) visitRetained(st ahp.TerminalState, visit func(*HistoryItem) bool) {
	at, over := t.created, false
	emit := func(i HistoryItem) {
		if i.Time = at; !over {
			over = !visit(&i)
		}
	}
	emit(HistoryItem{Kind: HistoryResized, Cols: st.Cols, Rows: st.Rows})
	for i := range st.Content {
		var c *Command
		if part := st.Content[i].Command; part != nil {
			c = NewCommand(part)
			at = c.StartedAt
			emit(HistoryItem{Kind: HistoryCommand, Command: c})
		}
		for _, p := range st.Content[i].Text.Chunks() {
			emit(HistoryItem{Kind: HistoryData, Data: p})
		}
		if c != nil && !c.Running {
			if c.DurationMs != nil {
				at = at.Add(time.Duration(*c.DurationMs) * time.Millisecond)
			}
			emit(HistoryItem{Kind: HistoryFinished, Command: c})
		}
	}
	if st.Exited {
		at = t.exitedAt
		emit(HistoryItem{Kind: HistoryExited, ExitCode: st.ExitCode})
	}
}
