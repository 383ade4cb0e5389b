package transport

import "time"

// Transport carries messages, each a JSON text. Read and Write are called by
// one goroutine each; Close may be called at any time and makes both return.
type Transport interface {
	// Read returns the next message, which the caller owns. io.EOF: the peer has closed in good
	// order, or with a [HalfCloser] sends no more. A [*MessageError] is an unreadable message; the
	// next one may be readable.
	Read() ([]byte, error)
	// Write sends a message. It does not keep p, but may use its spare capacity. It
	// fails if the peer takes no byte for [Stall].
	Write(p []byte) error
	// Close ends the transport and tells the peer the reason where possible. For [Goodbye] and
	// [InternalError] a transport may have a code.
	Close(reason string) error
}

// Framer is a Transport whose writer puts messages where they are sent from. Several messages one
// after the other are sent in one piece.
type Framer interface {
	Transport
	// BeginFrame prepares dst for a message, which is to be appended, and returns where it begins.
	BeginFrame(dst []byte) (framed []byte, at int)
	// EndFrame completes the message that begins at an index of dst and ends where dst does.
	EndFrame(dst []byte, at int) []byte
	// WriteFrames is Write for messages that were completed. It does not keep p.
	WriteFrames(p []byte) error
}

// HalfCloser is a Transport whose peer can stop sending and go on receiving:
// what it has asked for is answered before the transport is closed.
type HalfCloser interface {
	Transport
	// HalfCloses does nothing; it marks such transports.
	HalfCloses()
}

// Finisher is a Transport that must be finished after its last Read, so that the
// reason it was closed for reaches the peer and its connection is closed.
type Finisher interface {
	Transport
	Finish()
}

// Stall is how long a peer may take no byte before its transport is closed. A
// laptop that changes networks is back sooner.
const Stall = 60 * time.Second

// Reasons to close a transport that are not the fault of the peer.
const (
	// Goodbye: everything has been sent.
	Goodbye = "goodbye"
	// InternalError: this side has failed. Details stay on this side.
	InternalError = "internal error; the host's log says more"
)

// MessageError is a message that a transport could not read.
type MessageError struct{ Reason string }

func (e *MessageError) Error() string { return e.Reason }
