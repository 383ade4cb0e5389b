package history

import (
	"bytes"
	"time"
)

// Cast is the content of a terminal's log or of a recording, for playing or for export.
type Cast struct {
	Header
	Name      string // of the terminal
	Events    []Event
	Truncated bool // the log's beginning is gone
}

// Cast reads all of the log. h describes it, except for the size. The result has at least one
// event, because players refuse recordings without any. Errors are those of [Log.Read].
func (l *Log) Cast(w Work, name string, h Header) (*Cast, error) {
	c := &Cast{Name: name, Header: h}
	var err error
	if c.Truncated, err = l.Read(w, c.take); err != nil {
		return nil, err
	}
	return c.playable(), nil
}

// playable adds a size and an event to c if it has none, and returns it.
func (c *Cast) playable() *Cast {
	if c.Cols == 0 {
		c.Cols, c.Rows = DefaultCols, DefaultRows
	}
	if len(c.Events) == 0 {
		c.Events = []Event{{Kind: Output}}
	}
	return c
}

// unknownExit is the status of a program whose exit status is unknown.
const unknownExit = -1

// mergedBytes bounds, in bytes, how much output of the same time is merged into one event.
const mergedBytes = 32 << 10

// take adds an item. If its time is before that of the previous item, because the clock was set
// back, it gets that item's time.
func (c *Cast) take(i *Item) bool {
	if c.Cols == 0 && i.Kind == Resized {
		c.Cols, c.Rows, c.Began = i.Cols, i.Rows, i.Time
		return true
	}
	ev := Event{At: i.Time.Sub(c.Began)}
	var last *Event
	if n := len(c.Events); n > 0 {
		last = &c.Events[n-1]
		ev.At = max(ev.At, last.At)
	}
	ev.At = max(ev.At, time.Duration(0))
	switch i.Kind {
	case Data:
		if last != nil && last.Kind == Output && last.At == ev.At &&
			len(last.Text)+len(i.Data) <= mergedBytes {
			last.Text = append(last.Text, i.Data...)
			return true
		}
		ev.Kind, ev.Text = Output, bytes.Clone(i.Data)
	case Gap:
		ev.Kind, ev.Text = Output, i.gapText()
	case Resized:
		ev.Kind, ev.Cols, ev.Rows = Resize, i.Cols, i.Rows
	case Began:
		ev.Kind, ev.Text = Marker, []byte(i.Command.LineText())
	case Exited:
		if i.ExitCode == nil || *i.ExitCode == unknownExit {
			return true
		}
		ev.Kind, ev.Code = Exit, *i.ExitCode
	default:
		return true
	}
	c.Events = append(c.Events, ev)
	return true
}
