package journal

import (
	"errors"
	"path/filepath"
	"time"

	"termhost/ptypool/statefile"
	"termhost/ptypool/termlog"
)

// logs reports whether there is, or should be, a log that grows.
func (j *Journal) logs() bool { return !j.over && (j.size > 0 || j.log != nil) }

func (j *Journal) append(kind termlog.Kind, at time.Time, payload []byte) error {
	turned, err := j.log.Append(kind, at, payload)
	j.due = j.due || turned
	return err
}

// Record logs a record of another kind at its place in the output. A record that cannot be written
// is dropped: the next checkpoint has its effect.
func (j *Journal) Record(kind termlog.Kind, at time.Time, payload []byte) error {
	j.lock()
	defer j.unlock()
	return j.record(kind, at, payload)
}

func (j *Journal) record(kind termlog.Kind, at time.Time, payload []byte) error {
	if !j.logs() {
		return nil
	}
	err := j.resume(at)
	if err == nil {
		err = j.append(kind, at, payload)
	}
	if err != nil && !errors.Is(err, termlog.ErrTooLarge) {
		j.due = true
		return j.fail(err)
	}
	return j.fail(nil)
}

// CheckpointDue reports whether a checkpoint should be logged. It does not write deferred output.
func (j *Journal) CheckpointDue() bool { return j.wants.Load() }

// Checkpoint logs a checkpoint. One that is too large for a segment is left out.
func (j *Journal) Checkpoint(s *Snapshot, at time.Time) error {
	payload := s.Encode()
	j.lock()
	defer j.unlock()
	err := j.record(termlog.Checkpoint, at, payload)
	j.due = j.missed > 0 // a segment that the checkpoint has begun needs no other one
	return err
}

// End closes the log of a terminal that has exited, with e as its last record. If e cannot be
// logged, the description that describe returns has it.
func (j *Journal) End(e *Ending, describe func() *Description) error {
	j.lock()
	defer j.unlock()
	exit := e.Encode()
	told := j.record(termlog.Exit, e.At, exit)
	if j.dir == "" {
		return nil
	}
	// If that fails, as on a full disk, only the log has the status.
	_ = statefile.Replace(filepath.Join(j.dir, exitFile), exit)
	if j.over = true; j.log == nil || j.memory || j.missed > 0 || told != nil {
		j.description = describe().Encode()
	}
	return errors.Join(told, j.fail(j.resume(e.At)))
}

// trailFile is in a terminal's folder, beside the log.
const trailFile = "trail"

// KeepTrail stores which serverSeqs the log's records had: see [store.Trail]. If that fails, as on
// a full disk, the terminal's subscribers are resynchronised after a restart.
func (j *Journal) KeepTrail(trail []byte) {
	j.lock()
	defer j.unlock()
	if j.dir != "" && !j.removed && j.size > 0 {
		_ = statefile.Replace(filepath.Join(j.dir, trailFile), trail)
	}
}

// Logged returns the position that the log has reached; 0: there is none.
func (j *Journal) Logged() int64 {
	j.lock()
	defer j.unlock()
	if j.log == nil {
		return 0
	}
	return j.log.End()
}

// Describe replaces the description, unless the journal was removed.
func (j *Journal) Describe(d *Description, at time.Time) error {
	j.lock()
	defer j.unlock()
	if j.dir == "" || j.removed {
		return nil
	}
	j.over, j.description = d.End != nil, d.Encode()
	return j.fail(j.resume(at))
}

// Described reports whether there is a description on disk. It does not write deferred output.
func (j *Journal) Described() bool { return j.described.Load() }
