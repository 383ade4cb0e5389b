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
	// Event is an event that the host will need again, in the host's encoding.
	Event Kind = 3
	// Checkpoint is the state of screen and parser, in the host's encoding, from which the later
	// records can be interpreted without the earlier ones.
	Checkpoint Kind = 4
	// Exit is the end of the program: a JSON object with the fields of [Status], and possibly more
	// of the host's. If there are several, the first one counts.
	Exit Kind = 5
	// Gap stands for missing output that could not be written. Its payload is the reason, for
	// people.
	Gap Kind = 6
	// Description says what the log is about, in the host's encoding. It is the first record of a
	// log that has no other place for that.
	Description Kind = 7
)

// Damaged is the payload of a Gap where a log was found damaged: see [Log.Damage].
const Damaged = "the log was damaged"

// Record is one entry of a log.
type Record struct {
	Kind Kind
	// Pos is how many bytes had been printed before this record, without its own Data.
	Pos  int64
	Time time.Time
	// Payload is valid for as long as [Log.Read] or [Reader.Each], which pass the record, say.
	Payload []byte

	next Spot // see Next
}

// Next returns the place of the record after this one, which must come from a [Reader].
func (r Record) Next() Spot { return r.next }

// end is the position after the record.
func (r Record) end() int64 {
	if r.Kind == Data {
		return r.Pos + int64(len(r.Payload))
	}
	return r.Pos
}

// Status says how a program ended, in an Exit.
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

// Size returns the size in a Resize's payload, or zeros if the payload has another length.
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

// RecordOverhead is the size of a record without its payload, in bytes.
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

// recordLength returns the length of the record at the beginning of p, which has all of its header.
func recordLength(p []byte) int { return recordHeader + int(binary.LittleEndian.Uint32(p)) }

// findRecord returns the index in p of the first intact record whose position is end or later, or
// len(p). p itself does not begin with a record.
func findRecord(p []byte, generation uint64, end int64) int {
	for i := 1; i+recordHeader <= len(p); i++ {
		// Checksums are computed only where the length is below 16 MiB and the kind is known.
		if p[i+3] != 0 || p[i+8] == 0 || Kind(p[i+8]) > Description || p[i+9]|p[i+10]|p[i+11] != 0 {
			continue
		}
		if r, _, ok := parseRecord(p[i:], generation); ok && r.Pos >= end {
			return i
		}
	}
	return len(p)
}

// parseRecord returns the record at the beginning of p and its length in p. ok is false if p does
// not begin with an intact record of this generation. The payload is a part of p.
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
