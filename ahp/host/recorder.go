package host

import (
	"errors"
	"time"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/ahp/recordings"
	"termhost/authz"
	"termhost/ptypool/termlog"
	"termhost/ptypool/vt"
)

// recording is a recording that is being made of a terminal. What goes into the terminal's log goes
// into the recording, too, as far as it is output, sizes, commands and the exit. When that fails,
// or the host is restarted, the tape is behind; then what is missing is copied from the terminal's
// log later. All methods of Terminal here are called with the Term's lock held, unless they say
// otherwise.
type recording struct {
	rec    *recordings.Recording
	w      *recordings.Writer // nil: it has to be opened
	behind bool
	retry  time.Time // when it may be tried again
	told   bool      // of the failure
	exit   bool      // the exit is recorded
}

// recorder makes a terminal's recording. It is guarded by the Term's lock.
type recorder struct {
	t         *Terminal
	recorded  bool       // from the beginning, because its creator has asked for it; never changes
	recording *recording // nil: it is not recorded
}

const (
	// tapeReserve, in bytes, is the room that a file must have left after a piece of output: for
	// another one (64 KiB), and what it may bring. With less the next file is begun.
	recordingReserve = 80 << 10
	// defaultRecordBytes is the size of a file unless the configuration says otherwise.
	defaultRecordBytes = 64 << 20
)

// Record has a terminal recorded from now on, or no longer, and returns the recording's name; "":
// it was not recorded anyway. It returns *authz.Denied or ErrExited.
func (h *Host) Record(p authz.Principal, t *Terminal, on bool) (name string, err error) {
	t.term.Lock()
	defer t.term.Unlock()
	if err := t.check(step{principal: p}, authz.Record); err != nil {
		return "", err
	}
	if t.life.exited {
		return "", ErrExited
	}
	if t.recorder.recording != nil {
		name = t.recorder.recording.rec.ID()
		if !on {
			t.recorder.finish()
		}
		return name, nil
	}
	if !on {
		return "", nil
	}
	t.kept.loadLocked()
	if err := t.recorder.begin(p.ID, t.recorder.outline()); err != nil {
		return "", err
	}
	t.listChanged()
	name = t.recorder.recording.rec.ID()
	h.log.Info("recording begun", "name", t.Name(), "recording", name, "principal", p.Name)
	return name, nil
}

// outline returns a checkpoint of the terminal as it is.
func (rc *recorder) outline() journal.Snapshot {
	screen := rc.t.term.Screen()
	return journal.Snapshot{Outline: rc.t.log.outline, Marks: string(screen.AppendMarks(nil)),
		Redraw: screen.AppendRedraw(nil, vt.Redraw{})}
}

// begin begins a recording, for a principal's ID, with a checkpoint of the present.
func (rc *recorder) begin(by string, s journal.Snapshot) error {
	return rc.create(by, s, rc.t.log.journal.Position())
}

// create begins a file at a position of the output.
func (rc *recorder) create(by string, s journal.Snapshot, first int64) error {
	t := rc.t
	h := t.host
	size := h.cfg().RecordBytes
	if size == 0 {
		size = defaultRecordBytes
	}
	now := h.now()
	w, err := h.recordings.Create(recordings.About{
		Terminal: t.Name(), URI: t.uri, Created: t.origin.created, Began: now, By: by,
		Title: t.log.outline.Title, Piped: t.Piped(),
		Term: t.origin.screen.Term, Nonce: t.origin.screen.Nonce,
	}, size, first)
	if err != nil {
		return err
	}
	if int64(len(s.Redraw)) > size/4 {
		s.Redraw = nil
	}
	rc.recording = &recording{rec: w.Recording, w: w}
	rc.write(termlog.Checkpoint, now, s.Encode())
	return nil
}

// turn goes on in another file, which begins with s. If that cannot be begun, the recording is
// behind.
func (rc *recorder) turn(s journal.Snapshot) {
	t := rc.t
	tp := rc.recording
	if err := rc.create(tp.rec.About().By, s, tp.w.End()); err != nil {
		rc.written(err)
		return
	}
	tp.w.Close()
	t.host.recordings.End(tp.rec, t.host.now())
	t.host.log.Info("a recording goes on in another file", "name", t.Name(),
		"recording", tp.rec.ID(), "next", rc.recording.rec.ID())
}

// output records output, before it is parsed.
func (rc *recorder) output(p []byte, at time.Time) {
	if rc.recording == nil || rc.recording.behind {
		return
	}
	if !rc.recording.w.Fits(len(p)) {
		// In the middle of a sequence that does not end.
		rc.turn(journal.Snapshot{Outline: rc.t.log.outline})
	}
	rc.write(termlog.Data, at, p)
}

// write records something, unless that is a command among very many in one piece of output, for
// which there is no room.
func (rc *recorder) write(kind termlog.Kind, at time.Time, payload []byte) {
	tp := rc.recording
	if tp == nil || tp.behind || tp.w == nil {
		return
	}
	tp.exit = tp.exit || kind == termlog.Exit
	rc.written(tp.w.Write(kind, at, payload))
}

// written notes how a write went.
func (rc *recorder) written(err error) {
	t := rc.t
	tp := rc.recording
	if err != nil {
		tp.behind, tp.retry = true, t.host.now().Add(journalRetry)
		if !tp.told {
			t.host.log.Warn("a recording waits until it can be written", "name", t.Name(),
				"recording", tp.rec.ID(), "err", err)
		}
		tp.told = true
		return
	}
	tp.told = false
	if t.host.recordings.Exceeds(t.host.cfg().RecordTotalBytes) {
		t.host.janitor.exited()
	}
}

// keep comes when a piece of output has been handled: the screen is what was recorded.
func (rc *recorder) keep() {
	tp := rc.recording
	if tp == nil || rc.t.kept.replay != nil {
		return
	}
	if tp.behind {
		rc.catchUp()
		return
	}
	if !tp.w.Fits(recordingReserve) && !rc.t.term.Screen().InSequence() {
		rc.turn(rc.outline())
	}
}

// finish ends the recording, with how the program has ended, if it has.
func (rc *recorder) finish() {
	t := rc.t
	tp := rc.recording
	if tp == nil {
		return
	}
	if tp.behind {
		tp.retry = time.Time{}
		rc.catchUp()
		tp = rc.recording
	}
	if t.life.exited && !tp.exit {
		rc.write(termlog.Exit, t.log.end.At, t.log.end.Encode())
	}
	rc.recording = nil
	if tp.w != nil {
		tp.w.Close()
	}
	t.host.recordings.End(tp.rec, t.host.now())
	t.listChanged()
}

// catchUp copies from the terminal's log what the recording lacks. Where that does not have it
// either, the recording says so and goes on with the screen as it is.
func (rc *recorder) catchUp() {
	t := rc.t
	tp, now := rc.recording, t.host.now()
	if now.Before(tp.retry) {
		return
	}
	if tp.w == nil {
		w, err := t.host.recordings.Reopen(tp.rec)
		if err != nil {
			rc.written(err)
			return
		}
		tp.w = w
	}
	t.kept.loadLocked()
	c := copier{t: t, from: tp.w.End(), last: tp.w.Last()}
	tp.behind = false
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

// copier copies records into a recording.
type copier struct {
	t    *Terminal
	from int64     // what comes before is there already
	last time.Time // when the last record was made that is there
	lost bool      // something is missing, and has not been drawn yet
}

// copy takes a record of the terminal's log. It returns false when the recording cannot be written.
func (c *copier) copy(r termlog.Record) bool {
	t := c.t
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
	have := t.recorder.recording.w.End()
	switch r.Kind {
	case termlog.Gap:
		c.gap(r.Pos, r.Time, string(r.Payload))
	case termlog.Data:
		if r.Pos > have {
			c.gap(r.Pos, r.Time, "the log is damaged, or was full")
		} else {
			r.Payload = r.Payload[have-r.Pos:]
		}
		t.recorder.write(r.Kind, r.Time, r.Payload)
	case termlog.Checkpoint:
		if c.lost {
			t.recorder.write(r.Kind, r.Time, r.Payload)
			c.lost = false
		}
	case termlog.Resize, termlog.Exit:
		t.recorder.write(r.Kind, r.Time, r.Payload)
	case termlog.Event:
		if _, a := journal.ParseEvent(r.Payload); isCommand(a) {
			t.recorder.write(r.Kind, r.Time, r.Payload)
		}
	}
	return !t.recorder.recording.behind
}

// fits goes on in another file if there is no room for a record of so many bytes. It returns false
// when that cannot be begun.
func (c *copier) fits(bytes int) bool {
	t := c.t
	if !t.recorder.recording.w.Fits(bytes) {
		t.recorder.turn(journal.Snapshot{Outline: t.log.outline})
	}
	return !t.recorder.recording.behind
}

// gap says that the recording lacks what comes before a position.
func (c *copier) gap(to int64, at time.Time, why string) {
	c.lost = true
	if c.fits(len(why)) {
		w := c.t.recorder.recording.w
		c.t.recorder.written(w.Skip(max(to-w.End(), 0), at, why))
	}
}

// isCommand reports whether an action is recorded.
func isCommand(a ahp.Action) bool {
	switch a.(type) {
	case ahp.TerminalCommandExecuted, ahp.TerminalCommandFinished:
		return true
	}
	return false
}

// tendRecorders brings recordings up to date that are behind. again: some still are. The Term's
// lock is not held.
func (h *Host) tendRecorders() (again bool) {
	for _, t := range h.all() {
		t.term.Lock()
		if tp := t.recorder.recording; tp != nil && tp.behind {
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
