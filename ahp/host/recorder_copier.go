package host

import (
	"errors"
	"time"

	"termhost/ahp/journal"
	"termhost/ptypool/termlog"
)

// keep is called when a piece of output has been handled, and the screen shows what was recorded.
// It begins the next file when this one is nearly full.
func (rc *recorder) keep() {
	r := rc.recording
	if r == nil || rc.t.kept.replay != nil {
		return
	}
	if r.behind {
		rc.catchUp()
		return
	}
	if !r.w.Fits(recordingReserve) && !rc.t.term.Screen().InSequence() {
		rc.turn(rc.outline())
	}
}

// finish ends the recording, with how the program has ended, if it has.
func (rc *recorder) finish() {
	t := rc.t
	r := rc.recording
	if r == nil {
		return
	}
	if r.behind {
		r.retry = time.Time{}
		rc.catchUp()
		r = rc.recording
	}
	if t.life.exited && !r.exit {
		rc.write(termlog.Exit, t.log.end.At, t.log.end.Encode())
	}
	rc.recording = nil
	if r.w != nil {
		r.w.Close()
	}
	t.host.recordings.End(r.rec, t.host.now())
	t.listChanged()
}

// catchUp copies from the terminal's log what the recording lacks. Where the log lacks it too, the
// recording says so and continues with the screen as it is.
func (rc *recorder) catchUp() {
	t := rc.t
	r, now := rc.recording, t.host.now()
	if now.Before(r.retry) {
		return
	}
	if r.w == nil {
		w, err := t.host.recordings.Reopen(r.rec)
		if err != nil {
			rc.written(err)
			return
		}
		r.w = w
	}
	t.kept.loadLocked()
	c := copier{rc: rc, from: r.w.End(), last: r.w.Last()}
	r.behind = false
	err := t.log.journal.Records(journal.WholeLog, c.copy)
	if errors.Is(err, journal.ErrNotLogged) {
		c.gap(t.log.journal.Position(), now, "not kept")
		err = nil
	}
	if err == nil && !rc.recording.behind && c.lost {
		s := rc.outline()
		rc.write(termlog.Checkpoint, now, s.Encode())
	}
	if err != nil {
		rc.written(err)
	}
}

// tendRecorders has recordings that are behind catch up, and reports whether some still are behind.
// No Term's lock is held.
func (h *Host) tendRecorders() (again bool) {
	for _, t := range h.all() {
		t.term.Lock()
		if r := t.recorder.recording; r != nil && r.behind {
			t.recorder.catchUp()
		}
		if t.recorder.recording != nil && t.life.exited && !t.recorder.recording.behind {
			t.recorder.finish()
		}
		again = again || t.recorder.recording != nil && t.recorder.recording.behind
		t.term.Unlock()
	}
	return again
}

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
