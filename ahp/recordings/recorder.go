package recordings

import (
	"log/slog"
	"time"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/ptypool/termlog"
)

// Env is a Recorder's terminal. Its methods are called with the terminal's lock held.
type Env interface {
	// Begins describes a recording of the terminal that begins now, but for About.By, and returns
	// how large its file may get, in bytes.
	Begins() (about About, size int64)
	// Checkpoint returns the present of the terminal, with its screen if that is to be drawn.
	Checkpoint(drawn bool) journal.Snapshot
	// InSequence reports whether the output so far ends within a control sequence.
	InSequence() bool
	// Position returns how much the terminal has printed, in bytes.
	Position() int64
	// Log calls visit with the records of the terminal's log, oldest first, until visit returns
	// false. Payloads are valid only during the call. It fails with [journal.ErrNotLogged] if the
	// log does not hold the terminal's last output.
	Log(visit func(termlog.Record) bool) error
	// Grown is called when the recording has grown.
	Grown()
	// Ended is called when the terminal is not recorded any more.
	Ended()
}

// Recorder makes a terminal's recording: output, sizes, commands and the exit go into it when they
// go into the terminal's log. When a write fails, or the host is restarted, the recording is
// behind; its missing part is copied from the terminal's log later.
//
// The exported fields must be set before any method is called. The terminal's lock guards a
// Recorder, and is held when its methods are called.
type Recorder struct {
	Env   Env
	Store *Store
	Log   *slog.Logger
	Clock func() time.Time

	rec    *Recording // nil: the terminal is not recorded
	w      *Writer    // nil: it has to be opened
	behind bool
	retry  time.Time // when it may be tried again
	told   bool      // of the failure
	exit   bool      // the exit is recorded
}

const (
	// reserve, in bytes, is the room that a file must have left after a piece of output: for
	// another one (64 KiB), and its records. With less the next file is begun.
	reserve = 80 << 10
	// retryTime is the pause between two attempts to write a recording.
	retryTime = time.Second
)

// Recording returns the recording that is being made; nil: the terminal is not recorded.
func (rc *Recorder) Recording() *Recording { return rc.rec }

// Behind reports whether the recording waits until it can be written.
func (rc *Recorder) Behind() bool { return rc.behind }

// Begin begins a recording, for a principal's ID, with a checkpoint of the present.
func (rc *Recorder) Begin(by string, s journal.Snapshot) error {
	return rc.create(by, s, rc.Env.Position())
}

// Restore has a recording go on that an earlier host has begun. It returns false if another one
// does.
func (rc *Recorder) Restore(r *Recording) bool {
	if rc.rec != nil {
		return false
	}
	rc.rec, rc.behind = r, true
	return true
}

// create begins a file at a position of the output.
func (rc *Recorder) create(by string, s journal.Snapshot, first int64) error {
	about, size := rc.Env.Begins()
	about.By = by
	w, err := rc.Store.Create(about, size, first)
	if err != nil {
		return err
	}
	if int64(len(s.Redraw)) > size/4 {
		s.Redraw = nil
	}
	rc.stop()
	rc.rec, rc.w = w.Recording, w
	rc.Write(termlog.Checkpoint, about.Began, s.Encode())
	return nil
}

// stop forgets the recording.
func (rc *Recorder) stop() {
	*rc = Recorder{Env: rc.Env, Store: rc.Store, Log: rc.Log, Clock: rc.Clock}
}

// turn continues the recording in another file, which begins with s. If that file cannot be
// created, the recording is behind.
func (rc *Recorder) turn(s journal.Snapshot) {
	was, w := rc.rec, rc.w
	if err := rc.create(was.About().By, s, w.End()); err != nil {
		rc.written(err)
		return
	}
	w.Close()
	rc.Store.End(was, rc.Clock())
	rc.Log.Info("a recording goes on in another file", "name", rc.rec.About().Terminal,
		"recording", was.ID(), "next", rc.rec.ID())
}

// EndFile has the recording go on in another file, if it is r and not behind.
func (rc *Recorder) EndFile(r *Recording) {
	if rc.rec == r && !rc.behind {
		rc.turn(rc.Env.Checkpoint(true))
	}
}

// Output records output, before it is parsed.
func (rc *Recorder) Output(p []byte, at time.Time) {
	if rc.rec == nil || rc.behind {
		return
	}
	if !rc.w.Fits(len(p)) {
		// In the middle of a sequence that does not end.
		rc.turn(rc.Env.Checkpoint(false))
	}
	rc.Write(termlog.Data, at, p)
}

// Keep is called when a piece of output has been handled, and the screen shows the recorded state.
// It begins the next file when this one is nearly full.
func (rc *Recorder) Keep() {
	switch {
	case rc.rec == nil:
	case rc.behind:
		rc.CatchUp()
	case !rc.w.Fits(reserve) && !rc.Env.InSequence():
		rc.turn(rc.Env.Checkpoint(true))
	}
}

// Write writes a record, unless that is a command among very many in one piece of output, for
// which there is no room.
func (rc *Recorder) Write(kind termlog.Kind, at time.Time, payload []byte) {
	if rc.rec == nil || rc.behind || rc.w == nil {
		return
	}
	rc.exit = rc.exit || kind == termlog.Exit
	rc.written(rc.w.Write(kind, at, payload))
}

// written handles the result of a write: after an error the recording is behind.
func (rc *Recorder) written(err error) {
	if err == nil {
		rc.told = false
		rc.Env.Grown()
		return
	}
	rc.behind, rc.retry = true, rc.Clock().Add(retryTime)
	if !rc.told {
		about, _ := rc.Env.Begins() // with the present NAME
		rc.Log.Warn("a recording waits until it can be written", "name", about.Terminal,
			"recording", rc.rec.ID(), "err", err)
	}
	rc.told = true
}

// Finish ends the recording, with the terminal's ending; nil: the terminal still runs.
func (rc *Recorder) Finish(end *journal.Ending) {
	if rc.rec == nil {
		return
	}
	if rc.behind {
		rc.retry = time.Time{}
		rc.CatchUp()
	}
	if end != nil && !rc.exit {
		rc.Write(termlog.Exit, end.At, end.Encode())
	}
	r, w := rc.rec, rc.w
	rc.stop()
	if w != nil {
		w.Close()
	}
	rc.Store.End(r, rc.Clock())
	rc.Env.Ended()
}

// IsCommand reports whether an action is recorded.
func IsCommand(a ahp.Action) bool {
	switch a.(type) {
	case ahp.TerminalCommandExecuted, ahp.TerminalCommandFinished:
		return true
	}
	return false
}
