package transport

import (
	"encoding/binary"
	"errors"

	"github.com/gorilla/websocket"
)

// The head of a frame that is not masked (RFC 6455 section 5.2): a byte with FIN and the opcode,
// one with the length or what stands for a longer one, and that.
const (
	finalFrame = 0x80
	shortHead  = 2
	headOf16   = 4  // with a length of 16 bits
	headOf64   = 10 // with one of 64 bits
	lengthIn16 = 126
	lengthIn64 = 127
	maxLength7 = 125
)

// BeginFrame leaves room for the head of most frames. See [Framer].
func (w *WebSocket) BeginFrame(dst []byte) (framed []byte, at int) {
	dst = append(dst, make([]byte, headOf16)...)
	return dst, len(dst)
}

// EndFrame writes the head of a text frame, and moves the message if the head has another length
// than most.
func (w *WebSocket) EndFrame(dst []byte, at int) []byte {
	from, n := at-headOf16, len(dst)-at
	const kind = finalFrame | websocket.TextMessage
	switch {
	case n <= maxLength7:
		copy(dst[from+shortHead:], dst[at:])
		dst = dst[:from+shortHead+n]
		dst[from], dst[from+1] = kind, byte(n)
	case n <= 0xffff:
		dst[from], dst[from+1] = kind, lengthIn16
		binary.BigEndian.PutUint16(dst[from+2:], uint16(n))
	default:
		dst = append(dst, make([]byte, headOf64-headOf16)...)
		copy(dst[from+headOf64:], dst[at:at+n])
		dst[from], dst[from+1] = kind, lengthIn64
		binary.BigEndian.PutUint64(dst[from+2:], uint64(n))
	}
	return dst
}

var errNoFrames = errors.New("transport: only a server that explains sends frames of its own")

// WriteFrames sends frames, on the server's side of a connection that has [ExplainTooLong] below
// it. gorilla would copy each frame into a buffer of its own and send a longer one in two pieces.
// So it is given an empty message to send, which becomes the frames below it: they are sent under
// its lock, never within or behind another frame's bytes, nor after a close frame.
func (w *WebSocket) WriteFrames(p []byte) error {
	if w.below == nil {
		return errNoFrames
	}
	if len(p) == 0 {
		return nil
	}
	w.below.frames = p
	defer func() { w.below.frames = nil }()
	return w.write(nil)
}
