package recordings

import (
	"errors"
	"time"

	"termhost/ahp/journal"
	"termhost/ptypool/termlog"
)

// CatchUp copies the missing part of a recording that is behind from the terminal's log, unless it
// has failed just now. Where the log lacks it too, the recording says so and continues with the
// present screen.
func (rc *Recorder) CatchUp() {
	now := rc.Clock()
	if rc.rec == nil || !rc.behind || now.Before(rc.retry) {
		return
	}
	if rc.w == nil {
		w, err := rc.Store.Reopen(rc.rec)
		if err != nil {
			rc.written(err)
			return
		}
		rc.w = w
	}
	c := copier{rc: rc, from: rc.w.End(), last: rc.w.Last()}
	rc.behind = false
	err := rc.Env.Log(c.copy)
	if errors.Is(err, journal.ErrNotLogged) {
		c.gap(rc.Env.Position(), now, "not kept")
		err = nil
	}
	if err == nil && !rc.behind && c.lost {
		s := rc.Env.Checkpoint(true)
		rc.Write(termlog.Checkpoint, now, s.Encode())
	}
	if err != nil {
		rc.written(err)
	}
}

// copier copies records into a recording.
type copier struct {
	rc   *Recorder
	from int64     // the recording has all output before it
	last time.Time // when the recording's last record was made
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
	have := rc.w.End()
	switch r.Kind {
	case termlog.Gap:
		c.gap(r.Pos, r.Time, string(r.Payload))
	case termlog.Data:
		if r.Pos > have {
			c.gap(r.Pos, r.Time, "the log is damaged, or was full")
		} else {
			r.Payload = r.Payload[have-r.Pos:]
		}
		rc.Write(r.Kind, r.Time, r.Payload)
	case termlog.Checkpoint:
		if c.lost {
			rc.Write(r.Kind, r.Time, r.Payload)
			c.lost = false
		}
	case termlog.Resize, termlog.Exit:
		rc.Write(r.Kind, r.Time, r.Payload)
	case termlog.Event:
		if _, a := journal.ParseEvent(r.Payload); IsCommand(a) {
			rc.Write(r.Kind, r.Time, r.Payload)
		}
	}
	return !rc.behind
}

// fits begins another file if this one has no room for a record of so many bytes. It returns false
// if that file cannot be created.
func (c *copier) fits(bytes int) bool {
	if !c.rc.w.Fits(bytes) {
		c.rc.turn(c.rc.Env.Checkpoint(false))
	}
	return !c.rc.behind
}

// gap records that the output before a position is missing.
func (c *copier) gap(to int64, at time.Time, why string) {
	c.lost = true
	if c.fits(len(why)) {
		w := c.rc.w
		c.rc.written(w.Skip(max(to-w.End(), 0), at, why))
	}
}
