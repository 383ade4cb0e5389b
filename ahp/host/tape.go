package host

import (
	"encoding/json"
	"errors"
	"time"

	"termhost/ahp"
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
	rec    *recording
	by     string       // the ID of the principal who had it made
	log    *termlog.Log // nil: it has to be opened
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

var errNoRecordings = errors.New("this host has no state folder for recordings")

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
		name = t.tape.rec.id
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
	h.log.Info("recording begun", "name", t.name, "recording", t.tape.rec.id, "principal", p.Name)
	return t.tape.rec.id, nil
}

// drawnTape returns a checkpoint of the terminal as it is.
func (t *Terminal) drawnTape() snapshot {
	screen := t.term.Screen()
	return snapshot{Outline: t.outline, Marks: string(screen.AppendMarks(nil)),
		redraw: screen.AppendRedraw(nil, vt.Redraw{})}
}

// beginTape begins a recording, for a principal's ID, with a checkpoint of the present.
func (t *Terminal) beginTape(by string, s snapshot) error {
	if t.host.recordings.dir == "" {
		return errNoRecordings
	}
	return t.newTape(by, s, t.journal.position())
}

// newTape begins a file at a position of the output.
func (t *Terminal) newTape(by string, s snapshot, first int64) error {
	h := t.host
	size := h.cfg().RecordBytes
	if size == 0 {
		size = defaultRecordBytes
	}
	now := h.now()
	rec, log, err := h.recordings.create(recordingAbout{
		Format: metaFormat, Terminal: t.name, URI: t.uri, Created: t.created, Began: now, By: by,
		Title: t.outline.Title, Term: t.screen.Term, Nonce: t.screen.Nonce, Piped: t.Piped(),
	}, size, first)
	if err != nil {
		return err
	}
	if int64(len(s.redraw)) > size/4 {
		s.redraw = nil
	}
	t.tape = &tape{rec: rec, by: by, log: log}
	t.tapeWrite(termlog.Checkpoint, now, s.append(nil))
	return nil
}

// turnTape goes on in another file, which begins with s. If that cannot be begun, the recording is
// behind.
func (t *Terminal) turnTape(s snapshot) {
	tp := t.tape
	if err := t.newTape(tp.by, s, tp.log.End()); err != nil {
		t.taped(err)
		return
	}
	tp.log.Close()
	t.host.recordings.end(tp.rec, t.host.now())
	t.host.log.Info("a recording goes on in another file", "name", t.name,
		"recording", tp.rec.id, "next", t.tape.rec.id)
}

// tapeOutput records output, before it is parsed.
func (t *Terminal) tapeOutput(p []byte, at time.Time) {
	if t.tape == nil || t.tape.behind {
		return
	}
	if t.tape.log.Room() < int64(len(p))+termlog.RecordOverhead {
		t.turnTape(snapshot{Outline: t.outline}) // in the middle of a sequence that does not end
	}
	t.tapeWrite(termlog.Data, at, p)
}

// tapeWrite records something.
func (t *Terminal) tapeWrite(kind termlog.Kind, at time.Time, payload []byte) {
	tp := t.tape
	if tp == nil || tp.behind || tp.log == nil {
		return
	}
	if tp.log.Room() < int64(len(payload))+termlog.RecordOverhead {
		return // a command among very many in one piece of output
	}
	_, err := tp.log.Append(kind, at, payload)
	tp.exit = tp.exit || kind == termlog.Exit
	t.taped(err)
}

// taped notes how a write went.
func (t *Terminal) taped(err error) {
	tp := t.tape
	if err != nil {
		tp.behind, tp.retry = true, t.host.now().Add(journalRetry)
		if !tp.told {
			t.host.log.Warn("a recording waits until it can be written", "name", t.name,
				"recording", tp.rec.id, "err", err)
		}
		tp.told = true
		return
	}
	tp.told = false
	if t.host.tooManyRecordings(t.host.recordings.grown(tp.rec, tp.log.Size())) {
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
	if tp.log.Room() < tapeReserve && !t.term.Screen().InSequence() {
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
		text, _ := json.Marshal(t.end) // plain fields: it cannot fail
		t.tapeWrite(termlog.Exit, t.end.At, text)
	}
	t.tape = nil
	if tp.log != nil {
		tp.log.Close()
	}
	t.host.recordings.end(tp.rec, t.host.now())
	t.listChanged()
}

// catchUp copies from the terminal's log what the recording lacks. Where that does not have it
// either, the recording says so and goes on with the screen as it is.
func (t *Terminal) catchUp() {
	tp, now := t.tape, t.host.now()
	if now.Before(tp.retry) {
		return
	}
	if tp.log == nil {
		log, err := t.host.recordings.reopen(tp.rec)
		if err != nil {
			t.taped(err)
			return
		}
		tp.log = log
	}
	t.loadLocked()
	c := copier{t: t, from: tp.log.End()}
	_ = tp.log.Read(c.from, func(r termlog.Record) bool { c.last = r.Time; return true })
	tp.behind = false
	err := t.journal.records(c.copy)
	if errors.Is(err, errNotLogged) {
		c.gap(t.journal.position(), now, "not kept")
		err = nil
	}
	if err == nil && !t.tape.behind && c.lost {
		s := t.drawnTape()
		t.tapeWrite(termlog.Checkpoint, now, s.append(nil))
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
	if need := int64(len(r.Payload)) + termlog.RecordOverhead; t.tape.log.Room() < need {
		if t.turnTape(snapshot{Outline: t.outline}); t.tape.behind {
			return false
		}
	}
	have := t.tape.log.End()
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
		if isCommand(decodeEvent(r.Payload)) {
			t.tapeWrite(r.Kind, r.Time, r.Payload)
		}
	}
	return !t.tape.behind
}

// gap says that the recording lacks what comes before a position.
func (c *copier) gap(to int64, at time.Time, why string) {
	tp := c.t.tape
	c.lost = true
	c.t.taped(tp.log.Skip(max(to-tp.log.End(), 0), at, why))
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
