package history

import (
	"time"

	"termhost/ptypool/termlog"
	"termhost/ptypool/vt"
)

// Walker interprets the records of a log in order. The zero Walker is at a log's beginning; copies
// are independent.
//
// A log whose first record is at position 0 is followed from there. If its beginning is gone, it is
// followed from its first checkpoint, or, if it has none, from its first record. After a gap the
// next checkpoint restores the screen; other checkpoints add nothing.
type Walker struct {
	// At is the present record.
	At termlog.Record
	// Blind: the log's beginning is gone, and it has no checkpoint, because a program printed more
	// than the log holds while no host ran.
	Blind bool

	next    int64     // where output is expected
	begun   bool      // the log is followed
	lost    bool      // output is missing: the next checkpoint restores the screen
	cleared *clearing // the last clearing, if it is still ahead; nil: it is not
}

// clearing identifies the Event by which a terminal was cleared.
type clearing struct {
	pos  int64
	time time.Time
}

func clearedAt(rec termlog.Record) *clearing { return &clearing{rec.Pos, rec.Time} }

// at reports whether a record is the first one that the clearing leaves.
func (c *clearing) at(rec termlog.Record) bool {
	return rec.Pos > c.pos ||
		rec.Pos == c.pos && rec.Kind == termlog.Event && rec.Time.Equal(c.time)
}

// same reports whether both are the same Event, or both are nil.
func (c *clearing) same(o *clearing) bool {
	if c == nil || o == nil {
		return c == o
	}
	return c.pos == o.pos && c.time.Equal(o.time)
}

// Visitor gets the content of a log. [Ignore] has methods that do nothing.
type Visitor interface {
	// Begin is called at the place from which the log is followed, first and after gaps: with a
	// checkpoint, or with nil at the beginning of a log that does not begin with one. It returns
	// false if the payload is not a checkpoint.
	Begin(checkpoint []byte) bool
	// Passed is called with a checkpoint before which nothing is missing.
	Passed(checkpoint []byte)
	// Unfollowed is called with output before the place from which the log is followed.
	Unfollowed(p []byte)
	// Gap is called where n bytes of output are missing (0: unknown), with the reason for display.
	Gap(n int64, why string)
	// Clear is called where the terminal was cleared: readers discard all before it.
	Clear()
	Data(p []byte)
	Resize(cols, rows int)
	Event(payload []byte)
}

// Ignore is a Visitor that does nothing.
type Ignore struct{}

// Begin, and all other methods, do nothing.
func (Ignore) Begin([]byte) bool { return true }
func (Ignore) Passed([]byte)     {}
func (Ignore) Unfollowed([]byte) {}
func (Ignore) Gap(int64, string) {}
func (Ignore) Clear()            {}
func (Ignore) Data([]byte)       {}
func (Ignore) Resize(int, int)   {}
func (Ignore) Event([]byte)      {}

// Take passes the next record of the log to v.
func (w *Walker) Take(rec termlog.Record, v Visitor) {
	if rec.Kind == termlog.Description {
		return
	}
	w.At = rec
	if w.cleared != nil && w.cleared.at(rec) {
		w.cleared = nil
		v.Clear()
	}
	switch {
	case rec.Kind == termlog.Checkpoint:
		w.checkpoint(v)
		return
	case !w.begun && rec.Kind == termlog.Data && rec.Pos > 0 && !w.Blind:
		v.Unfollowed(rec.Payload) // a later checkpoint may draw it
		return
	case !w.begun:
		v.Begin(nil)
		w.begun, w.next = true, rec.Pos
	}
	if rec.Kind == termlog.Gap || rec.Pos != w.next {
		w.lost = true
		v.Gap(max(rec.Pos-w.next, 0), w.gapReason())
	}
	w.next = rec.Pos
	switch rec.Kind {
	case termlog.Data:
		w.next += int64(len(rec.Payload))
		v.Data(rec.Payload)
	case termlog.Resize:
		if cols, rows := termlog.Size(rec.Payload); cols > 0 && rows > 0 {
			v.Resize(cols, rows)
		}
	case termlog.Event:
		v.Event(rec.Payload)
	}
}

func (w *Walker) checkpoint(v Visitor) {
	switch {
	case w.begun && !w.lost:
		v.Passed(w.At.Payload)
	case v.Begin(w.At.Payload):
		w.begun, w.lost, w.next = true, false, w.At.Pos
	}
}

func (w *Walker) gapReason() string {
	if w.At.Kind == termlog.Gap {
		return vt.Printable(string(w.At.Payload))
	}
	return "the log is damaged"
}
