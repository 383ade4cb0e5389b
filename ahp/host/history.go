package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"time"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool/termlog"
	"termhost/ptypool/vt"
)

// HistoryKind says what a [HistoryItem] is.
type HistoryKind string

// The kinds of items, in the words of `termhost/history`.
const (
	// HistoryData is output, as viewers get it: without queries and marks of shell integration.
	HistoryData HistoryKind = "data"
	// HistoryResized is a new size. It is the first item, too.
	HistoryResized HistoryKind = "resized"
	// HistoryCommand is the begin of a command, HistoryFinished its end. What is printed in
	// between is the command's.
	HistoryCommand  HistoryKind = "command"
	HistoryFinished HistoryKind = "finished"
	// HistoryGap says that output is missing. What follows draws the screen as it is after the gap.
	HistoryGap HistoryKind = "gap"
	// HistoryExited is the end of the terminal. Nothing follows.
	HistoryExited HistoryKind = "exited"
)

// HistoryItem is something that a terminal's log holds.
type HistoryItem struct {
	// At is where in the log the item is: how many bytes had been printed when the record that it
	// comes from was made. It stays the same when the host is restarted.
	At   int64
	Time time.Time
	Kind HistoryKind

	Data       []byte   // HistoryData; valid only during the call
	Cols, Rows int      // HistoryResized
	Command    *Command // HistoryCommand and HistoryFinished
	Missing    int64    // HistoryGap: how many bytes
	Reason     string   // HistoryGap: why
	ExitCode   *int     // HistoryExited; nil: unknown
}

// ReadHistory calls visit with what a terminal's log holds, in order, until visit returns false.
// What is not followed by anything yet, such as half a character, is left out as long as the
// terminal runs. If the log's beginning is gone the items after the first begin with output that
// draws the screen as it was, and truncated is true. It returns *authz.Denied if p may not read
// the terminal. The terminal goes on meanwhile.
func (h *Host) ReadHistory(p authz.Principal, t *Terminal, visit func(*HistoryItem) bool) (
	truncated bool, err error,
) {
	if err := authz.Check(p, authz.Read, t.seen()); err != nil {
		return false, err
	}
	truncated, err = t.walk(math.MaxInt64, visit)
	if errors.Is(err, errNotLogged) {
		return h.readRetained(p, t, visit)
	}
	return truncated, err
}

// walk calls visit with what the terminal's log holds, of its output only what comes before end.
// It fails with errNotLogged before it has called visit.
func (t *Terminal) walk(end int64, visit func(*HistoryItem) bool) (truncated bool, err error) {
	r := historyReader{name: t.name, nonce: t.screen.Nonce, piped: t.Piped(), visit: visit,
		outline: t.outlineNow}
	err = r.read(func(visit func(termlog.Record) bool) error {
		return t.journal.records(func(rec termlog.Record) bool {
			return rec.Kind == termlog.Data && rec.Pos >= end || visit(rec)
		})
	})
	if errors.Is(err, errNotLogged) && r.screen != nil {
		return r.truncated, errors.New("host: the log has ended while it was read")
	}
	if err == nil && t.exitedNow() {
		t.term.Lock()
		end := *t.end
		t.term.Unlock()
		r.finish(&end)
	}
	return r.truncated, err
}

// historyReader makes items of a log's records. Output is parsed again, so that commands begin and
// end at the very byte; the parser's events come to it as a [vt.Sink].
type historyReader struct {
	name    string         // the terminal's NAME
	nonce   string         // of its shell integration
	piped   bool           // its program runs on pipes
	outline func() outline // says how it is now, if the log does not say how it was
	visit   func(*HistoryItem) bool
	over    bool // visit has returned false

	// What the first reading of the log has found.
	begun   map[string]ahp.TerminalCommandExecuted // the commands, by their IDs
	cleared *termlog.Record                        // what comes before it was cleared; nil: nothing

	screen    *vt.Terminal // nil: nothing has come yet that could be followed
	lines     vt.LineEnds  // of a program on pipes
	at        termlog.Record
	next      int64 // where the next output is expected
	truncated bool
	lost      bool // output is missing, and the next checkpoint draws the screen
	commands  int  // how many the shell has told of
	running   *Command
	began     time.Time // when that was, more exactly than it is told
}

// read reads the records that each call of the function hands out.
func (r *historyReader) read(records func(func(termlog.Record) bool) error) error {
	r.begun = map[string]ahp.TerminalCommandExecuted{}
	if err := records(r.survey); err != nil {
		return err
	}
	return records(r.record)
}

// survey notes what has to be known before the records are read for good.
func (r *historyReader) survey(rec termlog.Record) bool {
	if rec.Kind != termlog.Event {
		return true
	}
	switch a := decodeEvent(rec.Payload).(type) {
	case ahp.TerminalCommandExecuted:
		r.begun[a.CommandID] = a
	case ahp.TerminalCleared:
		r.cleared = &termlog.Record{Pos: rec.Pos, Time: rec.Time}
	}
	return true
}

// decodeEvent returns the action of an Event; nil if there is none that is known.
func decodeEvent(payload []byte) ahp.Action {
	var ev event
	if json.Unmarshal(payload, &ev) != nil {
		return nil
	}
	a, err := ahp.DecodeAction(ev.Action)
	if err != nil {
		return nil
	}
	return a
}

func (r *historyReader) record(rec termlog.Record) bool {
	r.at = rec
	if c := r.cleared; c != nil && (rec.Pos > c.Pos || rec.Pos == c.Pos && rec.Time.Equal(c.Time) &&
		rec.Kind == termlog.Event) {
		r.clear()
	}
	if rec.Kind == termlog.Checkpoint {
		if s, ok := parseSnapshot(rec.Payload); ok && (r.screen == nil || r.lost) {
			r.begin(s)
		}
		return !r.over
	}
	if r.screen == nil {
		if rec.Kind == termlog.Data && rec.Pos > 0 {
			return true // a checkpoint may follow that draws it
		}
		r.begin(snapshot{Outline: r.outline()})
	}
	if rec.Kind == termlog.Gap || rec.Pos != r.next {
		r.gap()
	}
	r.next = rec.Pos
	switch rec.Kind {
	case termlog.Data:
		r.next += int64(len(rec.Payload))
		r.feed(rec.Payload)
	case termlog.Resize:
		if cols, rows := termlog.Size(rec.Payload); cols > 0 && rows > 0 {
			r.resize(cols, rows)
		}
	case termlog.Event:
		r.event()
	}
	return !r.over
}

// begin starts at a checkpoint.
func (r *historyReader) begin(s snapshot) {
	o := &s.Outline
	if r.screen == nil {
		r.truncated = r.at.Pos > 0
		r.screen = vt.New(o.Cols, o.Rows, vt.Options{Nonce: r.nonce})
		r.emit(HistoryItem{Kind: HistoryResized, Cols: o.Cols, Rows: o.Rows})
	} else {
		r.finished(nil)
		r.resize(o.Cols, o.Rows)
	}
	r.next, r.lost, r.commands = r.at.Pos, false, o.Commands
	r.screen.Feed([]byte(s.Marks), nil)
	if len(s.redraw) > 0 {
		r.emit(HistoryItem{Kind: HistoryData, Data: s.redraw})
	}
	if last := o.Last; last != nil && !last.Over {
		r.executed(last.executed())
	}
}

// feed parses output.
func (r *historyReader) feed(p []byte) {
	if r.piped {
		p = r.lines.Append(nil, p)
	}
	r.screen.Feed(p, r)
}

// gap says that output is missing before the record. CAN ends whatever sequence was begun.
func (r *historyReader) gap() {
	why := "the log is damaged"
	if r.at.Kind == termlog.Gap {
		why = Printable(string(r.at.Payload))
	}
	r.lost = true
	r.screen.Feed([]byte{0x18}, nil)
	r.emit(HistoryItem{Kind: HistoryGap, Missing: max(r.at.Pos-r.next, 0), Reason: why})
}

func (r *historyReader) resize(cols, rows int) {
	if c, n := r.screen.Size(); c != cols || n != rows {
		r.screen.Resize(cols, rows)
		r.emit(HistoryItem{Kind: HistoryResized, Cols: cols, Rows: rows})
	}
}

// event takes an action that the output has not brought.
func (r *historyReader) event() {
	if bytes.Contains(r.at.Payload, []byte(`"parsed":true`)) {
		return
	}
	switch a := decodeEvent(r.at.Payload).(type) {
	case ahp.TerminalCommandExecuted:
		r.executed(a)
	case ahp.TerminalCommandFinished:
		r.finished(a.ExitCode)
	}
}

// finish ends the history of a terminal that has exited.
func (r *historyReader) finish(end *ending) {
	if r.over {
		return
	}
	r.at.Time = end.At
	if r.screen != nil {
		r.at.Pos = r.next
		r.screen.Flush(r)
		r.finished(end.action().ExitCode)
	}
	r.emit(HistoryItem{Kind: HistoryExited, ExitCode: end.action().ExitCode})
}

// clear comes when the terminal was cleared. What follows is handed out.
func (r *historyReader) clear() {
	r.cleared = nil
	if r.running != nil {
		r.emit(HistoryItem{Kind: HistoryCommand, Command: r.running})
	}
}

// emit hands an item out, unless the terminal was cleared after it.
func (r *historyReader) emit(i HistoryItem) {
	i.At, i.Time = r.at.Pos, r.at.Time
	if r.over || r.cleared != nil && i.Kind != HistoryResized {
		return
	}
	r.over = !r.visit(&i)
}

func (r *historyReader) executed(a ahp.TerminalCommandExecuted) {
	r.finished(nil)
	c := &ahp.Command{ID: a.CommandID, Line: a.CommandLine, Timestamp: a.Timestamp, By: a.By}
	r.running, r.began = NewCommand(c), r.at.Time
	r.emit(HistoryItem{Kind: HistoryCommand, Command: r.running})
}

func (r *historyReader) finished(code *int) {
	if r.running == nil {
		return
	}
	ms := max(r.at.Time.Sub(r.began).Milliseconds(), 0)
	over := *r.running
	over.ExitCode, over.DurationMs, over.Running = code, &ms, false
	r.running = nil
	r.emit(HistoryItem{Kind: HistoryFinished, Command: &over})
}

// outlineNow returns what listings need of the terminal.
func (t *Terminal) outlineNow() outline {
	t.term.Lock()
	defer t.term.Unlock()
	return t.outline
}
