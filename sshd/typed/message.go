// Package typed carries what a person types from the host that they have logged in to, the door, to
// the one whose terminal they see, the owner.
//
// The network between the two may deliver late what it was given, and a host that stood still reads
// late what has come. Keys that come much too late were typed at a picture that stood still, and
// must not be typed any more. The clocks of two hosts tell nothing of that. So the door sends what
// is typed in messages, each with the last of the owner's heartbeats that the door has heard: the
// owner knows when it has said that one.
package typed

import (
	"encoding/binary"
	"errors"
	"io"
)

// head is what precedes the text of a message: the heartbeat's number and the length of the text.
const head = 8 + 4

// MaxText bounds the text of a message, in bytes.
const MaxText = 64 << 10

// Message returns p, which has been typed and is not kept, as a message of a door that has heard
// the heartbeat of that number last.
func Message(heard uint64, p []byte) []byte {
	m := binary.BigEndian.AppendUint64(make([]byte, 0, head+len(p)), heard)
	m = binary.BigEndian.AppendUint32(m, uint32(len(p)))
	return append(m, p...)
}

var errMessage = errors.New("typed: a message is too long")

// read reads a message.
func read(from io.Reader) (heard uint64, p []byte, err error) {
	var b [head]byte
	if _, err = io.ReadFull(from, b[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(b[8:])
	if n > MaxText {
		return 0, nil, errMessage
	}
	p = make([]byte, n)
	_, err = io.ReadFull(from, p)
	return binary.BigEndian.Uint64(b[:8]), p, err
}
