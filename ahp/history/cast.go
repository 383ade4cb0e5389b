package history

import (
	"bytes"
	"time"
)

// Cast is what a terminal's log or a recording holds, to be played or written down.
type Cast struct {
	Header
	Name      string // of the terminal
	Events    []Event
	Truncated bool // its beginning is gone
}

// Cast reads all of the log. h describes it, but for the size. There is an event, because players
// refuse what has none. It returns an error as [Log.Read] does.
func (l *Log) Cast(w Work, name string, h Header) (*Cast, error) {
	c := &Cast{Name: name, Header: h}
	var err error
	if c.Truncated, err = l.Read(w, c.take); err != nil {
		return nil, err
	}
	return c.playable(), nil
}

// playable returns c with a size and an event, if it has none.
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

// mergedBytes is how much output that came at one time is one event.
const mergedBytes = 32 << 10

// take adds an item. An earlier time than that of the item before, because the clock was set back,
// counts as the same.
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
