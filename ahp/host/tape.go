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

// tape is a recording that is being made of a terminal. What goes into the terminal's log goes into
// the recording, too, as far as it is output, sizes, commands and the exit. When that fails, or the
// host is restarted, the tape is behind; then what is missing is copied from the terminal's log
// later. All methods of Terminal here are called with the Term's lock held, unless they say
// otherwise.
type tape struct {
	rec    *recordings.Recording
	w      *recordings.Writer // nil: it has to be opened
	behind bool
	retry  time.Time // when it may be tried again
	told   bool      // of the failure
	exit   bool      // the exit is recorded
}

const (
	// tapeReserve, in bytes, is the room that a file must have left after a piece of output: for
	// another one (64 KiB), and what it may bring. With less the next file is begun.
	tapeReserve = 80 << 10
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
	if t.exited {
		return "", ErrExited
	}
	if t.tape != nil {
		name = t.tape.rec.ID()
		if !on {
			t.endTape()
		}
		return name, nil
	}
	if !on {
		return "", nil
	}
	t.loadLocked()
	if err := t.beginTape(p.ID, t.drawnTape()); err != nil {
		return "", err
	}
	t.listChanged()
	name = t.tape.rec.ID()
	h.log.Info("recording begun", "name", t.Name(), "recording", name, "principal", p.Name)
	return name, nil
}

// drawnTape returns a checkpoint of the terminal as it is.
func (t *Terminal) drawnTape() journal.Snapshot {
	screen := t.term.Screen()
	return journal.Snapshot{Outline: t.outline, Marks: string(screen.AppendMarks(nil)),
		Redraw: screen.AppendRedraw(nil, vt.Redraw{})}
}

// beginTape begins a recording, for a principal's ID, with a checkpoint of the present.
func (t *Terminal) beginTape(by string, s journal.Snapshot) error {
	return t.newTape(by, s, t.journal.Position())
}

// newTape begins a file at a position of the output.
func (t *Terminal) newTape(by string, s journal.Snapshot, first int64) error {
	h := t.host
	size := h.cfg().RecordBytes
	if size == 0 {
		size = defaultRecordBytes
	}
	now := h.now()
	w, err := h.recordings.Create(recordings.About{
		Terminal: t.Name(), URI: t.uri, Created: t.created, Began: now, By: by,
		Title: t.outline.Title, Term: t.screen.Term, Nonce: t.screen.Nonce, Piped: t.Piped(),
	}, size, first)
	if err != nil {
		return err
	}
	if int64(len(s.Redraw)) > size/4 {
		s.Redraw = nil
	}
	t.tape = &tape{rec: w.Recording, w: w}
	t.tapeWrite(termlog.Checkpoint, now, s.Encode())
	return nil
}

// turnTape goes on in another file, which begins with s. If that cannot be begun, the recording is
// behind.
func (t *Terminal) turnTape(s journal.Snapshot) {
	tp := t.tape
	if err := t.newTape(tp.rec.About().By, s, tp.w.End()); err != nil {
		t.taped(err)
		return
	}
	tp.w.Close()
	t.host.recordings.End(tp.rec, t.host.now())
	t.host.log.Info("a recording goes on in another file", "name", t.Name(),
		"recording", tp.rec.ID(), "next", t.tape.rec.ID())
}

// tapeOutput records output, before it is parsed.
func (t *Terminal) tapeOutput(p []byte, at time.Time) {
	if t.tape == nil || t.tape.behind {
		return
	}
	if !t.tape.w.Fits(len(p)) {
		// In the middle of a sequence that does not end.
		t.turnTape(journal.Snapshot{Outline: t.outline})
	}
	t.tapeWrite(termlog.Data, at, p)
}

// tapeWrite records something, unless that is a command among very many in one piece of output, for
// which there is no room.
func (t *Terminal) tapeWrite(kind termlog.Kind, at time.Time, payload []byte) {
	tp := t.tape
	if tp == nil || tp.behind || tp.w == nil {
		return
	}
	tp.exit = tp.exit || kind == termlog.Exit
	t.taped(tp.w.Write(kind, at, payload))
}

// taped notes how a write went.
func (t *Terminal) taped(err error) {
	tp := t.tape
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

// keepTape comes when a piece of output has been handled: the screen is what was recorded.
func (t *Terminal) keepTape() {
	tp := t.tape
	if tp == nil || t.replay != nil {
		return
	}
	if tp.behind {
		t.catchUp()
		return
	}
	if !tp.w.Fits(tapeReserve) && !t.term.Screen().InSequence() {
		t.turnTape(t.drawnTape())
	}
}

// endTape ends the recording, with how the program has ended, if it has.
func (t *Terminal) endTape() {
	tp := t.tape
	if tp == nil {
		return
	}
	if tp.behind {
		tp.retry = time.Time{}
		t.catchUp()
		tp = t.tape
	}
	if t.exited && !tp.exit {
		t.tapeWrite(termlog.Exit, t.end.At, t.end.Encode())
	}
	t.tape = nil
	if tp.w != nil {
		tp.w.Close()
	}
	t.host.recordings.End(tp.rec, t.host.now())
	t.listChanged()
}

// catchUp copies from the terminal's log what the recording lacks. Where that does not have it
// either, the recording says so and goes on with the screen as it is.
func (t *Terminal) catchUp() {
	tp, now := t.tape, t.host.now()
	if now.Before(tp.retry) {
		return
	}
	if tp.w == nil {
		w, err := t.host.recordings.Reopen(tp.rec)
		if err != nil {
			t.taped(err)
			return
		}
		tp.w = w
	}
	t.loadLocked()
	c := copier{t: t, from: tp.w.End(), last: tp.w.Last()}
	tp.behind = false
	err := t.journal.Records(journal.WholeLog, c.copy)
	if errors.Is(err, journal.ErrNotLogged) {
		c.gap(t.journal.Position(), now, "not kept")
		err = nil
	}
	if err == nil && !t.tape.behind && c.lost {
		s := t.drawnTape()
		t.tapeWrite(termlog.Checkpoint, now, s.Encode())
	}
	if err != nil {
		t.taped(err)
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
	have := t.tape.w.End()
	switch r.Kind {
	case termlog.Gap:
		c.gap(r.Pos, r.Time, string(r.Payload))
	case termlog.Data:
		if r.Pos > have {
			c.gap(r.Pos, r.Time, "the log is damaged, or was full")
		} else {
			r.Payload = r.Payload[have-r.Pos:]
		}
		t.tapeWrite(r.Kind, r.Time, r.Payload)
	case termlog.Checkpoint:
		if c.lost {
			t.tapeWrite(r.Kind, r.Time, r.Payload)
			c.lost = false
		}
	case termlog.Resize, termlog.Exit:
		t.tapeWrite(r.Kind, r.Time, r.Payload)
	case termlog.Event:
		if _, a := journal.ParseEvent(r.Payload); isCommand(a) {
			t.tapeWrite(r.Kind, r.Time, r.Payload)
		}
	}
	return !t.tape.behind
}

// fits goes on in another file if there is no room for a record of so many bytes. It returns false
// when that cannot be begun.
func (c *copier) fits(bytes int) bool {
	t := c.t
	if !t.tape.w.Fits(bytes) {
		t.turnTape(journal.Snapshot{Outline: t.outline})
	}
	return !t.tape.behind
}

// gap says that the recording lacks what comes before a position.
func (c *copier) gap(to int64, at time.Time, why string) {
	c.lost = true
	if c.fits(len(why)) {
		w := c.t.tape.w
		c.t.taped(w.Skip(max(to-w.End(), 0), at, why))
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

// tendTapes brings recordings up to date that are behind. again: some still are. The Term's lock is
// not held.
func (h *Host) tendTapes() (again bool) {
	for _, t := range h.all() {
		t.term.Lock()
		if tp := t.tape; tp != nil && tp.behind {
			t.catchUp()
		}
		if t.tape != nil && t.exited && !t.tape.behind {
			t.endTape()
		}
		again = again || t.tape != nil && t.tape.behind
		t.term.Unlock()
	}
	return again
}
