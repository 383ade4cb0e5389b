package journal

import (
	"errors"
	"time"

	"termhost/ptypool/keeper"
	"termhost/ptypool/termlog"
)

// deferTime is how long output may be deferred, if nothing else has it written: long enough that
// what a program prints in small pieces is written at once, and short, because the output is lost
// if host and keeper are killed at once.
const deferTime = 5 * time.Millisecond

// Defer has the journal take over b, of which the next Output gets the bytes: see
// [ptypool.DeferredLog]. It is written when the landing is full, after deferTime, or before
// anything else is written or read.
func (j *Journal) Defer(b keeper.Batch) { j.next, j.isNext = b, true }

// Output logs output. p is not retained, unless it was deferred.
func (j *Journal) Output(p []byte, at time.Time) error {
	if j.isNext {
		j.isNext = false
		j.printed.Add(int64(len(p)))
		if j.deferred.Add(j.next, at) {
			j.timer.Reset(deferTime)
		}
		return nil
	}
	j.lock()
	defer j.unlock()
	if j.logs() {
		j.printed.Add(int64(len(p)))
	}
	return j.write(p, at)
}

// Flush writes deferred output. Its errors go to Failed.
func (j *Journal) Flush() {
	j.lock()
	j.unlock()
}

// lock locks the journal for everything but Output, and writes deferred output.
func (j *Journal) lock() {
	j.mu.Lock()
	for _, w := range j.deferred.Take() {
		w.Place(j.reached)
		j.untold = errors.Join(j.untold, j.write(w.Bytes(), w.At))
		w.Free()
	}
}

// unlock undoes lock, and tells what has failed in it.
func (j *Journal) unlock() {
	j.wants.Store(j.due && j.log != nil && j.missed == 0)
	err := j.untold
	j.untold = nil
	j.mu.Unlock()
	if err != nil && j.Failed != nil {
		j.Failed(err)
	}
}

// write writes output to the log.
func (j *Journal) write(p []byte, at time.Time) error {
	if !j.logs() {
		return nil
	}
	err := j.resume(at)
	j.reached += int64(len(p))
	if err == nil {
		err = j.append(termlog.Data, at, p)
	}
	if err == nil {
		return j.fail(nil)
	}
	j.missed = j.reached
	if j.log != nil {
		j.missed -= j.log.End()
	}
	return j.fail(err)
}
