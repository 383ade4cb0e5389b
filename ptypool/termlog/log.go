package termlog

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"termhost/ptypool/statefile"
)

const (
	// Segments is the number of a log's segments: with four, a log always keeps at least three
	// quarters of its size.
	Segments = 4
	// MinSize, in bytes, is the smallest log.
	MinSize = Segments * minSegment
	// minSegment has room for the checkpoint of a screen of usual size, and to spare.
	minSegment = 32 << 10
	// maxData, in bytes, is the most output in one record, if that is not more than half of a
	// segment; Append splits more.
	maxData = 64 << 10
)

// Errors of a Log.
var (
	// ErrTooLarge refuses a record that no segment can hold.
	ErrTooLarge = errors.New("termlog: the record is larger than a segment")
	// ErrClosed refuses calls after Close.
	ErrClosed = errors.New("termlog: the log is closed")
)

// FormatError says that a log has a format that this program does not know.
type FormatError struct{ Format int }

func (e *FormatError) Error() string {
	return fmt.Sprintf("termlog: format %d is unknown: a newer termhost has written it", e.Format)
}

// Buffer is scratch memory for Logs, of which no two may be used concurrently. The zero value is
// ready for use.
type Buffer struct{ b []byte }

// Log is a bounded sequence of records. Its methods must not be called concurrently. Only one
// process may append at a time.
type Log struct {
	dir        string    // where missing files are made; "": none are made
	segments   []segment // in the order of their files
	size       int64     // of one segment, in bytes
	newest     int       // the segment that records are appended to; valid if end is known
	offset     int64     // of the next record in it
	end        int64     // the position behind the last record
	found      bool      // offset was found by reading, and what follows it is unknown
	damage     []string  // see Damage
	torn       bool      // the last damage is about the end
	unfinished bool      // see Unfinished
	buf        *Buffer
}

// Create makes an empty log of at most size bytes (at least MinSize) in the folder dir, which must
// exist and have no log. It makes the file of a segment when the segment is first written.
func Create(dir string, size int64) (*Log, error) {
	return new(Buffer).open(dir, make([]*os.File, Segments), size)
}

// Open opens the log in the folder dir, with the size that it was made with. Torn records are left
// out. Of a damaged log it opens the intact records, if any: see [Log.Damage]. The error matches
// fs.ErrNotExist if there is no log, or is a *FormatError.
func Open(dir string) (*Log, error) { return new(Buffer).Open(dir) }

// Open is like the function Open, for a log that shares the Buffer.
func (b *Buffer) Open(dir string) (*Log, error) {
	files := make([]*os.File, Segments)
	missing := 0
	var damage []string
	for i := range files {
		f, err := statefile.Open(segmentPath(dir, i), os.O_RDWR, 0)
		switch {
		case err == nil:
			files[i] = f
			continue
		case errors.Is(err, fs.ErrNotExist):
			if missing++; missing < Segments {
				continue
			}
		case errors.Is(err, statefile.ErrNoFile):
			if err = setAside(dir, i); err == nil {
				damage = append(damage, segmentName(i)+" is not a file")
				continue
			}
		}
		closeAll(files)
		return nil, err
	}
	l, err := b.open(dir, files, MinSize)
	if err == nil {
		l.damage = append(damage, l.damage...)
	}
	return l, err
}

// CheckFormat returns a *FormatError if the log in the folder dir does not have the format
// [Format]. Unlike Open it changes nothing, and returns nil if there is no log.
func CheckFormat(dir string) error {
	for i := range Segments {
		f, err := statefile.Open(segmentPath(dir, i), os.O_RDONLY, 0)
		if err != nil {
			continue
		}
		s := segment{f: f}
		err = s.readHeader()
		f.Close()
		if other := (*FormatError)(nil); errors.As(err, &other) {
			return err
		}
	}
	return nil
}

// Damage says, for display, what was found damaged or missing when the log was opened, and in which
// files; "": nothing. Files that are not segments are renamed to end in ".damaged".
func (l *Log) Damage() string { return strings.Join(l.damage, ", ") }

// Torn reports whether only the output at the very end is damaged: the writer may have been killed
// while writing it.
func (l *Log) Torn() bool { return l.torn && len(l.damage) == 1 }

// Unfinished reports whether the log ends in the middle of a record that is not output. If its
// writer was killed there, nothing is lost; if the log was cut there, later records are.
func (l *Log) Unfinished() bool { return l.unfinished }

// New returns the log in the given files, which belong to the Log from then on, even if New fails.
// They may be empty, or hold an earlier log, whose size then counts.
func New(files []*os.File, size int64) (*Log, error) { return new(Buffer).New(files, size) }

// New is like the function New, for a log that shares the Buffer.
func (b *Buffer) New(files []*os.File, size int64) (*Log, error) { return b.open("", files, size) }

// NewAt makes a log of at most size bytes in an empty file, which belongs to the Log from then on,
// even if NewAt fails. The log begins at the position first. It has one segment: a record that
// exceeds [Log.Room] would overwrite all others.
func NewAt(f *os.File, size, first int64) (*Log, error) {
	l := &Log{segments: []segment{{f: f}}, size: size, buf: new(Buffer)}
	if err := l.begin(0, 1, first); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Room returns how many bytes are left in the present segment. A record takes RecordOverhead bytes
// besides its payload.
func (l *Log) Room() int64 { return l.size - l.offset }

// Size returns how many bytes of the present segment are in use.
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

// firstRecordBytes is how much of a file FirstRecord reads: more than any Description takes.
const firstRecordBytes = 64 << 10

// open is New for files of which some may be nil: these are made in dir when their segments are
// begun.
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

func segmentName(i int) string { return "log." + strconv.Itoa(i) }

func segmentPath(dir string, i int) string { return filepath.Join(dir, segmentName(i)) }

// setAside renames segment i's file, to make room for another.
func setAside(dir string, i int) error {
	path := segmentPath(dir, i)
	return os.Rename(path, path+damagedSuffix)
}

const damagedSuffix = ".damaged"

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// find finds the log's end.
func (l *Log) find() error {
	newest := -1
	for i := range l.segments {
		s := &l.segments[i]
		if s.f == nil {
			continue
		}
		length, err := s.length()
		if err != nil {
			return err
		}
		if err := s.readHeader(); err != nil {
			return err
		}
		// A file that was empty before its header was read may just have been made.
		if s.generation == 0 && length > 0 && l.dir != "" {
			if err := l.discard(i); err != nil {
				return err
			}
		}
		if s.generation > 0 && (newest < 0 || s.generation > l.segments[newest].generation) {
			newest = i
		}
	}
	if newest < 0 {
		found := func(s segment) bool { return s.f != nil }
		if l.dir != "" && slices.ContainsFunc(l.segments, found) {
			l.damage = append(l.damage, "it is empty")
		}
		return l.begin(0, 1, 0)
	}
	l.findMissing(newest)
	s := &l.segments[newest]
	l.size = s.size
	l.newest, l.offset, l.end, l.found = newest, segmentHeader, s.first, true
	for at := l.offset; ; {
		err := s.scan(at, l.buf, func(r Record) {
			at += int64(recordHeader + len(r.Payload))
			l.end = r.end()
		})
		l.offset = at
		if err != nil || !l.firstRound(newest) {
			return err
		}
		more, err := s.nextRecord(at, l.end)
		if err != nil || more < 0 {
			return errors.Join(err, l.findTorn())
		}
		l.damaged(newest, at)
		at = more
	}
}

// firstRound reports whether segment i has been written only once, so that its file ends with its
// last record.
func (l *Log) firstRound(i int) bool { return l.segments[i].generation <= uint64(len(l.segments)) }

// damaged records that segment i is damaged.
func (l *Log) damaged(i int, at int64) {
	l.damage = append(l.damage, fmt.Sprintf("%s is damaged at byte %d", segmentName(i), at))
}

// discard moves the file of segment i, which has no valid header, aside.
func (l *Log) discard(i int) error {
	s := &l.segments[i]
	if err := setAside(l.dir, i); err != nil {
		return err
	}
	l.damage = append(l.damage, segmentName(i)+" is not one of its segments")
	s.f.Close()
	s.f = nil
	return nil
}

// findMissing records which segments before the newest are missing.
func (l *Log) findMissing(newest int) {
	n := len(l.segments)
	last := l.segments[newest].generation
	for back := 1; back < n && uint64(back) < last; back++ {
		i := (newest - back + n) % n
		if l.segments[i].generation != last-uint64(back) {
			l.damage = append(l.damage, segmentName(i)+" is missing")
		}
	}
}

// findTorn records if the newest segment, which is of the first round, ends in a partial record.
func (l *Log) findTorn() error {
	s := &l.segments[l.newest]
	length, err := s.length()
	if err != nil {
		return err
	}
	var rest [recordHeader]byte
	n, err := s.f.ReadAt(rest[:min(recordHeader, max(0, length-l.offset))], l.offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	kind := Kind(binary.LittleEndian.Uint32(rest[8:]))
	other := n == recordHeader && kind != Data && kind <= Description // not output
	if rest != [recordHeader]byte{} && other {
		l.unfinished = true
	} else if rest != [recordHeader]byte{} {
		l.damaged(l.newest, l.offset)
		l.torn = true
	}
	return nil
}

// begin starts segment i with a new generation at position first. A file of unknown generation,
// whose header is damaged, may hold records of the new generation.
func (l *Log) begin(i int, generation uint64, first int64) error {
	if err := l.makeFile(i); err != nil {
		return err
	}
	s := segment{f: l.segments[i].f, generation: generation, first: first, size: l.size}
	if l.segments[i].generation == 0 {
		if err := s.erase(0, s.size); err != nil {
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
		l.segments[i].f, err = statefile.Open(segmentPath(l.dir, i), flags, 0o600)
	}
	return err
}

// Moved sets the name of the log's folder after it was renamed.
func (l *Log) Moved(dir string) { l.dir = dir }

// End returns the position after the last record: how many bytes the terminal has printed.
func (l *Log) End() int64 { return l.end }

// First returns the position of the oldest record in the log.
func (l *Log) First() int64 { return l.segments[l.ordered()[0]].first }

// Append appends a record, or several for a long Data. It does not retain the payload. turned: a
// segment was begun for the record, so the oldest records may be gone, and the caller should append
// a Checkpoint. If Append fails, it has written nothing, or the beginning of a long Data; End says
// how much. It may be called again.
func (l *Log) Append(kind Kind, at time.Time, payload []byte) (turned bool, err error) {
	if kind != Data {
		return l.write(Record{Kind: kind, Pos: l.end, Time: at, Payload: payload})
	}
	most := min(maxData, int(l.size-segmentHeader)/2-recordHeader)
	for len(payload) > 0 {
		n := min(len(payload), most)
		t, err := l.write(Record{Kind: Data, Pos: l.end, Time: at, Payload: payload[:n]})
		turned = turned || t
		if err != nil {
			return turned, err
		}
		payload = payload[n:]
	}
	return turned, nil
}

// Skip appends a Gap: n bytes of output are not in the log, for the reason why.
func (l *Log) Skip(n int64, at time.Time, why string) error {
	before := l.end
	_, err := l.write(Record{Kind: Gap, Pos: l.end + n, Time: at, Payload: []byte(why)})
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
		// Intact records may follow a damaged one. They would be read after a new record of the
		// damaged one's length.
		if err := s.erase(l.offset, s.size); err != nil {
			return turned, err
		}
		l.found = false
	}
	l.buf.b = append(appendHeader(l.buf.b[:0], r, s.generation), r.Payload...)
	if _, err := s.f.WriteAt(l.buf.b, l.offset); err != nil {
		// A full disk may have taken a part of the record, even if it reports that it has taken
		// nothing. That part must look neither torn nor damaged.
		if s.erase(l.offset, length) != nil {
			l.found = true
		}
		return turned, err
	}
	l.offset += length
	l.end = r.end()
	return turned, nil
}

// Read calls visit with all records from the one that holds position from, oldest first, until
// visit returns false. Payloads may be retained. Damaged records are left out: positions jump.
func (l *Log) Read(from int64, visit func(Record) bool) error {
	order := l.ordered()
	for len(order) > 1 && l.segments[order[1]].first < from {
		order = order[1:] // it comes before from; records at from may be in both
	}
	r := NewReader(Spot{generation: l.segments[order[0]].generation, offset: segmentHeader})
	for {
		r.buf = nil // payloads may be kept
		more, err := r.Next(l)
		if err != nil || !more || !r.Each(func(rec Record) bool {
			before := rec.end() < from || rec.Kind == Data && rec.end() == from
			return before || visit(rec)
		}) {
			return err
		}
	}
}

// ordered returns the segments that hold records, oldest first.
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

// Files returns the segments' files, which still belong to the Log, for another process that
// continues the log when this one has ended. Files of segments that have not been begun are nil.
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
