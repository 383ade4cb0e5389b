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
	// Description has the newest outline and ending, from the log if it has newer ones.
	Description Description
	Log         *termlog.Log // nil: the terminal has exited, or no log can be read
	Memory      bool         // the log is in memory
	FromKeeper  bool         // the description comes from the keeper, because none is on disk
	Trail       []byte       // of [Journal.KeepTrail]; nil: none was kept
	Damaged     bool         // the log is damaged, and the description on disk does not say so yet
	Decisions   *Decisions   // the keeper's; nil: it has none
	Asks        int64        // see [Decided]; 0: unknown
}

// Restore reads the folder of a terminal. kept is the keeper's child, or nil; at is the present
// time. The error says why dir is not a terminal's folder. Nobody else may write to the log
// meanwhile. The caller closes the Remains, or passes them to [Journal.Continue].
func Restore(dir string, kept *keeper.Child, at time.Time) (*Remains, error) {
	d, err := readDescription(dir)
	unread, decided := err, d.Outline.Decided
	fromKeeper := err != nil && kept != nil && len(kept.Note) > 0
	if fromKeeper {
		d = Description{}
		err = d.decode(kept.Note) // as it was when the terminal was made
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
	if kept != nil {
		r.recall(kept.Decided(), unread, decided)
	}
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
	r.Decisions.Close()
	r.Decisions = nil
}

// openLog opens the log of a terminal, from the keeper's memory if it is there.
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

// readExit returns how a terminal has ended, from a file apart from the log, because the log may be
// damaged or lost; nil: unknown.
func readExit(dir string) *Ending {
	text, err := statefile.Read(filepath.Join(dir, exitFile))
	if err != nil {
		return nil
	}
	return ParseEnding(text)
}

// outlineReach is how far from the end of a log, in bytes, the search for the outline begins. Every
// segment has one near its beginning.
const outlineReach = 1 << 20

// follow updates the outline by a record of the log.
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
		d.Outline.ApplyStatus(ev.Status)
		d.Outline.ApplyWaits(ev.Waits)
		if ev.Pixels != nil {
			d.Outline.Pixels = *ev.Pixels
		}
		if ev.Clusters != nil {
			d.Outline.Clusters = *ev.Clusters
		}
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

// findDamage checks the log that was found, or err, the reason why there is none. It marks damage
// in the description, and as a Gap in the log.
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
	case !errors.Is(err, fs.ErrNotExist): // there may have been no log, or one in memory
		damage = err.Error()
	}
	if damage == "" {
		return
	}
	r.Damaged, d.Damage = true, damage
	if r.Log != nil { // a full disk is reported elsewhere
		if r.Log.End() == 0 { // so that the Gap stands for the beginning
			size := termlog.SizePayload(d.Outline.Cols, d.Outline.Rows)
			_, _ = r.Log.Append(termlog.Resize, at, size)
		}
		_ = r.Log.Skip(missing, at, termlog.Damaged)
	}
}
