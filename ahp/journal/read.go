package journal

import (
	"cmp"
	"errors"
	"math"

	"termhost/ptypool/termlog"
)

// ErrNotLogged says that a terminal has no log, or that its last output is not in it.
var ErrNotLogged = errors.New("journal: the terminal's output is not in its log")

// WholeLog reads all records of a log: see [Journal.Records].
func WholeLog(start termlog.Spot) termlog.Spot { return start }

// Records calls visit with the log's records, oldest first, until visit returns false. from gets
// the log's start and returns where to begin; it is called with the journal's lock held. The
// terminal may print meanwhile; that output is left out. Payloads are valid only during the call.
// It fails with ErrNotLogged if the log does not hold the terminal's last output.
func (j *Journal) Records(
	from func(start termlog.Spot) termlog.Spot, visit func(termlog.Record) bool,
) error {
	r := reader{j: j, from: from, end: math.MaxInt64}
	defer func() {
		if r.closed != nil {
			r.closed.Close()
		}
	}()
	for {
		more, err := r.next()
		if err != nil || !more || !r.log.Each(func(rec termlog.Record) bool {
			return rec.Pos <= r.end && visit(rec)
		}) {
			return err
		}
	}
}

// reader reads a journal's log piece by piece. The journal is not locked in between.
type reader struct {
	j      *Journal
	from   func(start termlog.Spot) termlog.Spot
	log    *termlog.Reader // nil: no piece has been read
	end    int64           // of the output when the first piece was read
	closed *termlog.Log    // the reader's own log of a terminal that has exited; nil: it runs
}

func (r *reader) next() (more bool, err error) {
	j := r.j
	j.lock()
	defer j.unlock()
	if j.dir == "" || j.removed || j.missed > 0 {
		return false, ErrNotLogged
	}
	log := cmp.Or(r.closed, j.log)
	if log == nil {
		if log, err = termlog.Open(j.dir); err != nil {
			return false, errors.Join(ErrNotLogged, err)
		}
		if r.closed = log; log.Damage() != "" || log.End() < j.reached {
			return false, ErrNotLogged // the host still has the last output
		}
	}
	if r.log == nil {
		r.log = termlog.NewReader(r.from(log.Start()))
	}
	r.end = min(r.end, log.End())
	return r.log.Next(log)
}
