package host

import (
	"time"

	"termhost/ahp/journal"
	"termhost/ptypool/termlog"
)

// copier copies records into a recording.
type copier struct {
	rc   *recorder
	from int64     // what comes before is there already
	last time.Time // when the last record was made that is there
	lost bool      // something is missing, and has not been drawn yet
}

// copy takes a record of the terminal's log. It returns false when the recording cannot be written.
func (c *copier) copy(r termlog.Record) bool {
	rc := c.rc
	end := r.Pos
	if r.Kind == termlog.Data {
		end += int64(len(r.Payload))
	}
	if end < c.from || end == c.from && (r.Kind == termlog.Data || !r.Time.After(c.last)) {
		return true
	}
	if !c.fits(len(r.Payload)) {
		return false
	}
	have := rc.recording.w.End()
	switch r.Kind {
	case termlog.Gap:
		c.gap(r.Pos, r.Time, string(r.Payload))
	case termlog.Data:
		if r.Pos > have {
			c.gap(r.Pos, r.Time, "the log is damaged, or was full")
		} else {
			r.Payload = r.Payload[have-r.Pos:]
		}
		rc.write(r.Kind, r.Time, r.Payload)
	case termlog.Checkpoint:
		if c.lost {
			rc.write(r.Kind, r.Time, r.Payload)
			c.lost = false
		}
	case termlog.Resize, termlog.Exit:
		rc.write(r.Kind, r.Time, r.Payload)
	case termlog.Event:
		if _, a := journal.ParseEvent(r.Payload); isCommand(a) {
			rc.write(r.Kind, r.Time, r.Payload)
		}
	}
	return !rc.recording.behind
}

// fits begins another file if this one has no room for a record of so many bytes. It returns false
// if that file cannot be created.
func (c *copier) fits(bytes int) bool {
	rc := c.rc
	if !rc.recording.w.Fits(bytes) {
		rc.turn(journal.Snapshot{Outline: rc.t.log.outline})
	}
	return !rc.recording.behind
}

// gap records that the output before a position is missing.
func (c *copier) gap(to int64, at time.Time, why string) {
	c.lost = true
	if c.fits(len(why)) {
		w := c.rc.recording.w
		c.rc.written(w.Skip(max(to-w.End(), 0), at, why))
	}
}
