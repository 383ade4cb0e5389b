package termlog

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"slices"
)

// A segment begins with a header, little endian:
//
//	 0  "thlog\x00"
//	 6  uint16  format
//	 8  uint64  generation: 1 for the first segment that is written, then one more each
//	16  int64   position of the first record
//	24  uint32  size of the segment's file at most, in bytes
//	28  uint32  CRC-32C of the bytes before
const (
	segmentHeader = 32
	magic         = "thlog\x00"
	// Format is the format of a log. No other one is read.
	Format = 1
)

// segment is one segment of a log. Generation 0: it holds no records.
type segment struct {
	f          *os.File
	generation uint64
	first      int64 // the position of the first record
	size       int64 // the most that its file may have, in bytes
}

// readHeader reads the file's header. A file without a valid one holds no records: it is new, or
// its writer was killed while beginning to overwrite it.
func (s *segment) readHeader() error {
	s.generation, s.first, s.size = 0, 0, 0
	var h [segmentHeader]byte
	switch _, err := s.f.ReadAt(h[:], 0); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	sum := crc32.Checksum(h[:28], castagnoli)
	if string(h[:6]) != magic || sum != binary.LittleEndian.Uint32(h[28:]) {
		return nil
	}
	if f := binary.LittleEndian.Uint16(h[6:]); f != Format {
		return &FormatError{Format: int(f)}
	}
	s.generation = binary.LittleEndian.Uint64(h[8:])
	s.first = int64(binary.LittleEndian.Uint64(h[16:]))
	s.size = int64(binary.LittleEndian.Uint32(h[24:]))
	return nil
}

// appendHeader appends the segment's header.
func (s *segment) appendHeader(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, magic...)
	dst = binary.LittleEndian.AppendUint16(dst, Format)
	dst = binary.LittleEndian.AppendUint64(dst, s.generation)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(s.first))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.size))
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[at:], castagnoli))
}

// length returns how long the file is, in bytes.
func (s *segment) length() (int64, error) { return s.f.Seek(0, io.SeekEnd) }

// read returns the segment's records as bytes, in buf if that has room for them.
func (s *segment) read(buf []byte) ([]byte, error) {
	p, _, err := s.readPart(segmentHeader, s.size, buf)
	return p, err
}

// readPart is read for at most n bytes from an offset; last: no more follow.
func (s *segment) readPart(from, n int64, buf []byte) (p []byte, last bool, err error) {
	length, err := s.length()
	if err != nil {
		return nil, false, err
	}
	size := min(length, s.size) - from
	if last = size <= n; size <= 0 {
		return nil, last, nil
	}
	p = slices.Grow(buf[:0], int(min(size, n)))[:min(size, n)]
	k, err := s.f.ReadAt(p, from)
	if errors.Is(err, io.EOF) { // the file was truncated meanwhile
		last, err = true, nil
	}
	return p[:k], last, err
}

const (
	// window, in bytes, is how much scan reads at once.
	window = 32 << 10
	// mostBuffer, in bytes, is the largest Buffer that is kept after a scan.
	mostBuffer = 4 * window
)

// scan calls visit with every record of the segment from an offset, without reading the whole
// segment into the Buffer. Records must not be retained.
func (s *segment) scan(from int64, buf *Buffer, visit func(Record)) error {
	length, err := s.length()
	if err != nil {
		return err
	}
	size := min(length, s.size)
	at := from // the offset up to which the file has been read; the last bytes are p
	p := buf.b[:0]
	for {
		r, n, ok := parseRecord(p, s.generation)
		if ok {
			visit(r)
			p = p[n:]
			continue
		}
		need := window
		if len(p) >= recordHeader {
			need = max(window, recordLength(p))
			whole := recordLength(p) <= len(p)
			if whole || int64(recordLength(p)-len(p)) > size-at {
				break // it is torn
			}
		}
		old := p
		p = slices.Grow(buf.b[:0], need)[:need]
		rest := copy(p, old)
		buf.b = p
		n, err = s.f.ReadAt(p[rest:rest+int(min(int64(need-rest), size-at))], at)
		if n == 0 {
			break
		}
		at += int64(n)
		p = p[:rest+n]
	}
	if cap(buf.b) > mostBuffer {
		buf.b = nil
	}
	if errors.Is(err, io.EOF) { // the file was truncated meanwhile
		err = nil
	}
	return err
}

// nextRecord returns the offset of the first intact record after an offset where there is none,
// whose position is end or later; -1: there is none.
func (s *segment) nextRecord(from, end int64) (int64, error) {
	length, err := s.length()
	if err != nil || min(length, s.size) <= from {
		return -1, err
	}
	p, err := s.read(nil)
	if err != nil || int64(len(p)) <= from-segmentHeader { // the file was truncated meanwhile
		return -1, err
	}
	p = p[from-segmentHeader:]
	if i := findRecord(p, s.generation, end); i < len(p) {
		return from + int64(i), nil
	}
	return -1, nil
}

// erase fills n bytes of the segment from an offset with zeros, or as many as its file has. The
// file stays allocated.
func (s *segment) erase(from, n int64) error {
	length, err := s.length()
	if err != nil {
		return err
	}
	end := min(from+n, length, s.size)
	zeros := make([]byte, max(0, min(window, end-from)))
	for err == nil && from < end {
		var n int
		n, err = s.f.WriteAt(zeros[:min(int64(len(zeros)), end-from)], from)
		from += int64(n)
	}
	return err
}
