package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"termhost/ahp/record"
	"termhost/authz"
	"termhost/ptypool"
	"termhost/ptypool/termlog"
)

// Cast is what a terminal's log or a recording holds, to be played or written down.
type Cast struct {
	record.Header
	Name      string // of the terminal
	Events    []record.Event
	Truncated bool // its beginning is gone
}

// Cast returns what ref holds: a terminal's log, by its NAME as for [Host.Find], or a recording, by
// its name or the beginning of it. There is an event, because players refuse what has none. It
// returns a [*NotFoundError] or *authz.Denied.
func (h *Host) Cast(p authz.Principal, ref string) (*Cast, error) {
	if r := h.recordings.find(p, ref); r != nil && r.id == ref {
		return h.castRecording(p, r)
	}
	t, err := h.Find(p, ref)
	if err == nil {
		return h.castTerminal(p, t)
	}
	var missing *NotFoundError
	if r := h.recordings.find(p, ref); r != nil && errors.As(err, &missing) {
		return h.castRecording(p, r)
	}
	return nil, err
}

// castTerminal returns what the log of t holds.
func (h *Host) castTerminal(p authz.Principal, t *Terminal) (*Cast, error) {
	c := &Cast{Name: t.name}
	c.Term, c.Title, c.Began = t.screen.Term, t.outlineNow().Title, t.created
	truncated, err := h.ReadHistory(p, t, c.take)
	if err != nil {
		return nil, err
	}
	c.Truncated = truncated
	return c.playable(), nil
}

// castRecording returns what a recording holds.
func (h *Host) castRecording(p authz.Principal, r *recording) (*Cast, error) {
	a := &r.about
	c := &Cast{Name: a.Terminal}
	c.Term, c.Title, c.Began = a.Term, a.Title, a.Began
	if err := h.readRecording(p, r, c.take); err != nil {
		return nil, err
	}
	return c.playable(), nil
}

// playable returns c with an event, if it has none.
func (c *Cast) playable() *Cast {
	if len(c.Events) == 0 {
		c.Events = []record.Event{{Kind: record.Output}}
	}
	return c
}

// readRecording is [Host.ReadHistory] for what a recording holds.
func (h *Host) readRecording(p authz.Principal, r *recording,
	visit func(*HistoryItem) bool,
) error {
	if err := authz.Check(p, authz.Read, r.seen()); err != nil {
		return err
	}
	a := &r.about
	reader := historyReader{name: a.Terminal, nonce: a.Nonce, piped: a.Piped, visit: visit,
		outline: func() outline { return outline{Cols: defaultCols, Rows: defaultRows} }}
	var end *ending
	err := reader.read(func(take func(termlog.Record) bool) error {
		return h.recordings.records(r, func(rec termlog.Record) bool {
			switch rec.Kind {
			case termlog.Description:
				return true
			case termlog.Exit:
				var e ending
				if json.Unmarshal(rec.Payload, &e) == nil {
					end = &e
				}
			}
			return take(rec)
		})
	})
	if err == nil && end != nil {
		reader.finish(end)
	}
	return err
}

// mergedBytes is how much output that came at one time is one event.
const mergedBytes = 32 << 10

// take adds an item. An earlier time than that of the item before, because the clock was set back,
// counts as the same.
func (c *Cast) take(i *HistoryItem) bool {
	if c.Cols == 0 && i.Kind == HistoryResized {
		c.Cols, c.Rows, c.Began = i.Cols, i.Rows, i.Time
		return true
	}
	ev := record.Event{At: i.Time.Sub(c.Began)}
	var last *record.Event
	if n := len(c.Events); n > 0 {
		last = &c.Events[n-1]
		ev.At = max(ev.At, last.At)
	}
	ev.At = max(ev.At, time.Duration(0))
	switch i.Kind {
	case HistoryData:
		if last != nil && last.Kind == record.Output && last.At == ev.At &&
			len(last.Text)+len(i.Data) <= mergedBytes {
			last.Text = append(last.Text, i.Data...)
			return true
		}
		ev.Kind, ev.Text = record.Output, bytes.Clone(i.Data)
	case HistoryGap:
		ev.Kind, ev.Text = record.Output, i.gapText()
	case HistoryResized:
		ev.Kind, ev.Cols, ev.Rows = record.Resize, i.Cols, i.Rows
	case HistoryCommand:
		ev.Kind, ev.Text = record.Marker, []byte(i.Command.LineText())
	case HistoryExited:
		if i.ExitCode == nil || *i.ExitCode == ptypool.UnknownExit {
			return true
		}
		ev.Kind, ev.Code = record.Exit, *i.ExitCode
	default:
		return true
	}
	c.Events = append(c.Events, ev)
	return true
}
