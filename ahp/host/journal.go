package host

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"termhost/ptypool"
	"termhost/ptypool/termlog"
)

// journal is what is kept of one terminal on disk, for the next host: a folder of its own with a
// description, see [meta], and the log of what it printed and what happened meanwhile. What is
// logged is in the kernel's hands before anybody sees what comes of it, so that a host that is
// killed loses nothing that was seen.
//
// A disk that is full or fails does not hold the terminal up. It goes on without being kept until
// the disk takes something again, and then a Gap says how much is missing.
//
// The zero journal keeps nothing.
type journal struct {
	dir     string // "": nothing is kept
	logSize int64  // of the log in bytes, at most; 0: only the description is kept
	memory  bool   // the log is in memory, which a keeper has as well

	failing atomic.Pointer[string] // why nothing is kept at the moment; nil: it is

	mu      sync.Mutex   // no other lock is taken while it is held
	log     *termlog.Log // nil: there is none, or it is closed
	printed int64        // how much the terminal has printed, in bytes
	missed  int64        // how much of the end of it is not in the log
	due     bool         // a checkpoint is
	over    bool         // the terminal has exited
	meta    []byte       // the description, which could not be written; nil: it was
	removed bool
}

const (
	termsDir = "terms" // in the state folder
	metaFile = "meta"  // in the folder of a terminal
	exitFile = "exit"  // likewise: how a terminal ended whose log was in memory, by its keeper

	newSuffix = ".new" // ends the name of a file that is being written

	// goneSuffix and damagedSuffix end the names of folders of terminals that are being removed,
	// and that cannot be read.
	goneSuffix    = ".gone"
	damagedSuffix = ".damaged"
)

// begin makes the folder, with a description and an empty log. log is that log if there is one
// already; it is the journal's then.
func (j *journal) begin(
	dir string, logSize int64, memory bool, log *termlog.Log, description []byte, at time.Time,
) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.dir, j.logSize, j.memory, j.meta, j.due = dir, logSize, memory, description, true
	j.log = log
	return j.fail(j.resume(at))
}

// goOn takes over the folder and the log of an earlier host; log may be nil.
func (j *journal) goOn(dir string, logSize int64, memory bool, log *termlog.Log) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.dir, j.logSize, j.memory, j.log = dir, logSize, memory, log
	if log != nil {
		j.printed = log.End()
	}
}

// resume brings on disk what could not be written before. It does nothing if all is there.
func (j *journal) resume(at time.Time) error {
	if j.dir == "" || j.removed {
		return nil
	}
	if j.meta != nil {
		if err := os.MkdirAll(j.dir, 0o700); err != nil {
			return err
		}
		if err := replaceFile(filepath.Join(j.dir, metaFile), j.meta); err != nil {
			return err
		}
		j.meta = nil
	}
	if j.log == nil && j.logSize > 0 && !j.over {
		log, err := j.newLog()
		if err != nil {
			return err
		}
		j.log, j.missed = log, j.printed
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

func (j *journal) newLog() (*termlog.Log, error) {
	if j.memory {
		return termlog.InMemory(j.logSize)
	}
	return termlog.Create(j.dir, j.logSize)
}

// fail notes how a write went, and returns err if it is the first that failed.
func (j *journal) fail(err error) error {
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
	return fmt.Errorf("what a terminal prints is not kept, because of its journal: %w", err)
}

// keep returns what a keeper is to know of the journal, so that it can go on with the log.
func (j *journal) keep() ptypool.Keep {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.dir == "" || j.logSize == 0 {
		return ptypool.Keep{}
	}
	dir, err := filepath.Abs(j.dir)
	if err != nil {
		return ptypool.Keep{}
	}
	k := ptypool.Keep{ID: filepath.Base(dir), LogEnd: j.position}
	switch {
	case !j.memory:
		k.Log = dir
	case j.log != nil:
		k.Memory, k.Exit = j.log.Files(), filepath.Join(dir, exitFile)
	}
	return k
}

// position returns how much the terminal has printed, in bytes.
func (j *journal) position() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.printed
}

// records calls visit with what the log holds, oldest first, until visit returns false. The
// terminal may go on meanwhile: what it prints then is left out. Payloads are valid only during the
// call. It fails with errNotLogged if the log does not hold what the terminal printed last.
func (j *journal) records(visit func(termlog.Record) bool) error {
	r := journalReader{j: j, end: math.MaxInt64}
	defer func() {
		if r.closed != nil {
			r.closed.Close()
		}
	}()
	for {
		more, err := r.next()
		if err != nil || !more || !r.piece.Each(func(rec termlog.Record) bool {
			return rec.Pos <= r.end && visit(rec)
		}) {
			return err
		}
	}
}

// journalReader reads a journal's log piece by piece. The journal is not locked in between.
type journalReader struct {
	j      *journal
	piece  termlog.Piece
	end    int64        // of what was printed when the first piece was read
	closed *termlog.Log // of a terminal that has exited: the reader's own; nil: there is none
}

func (r *journalReader) next() (more bool, err error) {
	j := r.j
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.dir == "" || j.removed || j.missed > 0 {
		return false, errNotLogged
	}
	log := cmp.Or(r.closed, j.log)
	if log == nil {
		if log, err = termlog.Open(j.dir); err != nil {
			return false, errors.Join(errNotLogged, err)
		}
		r.closed = log
	}
	r.end = min(r.end, log.End())
	r.piece, more, err = log.Next(r.piece)
	return more, err
}

// errNotLogged says that there is no log of what a terminal printed.
var errNotLogged = errors.New("host: what the terminal printed is not in its log")

// notKept returns why what the terminal prints is not kept at the moment, though it should be; "":
// it is kept.
func (j *journal) notKept() string {
	if why := j.failing.Load(); why != nil {
		return *why
	}
	return ""
}

// reason is notKept for a Gap.
func (j *journal) reason() string {
	if why := j.notKept(); why != "" {
		return why
	}
	return "not kept"
}

// output logs what was printed, which is not kept. It fails once for every reason.
func (j *journal) output(p []byte, at time.Time) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.logSize == 0 && j.log == nil || j.over {
		return nil
	}
	err := j.resume(at)
	j.printed += int64(len(p))
	if err == nil {
		var turned bool
		turned, err = j.log.Append(termlog.Data, at, p)
		j.due = j.due || turned
	}
	if err == nil {
		return j.fail(nil)
	}
	j.missed = j.printed
	if j.log != nil {
		j.missed -= j.log.End()
	}
	return j.fail(err)
}

// record logs something else at its place in the output. If it cannot be written it is left out:
// the next checkpoint has what comes of it.
func (j *journal) record(kind termlog.Kind, at time.Time, payload []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.over || j.logSize == 0 && j.log == nil {
		return nil
	}
	err := j.resume(at)
	if err == nil {
		var turned bool
		turned, err = j.log.Append(kind, at, payload)
		j.due = j.due || turned
	}
	if err != nil && !errors.Is(err, termlog.ErrTooLarge) {
		j.due = true
		return j.fail(err)
	}
	return j.fail(nil)
}

// checkpointDue reports whether a checkpoint should be logged.
func (j *journal) checkpointDue() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.due && j.log != nil && j.missed == 0
}

// checkpoint logs a checkpoint. One that is too large for a segment is left out.
func (j *journal) checkpoint(at time.Time, payload []byte) error {
	j.mu.Lock()
	j.due = false // a segment that is begun for the checkpoint begins with it
	j.mu.Unlock()
	err := j.record(termlog.Checkpoint, at, payload)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.due = j.missed > 0
	return err
}

// end closes the log of a terminal that has exited. exit is the record of that. Where it cannot be
// logged the description, which describe makes, says how the terminal ended.
func (j *journal) end(exit []byte, at time.Time, describe func() []byte) error {
	told := j.record(termlog.Exit, at, exit)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.dir == "" {
		return nil
	}
	if j.over = true; j.log == nil || j.memory || j.missed > 0 || told != nil {
		j.meta = describe()
	}
	return errors.Join(told, j.fail(j.resume(at)))
}

// describe replaces the description of a terminal that has exited.
func (j *journal) describe(description []byte, at time.Time) error {
	return j.replace(description, true, at)
}

// replace replaces the description of a terminal; over: it has exited.
func (j *journal) replace(description []byte, over bool, at time.Time) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.dir == "" {
		return nil
	}
	j.over, j.meta = over, description
	return j.fail(j.resume(at))
}

// retry tries again what has failed before.
func (j *journal) retry(at time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failing.Load() != nil {
		_ = j.fail(j.resume(at)) // it was told when it began
	}
}

// remove has the next host not know of the terminal any more. It returns the folder that is to be
// deleted; "": there is none.
func (j *journal) remove() (folder string) {
	j.mu.Lock()
	defer j.mu.Unlock()
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

// replaceFile writes a file that only this user may read, in one step.
func replaceFile(path string, text []byte) error {
	tmp := path + newSuffix
	err := writeOver(tmp, text)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		os.Remove(tmp)
	}
	return err
}

// writeOver writes a file, which may be there. An empty one is not truncated: for a file system
// that is as much work as to make it.
func writeOver(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err == nil && st.Size() > 0 {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.Write(text)
	}
	return errors.Join(err, f.Close())
}

// bootID returns what changes when the machine is started anew; "": it is not known.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(b[:min(len(b), 36)])
}

// readMeta reads a terminal's description.
func readMeta(dir string) (meta, error) {
	var m meta
	text, err := os.ReadFile(filepath.Join(dir, metaFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, errors.New("it has no description")
	case err != nil:
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("its description is damaged: %w", err)
	}
	return m, m.check()
}
