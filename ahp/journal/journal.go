package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"termhost/ptypool"
	"termhost/ptypool/keeper"
	"termhost/ptypool/statefile"
	"termhost/ptypool/termlog"
)

// Journal keeps one terminal on disk: a folder with a description and a log.
//
// Output that a keeper has in a [keeper.Landing] may be deferred: see [Journal.Defer]. All methods
// but Defer, Output and those that say so write it first, so deferring shows nowhere but in the
// times of output in the log, which may be up to deferTime early.
//
// A method that writes returns an error only once for each reason. If the disk fails, the journal
// keeps the description that could not be written and counts the output that is missing, and
// [Journal.Retry] writes both when the disk works again.
//
// All methods may be called concurrently except Begin, Continue and Conclude, which come before the
// journal is shared, and Defer and Output, which nobody else may call meanwhile. The zero Journal
// keeps nothing.
type Journal struct {
	// Failed gets the errors of writing deferred output. It is called without the journal's lock,
	// by the goroutine that has called a method, or by one of the journal's. nil: they are dropped.
	Failed func(error)

	dir    string // "": nothing is kept
	size   int64  // of the log in bytes, at most; 0: only the description is kept
	memory bool   // the log is in memory that is shared with a keeper

	failing   atomic.Pointer[string] // why nothing can be written now; nil: it can
	printed   atomic.Int64           // how much the terminal has printed, in bytes
	wants     atomic.Bool            // see CheckpointDue
	described atomic.Bool            // a description is on disk

	next     keeper.Batch // what Output gets next, if isNext; of Defer's and Output's caller
	isNext   bool
	deferred keeper.Unlogged
	timer    *time.Timer // has deferred output written; nil: none is deferred

	mu          sync.Mutex   // no lock but that of a history.Cache is taken while it is held
	log         *termlog.Log // nil: there is none, or it is closed
	reached     int64        // up to where the output has been logged, or is missed
	missed      int64        // how much of the last of it is not in the log
	untold      error        // for Failed
	due         bool         // a checkpoint should be logged
	over        bool         // the terminal has exited
	description []byte       // the one that could not be written; nil: it was written
	removed     bool
}

// Place is where a log is kept. The zero Place: nowhere.
type Place struct {
	Size   int64 // in bytes, at most
	Memory bool  // it is in memory that is shared with a keeper, and not on disk
}

// OnDisk returns how large the log is on disk, in bytes; 0: there is none.
func (p Place) OnDisk() int64 {
	if p.Memory {
		return 0
	}
	return p.Size
}

// Begin makes the folder dir, from a spare if there is one, with a description and an empty log.
func (j *Journal) Begin(dir string, log Place, spares *Spares, d *Description) error {
	ready := spares.use(dir, log.OnDisk())
	j.lock()
	defer j.unlock()
	j.dir, j.size, j.memory, j.due = dir, log.Size, log.Memory, true
	j.log, j.description = ready, d.Encode()
	return j.fail(j.resume(d.Created))
}

// Continue takes over what [Restore] has found of a running terminal. log is the place of a new log
// if r has none. An unreadable log is set aside; the error says that this has failed.
func (j *Journal) Continue(r *Remains, log Place) (err error) {
	j.lock()
	defer j.unlock()
	if r.Log == nil {
		err = setLogAside(r.Dir)
		if log.Memory {
			log.Size = 0 // the keeper could not share a new one
		}
	} else {
		j.reached = r.Log.End()
		j.printed.Store(j.reached)
	}
	j.dir, j.size, j.memory = r.Dir, log.Size, r.Memory
	j.described.Store(!r.FromKeeper)
	j.log, j.due = r.Log, r.Damaged // the screen does not follow from a damaged log
	return err
}

// Conclude takes over what [Restore] has found of a terminal that has ended.
func (j *Journal) Conclude(r *Remains) {
	j.lock()
	defer j.unlock()
	j.dir, j.over = r.Dir, true
}

// resume writes what could not be written before, if anything.
func (j *Journal) resume(at time.Time) error {
	if j.dir == "" || j.removed {
		return nil
	}
	if j.description != nil {
		if err := os.MkdirAll(j.dir, 0o700); err != nil {
			return err
		}
		err := statefile.Replace(filepath.Join(j.dir, descriptionFile), j.description)
		if err != nil {
			return err
		}
		j.description = nil
		j.described.Store(true)
	}
	if j.log == nil && j.size > 0 && !j.over {
		log, err := j.newLog()
		if err != nil {
			return err
		}
		j.log, j.missed = log, j.reached
	}
	if j.log != nil && j.missed > 0 {
		if err := j.log.Skip(j.missed, at, j.reason()); err != nil {
			return err
		}
		j.missed, j.due = 0, true
	}
	if j.log != nil && j.over {
		defer func() { j.log = nil }()
		return j.log.Close()
	}
	return nil
}

func (j *Journal) newLog() (*termlog.Log, error) {
	if j.memory {
		return termlog.InMemory(j.size)
	}
	return termlog.Create(j.dir, j.size)
}

// fail records the result of a write, and returns err if it is the first of its kind.
func (j *Journal) fail(err error) error {
	if err == nil {
		j.failing.Store(nil)
		return nil
	}
	why := "the disk cannot be written"
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		why = "disk full"
	}
	if was := j.failing.Swap(&why); was != nil && *was == why {
		return nil
	}
	return fmt.Errorf("a terminal's output is not kept: its journal cannot be written: %w", err)
}

// Keep returns what a keeper needs to continue the log.
func (j *Journal) Keep() ptypool.Keep {
	j.lock()
	defer j.unlock()
	if j.dir == "" || j.size == 0 {
		return ptypool.Keep{}
	}
	dir, err := filepath.Abs(j.dir)
	if err != nil {
		return ptypool.Keep{}
	}
	k := ptypool.Keep{
		ID: filepath.Base(dir), LogEnd: j.Position, Exit: filepath.Join(dir, exitFile),
		Deferred: j,
	}
	if j.timer == nil {
		j.timer = time.AfterFunc(deferTime, j.Flush)
		j.timer.Stop() // until output is deferred
	}
	switch {
	case !j.memory:
		k.Log = dir
	case j.log != nil:
		k.Memory.Log = j.log.Files()
	}
	return k
}

// Position returns how much the terminal has printed, in bytes, deferred output included.
func (j *Journal) Position() int64 { return j.printed.Load() }

// NotKept returns why output that should be kept cannot be written now; "": it is written. Deferred
// output counts when it is written.
func (j *Journal) NotKept() string {
	if why := j.failing.Load(); why != nil {
		return *why
	}
	return ""
}

// reason is NotKept for a Gap.
func (j *Journal) reason() string {
	if why := j.NotKept(); why != "" {
		return why
	}
	return "not kept"
}

// Retry retries writes that have failed.
func (j *Journal) Retry(at time.Time) {
	j.lock()
	defer j.unlock()
	if j.failing.Load() != nil {
		_ = j.fail(j.resume(at)) // the caller has had the error already
	}
}

// Remove hides the terminal from the next host, and returns the folder to delete; "": there is
// none.
func (j *Journal) Remove() (folder string) {
	j.lock()
	defer j.unlock()
	if j.dir == "" || j.removed {
		return ""
	}
	j.removed, j.over = true, true
	if j.log != nil {
		j.log.Close()
		j.log = nil
	}
	gone := j.dir + goneSuffix
	if os.Rename(j.dir, gone) != nil {
		return j.dir
	}
	return gone
}
