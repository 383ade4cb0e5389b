package journal

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"termhost/ptypool/keeper"
	"termhost/ptypool/statefile"
	"termhost/ptypool/termlog"
)

// Remains are what an earlier host has left of a terminal.
type Remains struct {
	Dir string // the terminal's folder
	// Description has the outline and the ending that the log has, if that has newer ones.
	Description Description
	Log         *termlog.Log // nil: the terminal has ended, or there is no log that can be read
	Memory      bool         // the log is in memory
	FromKeeper  bool         // the description is the keeper's: there is none on disk
	Trail       []byte       // what [Journal.KeepTrail] has kept; nil: nothing was
	Damaged     bool         // the log is, and the description that says so is not on disk yet
}

// Restore reads the folder of a terminal; kept is the keeper's child, or nil. at is the present
// time. An error says why it is no terminal's folder. Nobody else writes to the log; the caller
// closes it, or has [Journal.Continue] take it over.
func Restore(dir string, kept *keeper.Child, at time.Time) (*Remains, error) {
	d, err := readDescription(dir)
	fromKeeper := err != nil && kept != nil && len(kept.Note) > 0
	if fromKeeper {
		d = Description{}
		err = d.decode(kept.Note) // as it was at the beginning
	}
	if err != nil {
		return nil, err
	}
	r := &Remains{Dir: dir, Description: d, FromKeeper: fromKeeper}
	r.Log, r.Memory, err = openLog(dir, kept)
	if err == nil && d.End == nil {
		err = r.Log.Read(max(r.Log.First(), r.Log.End()-outlineReach), r.Description.follow)
		if err != nil {
			r.Close()
			return nil, err
		}
		r.Damaged = r.Description.Damage != d.Damage
	}
	if r.Description.End == nil {
		r.Description.End = readExit(dir)
	}
	if r.Description.End != nil {
		r.Trail, _ = statefile.Read(filepath.Join(dir, trailFile)) // there may be none
	}
	r.findDamage(err, kept != nil, at)
	if err := r.Description.check(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close closes the log, if there is one.
func (r *Remains) Close() {
	if r.Log != nil {
		r.Log.Close()
		r.Log = nil
	}
}

// openLog opens the log of a terminal, which a keeper may have in its memory.
func openLog(dir string, kept *keeper.Child) (log *termlog.Log, memory bool, err error) {
	if kept != nil {
		if segments := kept.Memory(); len(segments) > 0 {
			log, err = termlog.New(segments, termlog.MinSize)
			return log, true, err
		}
	}
	log, err = termlog.Open(dir)
	return log, false, err
}

// readExit returns how a terminal has ended, apart from its log, which may be damaged, or in memory
// that is gone; nil: that is not known.
func readExit(dir string) *Ending {
	text, err := statefile.Read(filepath.Join(dir, exitFile))
	if err != nil {
		return nil
	}
	return ParseEnding(text)
}

// outlineReach is how far back from the end of a log the outline is looked for, in bytes. Every
// segment has it near its beginning.
const outlineReach = 1 << 20

// follow brings the outline up to a record of the log.
func (d *Description) follow(rec termlog.Record) bool {
	switch rec.Kind {
	case termlog.Checkpoint:
		if s, ok := ParseSnapshot(rec.Payload); ok {
			d.Outline = s.Outline
		}
	case termlog.Resize:
		if cols, rows := termlog.Size(rec.Payload); cols > 0 && rows > 0 {
			d.Outline.Cols, d.Outline.Rows = cols, rows
		}
	case termlog.Event:
		ev, a := ParseEvent(rec.Payload)
		if ev.Owner != nil {
			d.Outline.Owner = ev.Owner
		}
		d.Outline.ApplyMissed(ev.Missed)
		if a != nil {
			d.Outline.Apply(a, ev, rec.Time)
		}
	case termlog.Gap:
		if string(rec.Payload) == termlog.Damaged && d.Damage == "" {
			d.Damage = "its keeper has found that" // and has said more in its own log
		}
	case termlog.Exit:
		if d.End == nil {
			d.End = ParseEnding(rec.Payload)
		}
	}
	return true
}

// findDamage looks at the log that was found, or at why there is none. If that is damaged it adds a
// Gap, and says so in the description.
func (r *Remains) findDamage(err error, kept bool, at time.Time) {
	d := &r.Description
	damage, missing := "", int64(0)
	switch {
	case r.Log != nil:
		damage = r.Log.Damage()
		if d.End != nil {
			missing = max(d.End.Logged-r.Log.End(), 0)
		}
		if damage == "" && missing > 0 {
			damage = "its end is missing"
		}
		if damage == "" && d.End == nil && !kept && r.Log.Unfinished() {
			damage = "it is cut off"
		}
	case !errors.Is(err, fs.ErrNotExist): // there may have been none, or it was in memory
		damage = err.Error()
	}
	if damage == "" {
		return
	}
	r.Damaged, d.Damage = true, damage
	if r.Log != nil { // a full disk is reported elsewhere
		if r.Log.End() == 0 { // so that the beginning is what is missing
			size := termlog.SizePayload(d.Outline.Cols, d.Outline.Rows)
			_, _ = r.Log.Append(termlog.Resize, at, size)
		}
		_ = r.Log.Skip(missing, at, termlog.Damaged)
	}
}
