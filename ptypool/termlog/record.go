package termlog

import (
	"encoding/binary"
	"hash/crc32"
	"time"
)

// Kind says what a record is. The values are part of the format.
type Kind uint8

const (
	// Data is output, as the program printed it.
	Data Kind = 1
	// Resize is a new size: two uint16, columns and rows (see [SizePayload]).
	Resize Kind = 2
	// Event is something that the host wants to know again, in an encoding of its own.
	Event Kind = 3
	// Checkpoint is a state of the screen and the parser, in an encoding of the host's, from which
	// the records behind it can be followed without those before it.
	Checkpoint Kind = 4
	// Exit is the end of the program: a JSON object with the fields of [Status], and maybe more of
	// the host's. If there are several, the first one counts.
	Exit Kind = 5
	// Gap says that output is missing before it: the output was printed while it could not be
	// written. Its payload says why, for people.
	Gap Kind = 6
	// Description says what the log is of, in an encoding of the host's. It comes first in a log
	// that has no other place for that.
	Description Kind = 7
)

// Damaged is the payload of a Gap where a log was found to be damaged: see [Log.Damage].
const Damaged = "the log was damaged"

// Record is one entry of a log.
type Record struct {
	Kind Kind
	// Pos is how many bytes had been printed before this record, those of Data not included.
	Pos  int64
	Time time.Time
	// Payload belongs to the reader that was given the record.
	Payload []byte

	next Spot // see Next
}

// Next returns where the record stands that follows this one, which a [Reader] has read.
func (r Record) Next() Spot { return r.next }

// end is the position behind the record.
func (r Record) end() int64 {
	if r.Kind == Data {
		return r.Pos + int64(len(r.Payload))
	}
	return r.Pos
}

// Status is how a program ended, in an Exit.
type Status struct {
	Code   int       `json:"code"` // 128+n for signal n; -1: not known
	Signal int       `json:"signal,omitempty"`
	At     time.Time `json:"at"`
	// Logged is the position that the log had reached; 0: not known.
	Logged int64 `json:"logged,omitempty"`
}

// SizePayload is the payload of a Resize.
func SizePayload(cols, rows int) []byte {
	p := binary.LittleEndian.AppendUint16(nil, uint16(cols))
	return binary.LittleEndian.AppendUint16(p, uint16(rows))
}

// Size returns what SizePayload was given, or zeros for a payload of another length.
func Size(payload []byte) (cols, rows int) {
	if len(payload) != 4 {
		return 0, 0
	}
	return int(binary.LittleEndian.Uint16(payload)), int(binary.LittleEndian.Uint16(payload[2:]))
}

// A record in a segment, little endian:
//
//	 0  uint32  length of the payload
//	 4  uint32  CRC-32C of the segment's generation (8 bytes), bytes 8 to 27, and the payload
//	 8  uint32  kind
//	12  int64   position
//	20  int64   time, nanoseconds since 1970 in UTC
//	28          payload
const recordHeader = 28

// RecordOverhead is what a record takes besides its payload, in bytes.
const RecordOverhead = recordHeader

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendHeader appends the header of r, for a segment of the given generation.
func appendHeader(dst []byte, r Record, generation uint64) []byte {
	at := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(r.Payload)))
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(r.Kind))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.Pos))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.Time.UnixNano()))
	sum := checksum(generation, dst[at+8:at+recordHeader], r.Payload)
	binary.LittleEndian.PutUint32(dst[at+4:], sum)
	return dst
}

func checksum(generation uint64, header, payload []byte) uint32 {
	var gen [8]byte
	binary.LittleEndian.PutUint64(gen[:], generation)
	sum := crc32.Update(0, castagnoli, gen[:])
	sum = crc32.Update(sum, castagnoli, header)
	return crc32.Update(sum, castagnoli, payload)
}

// recordLength returns how long the record is that p, which has its header, begins with.
func recordLength(p []byte) int { return recordHeader + int(binary.LittleEndian.Uint32(p)) }

// findRecord returns where in p, which does not begin with one, the first whole record is that does
// not come before position end; len(p): there is none.
func findRecord(p []byte, generation uint64, end int64) int {
	for i := 1; i+recordHeader <= len(p); i++ {
		// The checksum is for those that may be one: of a length below 16 MiB, and a kind.
		if p[i+3] != 0 || p[i+8] == 0 || Kind(p[i+8]) > Description || p[i+9]|p[i+10]|p[i+11] != 0 {
			continue
		}
		if r, _, ok := parseRecord(p[i:], generation); ok && r.Pos >= end {
			return i
		}
	}
	return len(p)
}

// parseRecord returns the record that p begins with and its length in p, or ok == false if p does
// not begin with a whole record of this generation. The payload is a part of p.
func parseRecord(p []byte, generation uint64) (r Record, n int, ok bool) {
	if len(p) < recordHeader {
		return Record{}, 0, false
	}
	if n = recordLength(p); n > len(p) {
		return Record{}, 0, false
	}
	payload := p[recordHeader:n:n]
	sum := checksum(generation, p[8:recordHeader], payload)
	if sum != binary.LittleEndian.Uint32(p[4:]) {
		return Record{}, 0, false
	}
	return Record{
		Kind:    Kind(binary.LittleEndian.Uint32(p[8:])),
		Pos:     int64(binary.LittleEndian.Uint64(p[12:])),
		Time:    time.Unix(0, int64(binary.LittleEndian.Uint64(p[20:]))),
		Payload: payload,
	}, n, true
}
