package bus

import (
	"encoding/binary"
	"errors"
)

// kind is what a message is for.
type kind byte

const (
	announced kind = iota + 1 // to all
	asked                     // a request; id is the asker's
	answered                  // its answer
	failed                    // the reason why there is none
	opened                    // a stream, whose id the opener has chosen; with a greeting
	data                      // bytes at the offset a of a stream
	ended                     // the sender's bytes end at the offset a
	credited                  // all before the offset a is here; b is where the credit ends
	missed                    // credited, and something behind a has come: send from a again
	probed                    // the sender has sent up to a: answer with credited
	reset                     // the stream has ended at once, with a reason; a: see unknownStream
)

// frame is a message of a Node.
type frame struct {
	kind    kind
	id      uint64
	a, b    uint64
	payload []byte
}

// frameHead is the length of what comes before the payload, in bytes.
const frameHead = 1 + 8 + 8 + 8

// append appends the encoded frame to p.
func (f frame) append(p []byte) []byte {
	p = append(p, byte(f.kind))
	p = binary.BigEndian.AppendUint64(p, f.id)
	p = binary.BigEndian.AppendUint64(p, f.a)
	p = binary.BigEndian.AppendUint64(p, f.b)
	return append(p, f.payload...)
}

var errFrame = errors.New("bus: a message is too short")

// parseFrame decodes a frame, whose payload is a part of p.
func parseFrame(p []byte) (frame, error) {
	if len(p) < frameHead {
		return frame{}, errFrame
	}
	return frame{
		kind:    kind(p[0]),
		id:      binary.BigEndian.Uint64(p[1:]),
		a:       binary.BigEndian.Uint64(p[9:]),
		b:       binary.BigEndian.Uint64(p[17:]),
		payload: p[frameHead:],
	}, nil
}
