package host

import (
	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/journal"
)

// logFormat decodes what the host writes into logs: see [history.Format].
type logFormat struct{}

// Checkpoint decodes a [journal.Snapshot].
func (logFormat) Checkpoint(payload []byte) (c history.Checkpoint, ok bool) {
	s, ok := journal.ParseSnapshot(payload)
	if !ok {
		return c, false
	}
	c = checkpoint(&s.Outline)
	c.Marks, c.Redraw = s.Marks, s.Redraw
	return c, true
}

// checkpoint returns the state of a blank terminal with an outline.
func checkpoint(o *journal.Outline) history.Checkpoint {
	c := history.Checkpoint{Cols: o.Cols, Rows: o.Rows, Commands: o.Commands}
	if last := o.Last; last != nil && !last.Over {
		a := last.Executed()
		c.Running = &a
	}
	return c
}

// Event decodes a [journal.Event].
func (logFormat) Event(payload []byte) (a ahp.Action, parsed bool) {
	ev, a := journal.ParseEvent(payload)
	return a, ev.Parsed
}

// Exit decodes a [journal.Ending].
func (logFormat) Exit(payload []byte) *history.End { return endOf(journal.ParseEnding(payload)) }

// endOf returns what readers are told of an ending; nil: there is none.
func endOf(e *journal.Ending) *history.End {
	if e == nil {
		return nil
	}
	return &history.End{At: e.At, ExitCode: e.Told().ExitCode}
}
