package termlog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

const (
	// Segments is how many pieces a log has: with four, at least three quarters of its size are
	// kept at any time.
	Segments = 4
	// MinSize, in bytes, is the smallest log.
	MinSize = Segments * minSegment
	// minSegment holds the checkpoint of a screen of usual size, with room to spare.
	minSegment = 32 << 10
	// maxData, in bytes, is the most output in one record, if that is not more than half of a
	// segment; Append splits more.
	maxData = 64 << 10
)

// Errors of a Log.
var (
	// ErrTooLarge refuses a record that no segment can hold.
	ErrTooLarge = errors.New("termlog: the record is larger than a segment")
	// ErrClosed refuses what comes after Close.
	ErrClosed = errors.New("termlog: the log is closed")
)

// FormatError says that a log was written by a program that this one does not understand.
type FormatError struct{ Format int }

func (e *FormatError) Error() string {
	return fmt.Sprintf("termlog: format %d is unknown: a newer termhost has written it", e.Format)
}

// Buffer is memory that Logs read and write with: for Logs of which never two are used at a time.
// The zero value is ready.
type Buffer struct{ b []byte }

// Log is a bounded sequence of records. Its methods must not be called concurrently. Only one
// process may append at a time.
type Log struct {
	dir      string    // where files are made that are missing; "": none is
	segments []segment // in the order of their files
	size     int64     // of one segment, in bytes
	newest   int       // the segment that is written; valid if end is known
	offset   int64     // where the next record goes in it
	end      int64     // the position behind the last record
	found    bool      // offset was found by reading, and what stands behind it is not known
	buf      *Buffer
}

// Create makes an empty log of at most size bytes (at least MinSize) in the folder dir, which must
// exist and have none. The files of the segments are made when they are begun.
func Create(dir string, size int64) (*Log, error) {
	return new(Buffer).open(dir, make([]*os.File, Segments), size)
}

// Open opens the log in the folder dir, of the size that it was made with. Torn records are left
// out. It fails with fs.ErrNotExist if there is no log, and with a *FormatError.
func Open(dir string) (*Log, error) { return new(Buffer).Open(dir) }

// Open is like the function Open, for a log that shares the Buffer.
func (b *Buffer) Open(dir string) (*Log, error) {
	files := make([]*os.File, Segments)
	missing := 0
	for i := range files {
		f, err := os.OpenFile(segmentPath(dir, i), os.O_RDWR, 0)
		switch {
		case err == nil:
			files[i] = f
			continue
		case errors.Is(err, fs.ErrNotExist):
			missing++
		}
		if missing == Segments || !errors.Is(err, fs.ErrNotExist) {
			closeAll(files)
			return nil, err
		}
	}
	return b.open(dir, files, MinSize)
}

// New returns the log that lives in the given files, which are the Log's from then on, also when
// New fails. They may be empty, or hold what an earlier Log has written, whose size then counts.
func New(files []*os.File, size int64) (*Log, error) { return new(Buffer).New(files, size) }

// New is like the function New, for a log that shares the Buffer.
func (b *Buffer) New(files []*os.File, size int64) (*Log, error) { return b.open("", files, size) }

// NewAt makes a log of at most size bytes in an empty file, which is the Log's from then on, also
// when NewAt fails. It begins at the position first. It has one segment: before what [Log.Room] has
// no room for, everything else would be overwritten.
func NewAt(f *os.File, size, first int64) (*Log, error) {
	l := &Log{segments: []segment{{f: f}}, size: size, buf: new(Buffer)}
	if err := l.begin(0, 1, first); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Room returns how many bytes there is room for in the segment that is written, each record with
// RecordOverhead.
func (l *Log) Room() int64 { return l.size - l.offset }

// Size returns how many bytes of the segment that is written are in use.
func (l *Log) Size() int64 { return l.offset }

// FirstRecord returns the oldest record of a log that is one file. ok is false if there is none.
func FirstRecord(f *os.File) (r Record, ok bool) {
	s := segment{f: f}
	if s.readHeader() != nil || s.generation == 0 {
		return Record{}, false
	}
	s.size = min(s.size, firstRecordBytes)
	p, err := s.read(nil)
	if err != nil {
		return Record{}, false
	}
	r, _, ok = parseRecord(p, s.generation)
	return r, ok
}

// firstRecordBytes is how much of a file FirstRecord reads: more than any Description has.
const firstRecordBytes = 64 << 10

// open is New. A file may be nil: it is made in dir when its segment is begun.
func (b *Buffer) open(dir string, files []*os.File, size int64) (*Log, error) {
	l := &Log{dir: dir, buf: b, segments: make([]segment, len(files)),
		size: max(size, MinSize) / int64(len(files))}
	for i, f := range files {
		l.segments[i].f = f
	}
	if err := l.find(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

func segmentPath(dir string, i int) string {
	return filepath.Join(dir, "log."+strconv.Itoa(i))
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// find learns where the log ends.
func (l *Log) find() error {
	newest := -1
	for i := range l.segments {
		s := &l.segments[i]
		if s.f == nil {
			continue
		}
		if err := s.readHeader(); err != nil {
			return err
		}
		if s.generation > 0 && (newest < 0 || s.generation > l.segments[newest].generation) {
			newest = i
		}
	}
	if newest < 0 {
		return l.begin(0, 1, 0)
	}
	s := &l.segments[newest]
	l.size = s.size
	l.newest, l.offset, l.end, l.found = newest, segmentHeader, s.first, true
	return s.scan(l.buf, func(r Record) {
		l.offset += int64(recordHeader + len(r.Payload))
		l.end = r.end()
	})
}

// begin starts segment i with a new generation at position first. A file whose generation is not
// known, because its header is damaged, may hold records of the very same one.
func (l *Log) begin(i int, generation uint64, first int64) error {
	if err := l.makeFile(i); err != nil {
		return err
	}
	s := segment{f: l.segments[i].f, generation: generation, first: first, size: l.size}
	if l.segments[i].generation == 0 {
		if err := s.erase(0); err != nil {
			return err
		}
	}
	if _, err := s.f.WriteAt(s.appendHeader(nil), 0); err != nil {
		return err
	}
	l.segments[i] = s
	l.newest, l.offset, l.end, l.found = i, segmentHeader, first, false
	return nil
}

// makeFile makes the file of segment i if there is none.
func (l *Log) makeFile(i int) (err error) {
	if l.segments[i].f == nil {
		const flags = os.O_RDWR | os.O_CREATE | os.O_TRUNC
		l.segments[i].f, err = os.OpenFile(segmentPath(l.dir, i), flags, 0o600)
	}
	return err
}

// Moved says that the folder that the log was made in is now called dir.
func (l *Log) Moved(dir string) { l.dir = dir }

// End returns the position behind the last record: how much the terminal has printed.
func (l *Log) End() int64 { return l.end }

// First returns the position of the oldest record that is kept.
func (l *Log) First() int64 { return l.segments[l.ordered()[0]].first }

// Append writes one record at the end, or several for a long Data. turned says that it went into a
// segment that was begun for it, so the oldest records are gone: the caller does well to append a
// Checkpoint. The payload is not kept. After an error nothing, or only the beginning of a long
// Data, has been written, End says how much, and Append may be called again.
func (l *Log) Append(kind Kind, at time.Time, payload []byte) (turned bool, err error) {
	if kind != Data {
		return l.write(Record{kind, l.end, at, payload})
	}
	most := min(maxData, int(l.size-segmentHeader)/2-recordHeader)
	for len(payload) > 0 {
		n := min(len(payload), most)
		t, err := l.write(Record{Data, l.end, at, payload[:n]})
		turned = turned || t
		if err != nil {
			return turned, err
		}
		payload = payload[n:]
	}
	return turned, nil
}

// Skip says that n bytes of output were printed which are not in the log, and why. It writes a Gap
// behind them.
func (l *Log) Skip(n int64, at time.Time, why string) error {
	before := l.end
	_, err := l.write(Record{Gap, l.end + n, at, []byte(why)})
	if err != nil {
		l.end = before
	}
	return err
}

func (l *Log) write(r Record) (turned bool, err error) {
	if len(l.segments) == 0 {
		return false, ErrClosed
	}
	length := int64(recordHeader + len(r.Payload))
	if length > l.size-segmentHeader {
		return false, ErrTooLarge
	}
	s := &l.segments[l.newest]
	if l.offset+length > l.size {
		next := (l.newest + 1) % len(l.segments)
		if err := l.begin(next, s.generation+1, r.Pos); err != nil {
			return false, err
		}
		s, turned = &l.segments[next], true
	}
	if l.found {
		// Behind a damaged record there may be whole ones, which would follow the next one that
		// has the damaged one's length.
		if err := s.erase(l.offset); err != nil {
			return turned, err
		}
		l.found = false
	}
	l.buf.b = append(appendHeader(l.buf.b[:0], r, s.generation), r.Payload...)
	if _, err := s.f.WriteAt(l.buf.b, l.offset); err != nil {
		return turned, err
	}
	l.offset += length
	l.end = r.end()
	return turned, nil
}

// Read calls visit with every record from the one that holds position from on, oldest first, until
// visit returns false. Payloads may be kept. A segment whose middle is damaged ends at the damage;
// visit then sees positions jump.
func (l *Log) Read(from int64, visit func(Record) bool) error {
	order := l.ordered()
	for k, i := range order {
		if k+1 < len(order) && l.segments[order[k+1]].first < from {
			continue // all of it comes before: what stands at from itself may be in both
		}
		s := &l.segments[i]
		records, err := s.read(nil)
		if err != nil {
			return err
		}
		p := Piece{s.generation, records}
		if !p.Each(func(r Record) bool {
			before := r.end() < from || r.Kind == Data && r.end() == from
			return before || visit(r)
		}) {
			return nil
		}
	}
	return nil
}

// Piece is a copy of a part of a log, which may be looked at while the log goes on.
type Piece struct {
	generation uint64
	records    []byte
}

// Next returns the piece that follows p, which it overwrites; the zero Piece comes before the
// oldest one. ok is false if p is the newest. Pieces that are overwritten before they are read are
// left out: positions jump.
func (l *Log) Next(p Piece) (next Piece, ok bool, err error) {
	for _, i := range l.ordered() {
		if s := &l.segments[i]; s.generation > p.generation {
			records, err := s.read(p.records)
			return Piece{s.generation, records}, err == nil, err
		}
	}
	return Piece{}, false, nil
}

// Each calls visit with every record of the piece until that returns false, and reports whether it
// did not. Payloads are parts of the piece.
func (p Piece) Each(visit func(Record) bool) bool {
	for rest := p.records; ; {
		r, n, ok := parseRecord(rest, p.generation)
		if !ok {
			return true
		}
		if !visit(r) {
			return false
		}
		rest = rest[n:]
	}
}

// ordered returns the segments that hold something, oldest first.
func (l *Log) ordered() []int {
	var order []int
	for i := range l.segments {
		if l.segments[i].generation > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Compare(l.segments[a].generation, l.segments[b].generation)
	})
	return order
}

// Files returns the segments' files, which stay the Log's: for another process, which may go on
// when this one has ended. Those of segments that have not been begun are nil.
func (l *Log) Files() []*os.File {
	files := make([]*os.File, len(l.segments))
	for i, s := range l.segments {
		files[i] = s.f
	}
	return files
}

// Close closes the files. It may be called again.
func (l *Log) Close() error {
	var err error
	for _, s := range l.segments {
		if s.f != nil {
			err = errors.Join(err, s.f.Close())
		}
	}
	l.segments = nil
	return err
}
