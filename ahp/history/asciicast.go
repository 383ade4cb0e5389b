package history

import (
	"io"
	"strconv"
	"time"

	"termhost/ahp"
)

// EventKind says what an [Event] is.
type EventKind uint8

// The kinds, with the fields of an Event that belong to them.
const (
	Output EventKind = iota + 1 // Text is what the terminal was given to show
	Resize                      // Cols and Rows are the new size
	Marker                      // Text is the command line that began here
	Exit                        // Code is the program's exit status
)

// Event is something that happened in a terminal.
type Event struct {
	At         time.Duration // since the recording began; never less than that of the event before
	Kind       EventKind
	Text       []byte
	Cols, Rows int
	Code       int
}

// Header describes a recording.
type Header struct {
	Cols, Rows int // at the beginning
	Term       string
	Title      string
	Began      time.Time
}

// The versions of asciicast that an Encoder writes. Version 3 is that of asciinema 3; older players
// know version 2 only.
const (
	V2 = 2
	V3 = 3
)

// Encoder writes a recording as asciicast.
type Encoder struct {
	Version int // V2 or V3

	told int64 // the time of the last event, in ms, as written in version 3
}

// writeBytes is about how much Write passes to its writer at a time, in bytes.
const writeBytes = 256 << 10

// Write writes a recording as asciicast of a version, V2 or V3.
func Write(w io.Writer, version int, h Header, events []Event) error {
	e := Encoder{Version: version}
	lines := e.AppendHeader(nil, h)
	for i := range events {
		lines = e.Append(lines, events[i])
		if len(lines) < writeBytes {
			continue
		}
		if _, err := w.Write(lines); err != nil {
			return err
		}
		lines = lines[:0]
	}
	_, err := w.Write(lines)
	return err
}

// AppendHeader appends the first line.
func (e *Encoder) AppendHeader(dst []byte, h Header) []byte {
	if e.Version == V2 {
		dst = strconv.AppendInt(append(dst, `{"version":2,"width":`...), int64(h.Cols), 10)
		dst = strconv.AppendInt(append(dst, `,"height":`...), int64(h.Rows), 10)
	} else {
		dst = strconv.AppendInt(append(dst, `{"version":3,"term":{"cols":`...), int64(h.Cols), 10)
		dst = strconv.AppendInt(append(dst, `,"rows":`...), int64(h.Rows), 10)
		if h.Term != "" {
			dst = ahp.AppendJSONString(append(dst, `,"type":`...), h.Term)
		}
		dst = append(dst, '}')
	}
	dst = strconv.AppendInt(append(dst, `,"timestamp":`...), h.Began.Unix(), 10)
	if h.Title != "" {
		dst = ahp.AppendJSONString(append(dst, `,"title":`...), h.Title)
	}
	if h.Term != "" && e.Version == V2 {
		dst = ahp.AppendJSONString(append(dst, `,"env":{"TERM":`...), h.Term)
		dst = append(dst, '}')
	}
	return append(dst, "}\n"...)
}

// Append appends the line of an event. Bytes that are not UTF-8 become U+FFFD, because JSON cannot
// hold them.
func (e *Encoder) Append(dst []byte, ev Event) []byte {
	dst = append(dst, '[')
	dst = e.appendTime(dst, max(ev.At, 0))
	switch ev.Kind {
	case Output:
		dst = ahp.AppendJSONString(append(dst, `, "o", `...), ev.Text)
	case Resize:
		dst = strconv.AppendInt(append(dst, `, "r", "`...), int64(ev.Cols), 10)
		dst = strconv.AppendInt(append(dst, 'x'), int64(ev.Rows), 10)
		dst = append(dst, '"')
	case Marker:
		dst = ahp.AppendJSONString(append(dst, `, "m", `...), ev.Text)
	case Exit:
		dst = strconv.AppendInt(append(dst, `, "x", "`...), int64(ev.Code), 10)
		dst = append(dst, '"')
	}
	return append(dst, "]\n"...)
}

// appendTime appends a time in seconds: in version 2 since the beginning, to the microsecond, and
// in version 3 since the event before, to the millisecond. The part that is rounded off there is
// added to the next event, so the times do not drift.
func (e *Encoder) appendTime(dst []byte, at time.Duration) []byte {
	if e.Version == V2 {
		return appendDecimal(dst, at.Round(time.Microsecond).Microseconds(), 6)
	}
	since := max(at.Round(time.Millisecond).Milliseconds()-e.told, 0)
	e.told += since
	return appendDecimal(dst, since, 3)
}

// appendDecimal appends n with its last digits behind the point.
func appendDecimal(dst []byte, n int64, digits int) []byte {
	unit := int64(1)
	for range digits {
		unit *= 10
	}
	dst = append(strconv.AppendInt(dst, n/unit, 10), '.')
	return append(dst, strconv.FormatInt(unit+n%unit, 10)[1:]...) // with its leading zeros
}
