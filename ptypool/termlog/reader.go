package termlog

import "math"

// Spot is the place of a record in a log. It stays valid when the log is closed and opened again,
// until the record is overwritten. The zero Spot is the log's beginning, wherever that is.
type Spot struct {
	generation uint64 // of the segment
	offset     int64  // in its file
}

// Less reports whether s comes before o in their log.
func (s Spot) Less(o Spot) bool {
	return s.generation < o.generation || s.generation == o.generation && s.offset < o.offset
}

// Start returns the place of the oldest record in the log. While it stays the same, no record has
// been overwritten.
func (l *Log) Start() Spot {
	s := &l.segments[l.ordered()[0]]
	return Spot{s.generation, segmentHeader}
}

// pieceBytes is how much a Reader copies at a time, in bytes, unless a record is longer.
const pieceBytes = 1 << 20

// Reader reads a log in pieces. A piece may be visited while the log is written. Records that are
// overwritten before they are read are left out: positions jump.
type Reader struct {
	at      Spot // of the next record
	buf     []byte
	records []byte // the piece, from that record on
	want    int64  // the least size of the next piece, if the segment has as much
	last    bool   // the piece ends where its segment ended
	full    bool   // the segment was complete: other records may follow a damaged one
	over    bool   // the rest of the segment is not read
	end     int64  // the position after the last record
}

// NewReader returns a Reader that begins at a Spot.
func NewReader(from Spot) *Reader { return &Reader{at: from} }

// Next copies the next piece of l. more is false after the last one; what was appended since that
// was read is left out. Payloads of earlier records are no longer valid.
func (r *Reader) Next(l *Log) (more bool, err error) {
	for _, i := range l.ordered() {
		s := &l.segments[i]
		if s.generation < r.at.generation || s.generation == r.at.generation && r.over {
			continue
		}
		if s.generation > r.at.generation {
			r.at = Spot{s.generation, segmentHeader}
		}
		r.over, r.full = false, i != l.newest || l.firstRound(i)
		r.records, r.last, err = s.readPart(r.at.offset, max(r.want, pieceBytes), r.buf)
		r.buf, r.want = r.records, 0
		return err == nil, err
	}
	return false, nil
}

// Each calls visit with every record of the piece until visit returns false, and reports whether it
// never did. Payloads are valid until the next call of Next.
func (r *Reader) Each(visit func(Record) bool) bool {
	for {
		rec, n, ok := parseRecord(r.records, r.at.generation)
		if !ok {
			skip := r.damaged()
			if skip == 0 {
				return true
			}
			r.skip(skip)
			continue
		}
		r.skip(n)
		r.end = rec.end()
		rec.next = r.at
		if !visit(rec) {
			return false
		}
	}
}

func (r *Reader) skip(n int) {
	r.records = r.records[n:]
	r.at.offset += int64(n)
}

// damaged is called where there is no intact record. It returns how many bytes to skip; 0: the
// piece ends here.
func (r *Reader) damaged() (skip int) {
	p := r.records
	switch {
	case r.last:
	case len(p) < recordHeader:
		return 0
	case recordLength(p) > len(p):
		r.want = int64(recordLength(p))
		return 0
	}
	if r.full {
		if i := findRecord(p, r.at.generation, r.end); i < len(p) {
			return i
		}
		if !r.last {
			r.want = math.MaxInt64
			return 0
		}
	}
	r.over = true
	return 0
}

// IsZero reports whether s is the zero Spot.
func (s Spot) IsZero() bool { return s == Spot{} }
