package bus

// Class is the kind of a message. Those of one class and sender arrive in order, if they arrive.
type Class byte

// The classes.
const (
	Control Class = iota // announcements, requests, and what opens, paces and ends streams
	Bytes                // what streams carry
)

// Link sends messages to the hosts of a fleet. Its methods may be called concurrently.
type Link interface {
	// Send sends p, which is not kept, to a host. A message may be lost without an error.
	Send(to string, class Class, p []byte) error
	// SendAll sends p, which is not kept, to all hosts that hear this one, the sender among them.
	SendAll(p []byte) error
	// Hear chooses whose messages to all are received: those of hosts; nil: those of every host. At
	// first it is nobody's. A link may receive more than was chosen.
	Hear(hosts []string) error
	// Reconnect cuts a connection that only looks alive, and connects again.
	Reconnect()
	// Close ends the link. Nothing is received afterwards.
	Close() error
}

// Receiver takes what comes over a link.
type Receiver struct {
	// Receive takes a message from a host; all: it was sent to all. It does not block, and does
	// not keep p.
	Receive func(from string, all bool, p []byte)
	// Connected is called when messages may have been lost: the link was cut and is whole again.
	Connected func()
}

// Connect makes the link of a host.
type Connect func(Receiver) (Link, error)
