package store

import (
	"strconv"
	"sync/atomic"

	"termhost/ahp"
)

// Entry is an action at its place in the order. It never changes.
type Entry struct {
	seq       uint64
	channel   string
	action    ahp.Action
	origin    *ahp.Origin
	rejection string

	// sender, if not nil, gets echo instead of action: the owner of a
	// client-executed terminal sees its terminal/output, the others
	// terminal/data.
	sender *Subscriber
	echo   ahp.Action

	encoded [ahp.Shapes]atomic.Pointer[[]byte]

	// counted says that the encoding counts against the log. Guarded by store.mu.
	counted bool
}

// entryOverhead is what an entry weighs in a log besides its data and encoding.
const entryOverhead = 192

// Seq returns the serverSeq.
func (e *Entry) Seq() uint64 { return e.seq }

// Channel returns the URI of the entry's channel.
func (e *Entry) Channel() string { return e.channel }

// Action returns the action. It must not be modified.
func (e *Entry) Action() ahp.Action { return e.action }

// Origin returns which client's action this is, or nil for the host's own.
func (e *Entry) Origin() *ahp.Origin { return e.origin }

// AppendEnvelope appends the envelope for sub as a JSON object. The encoding is
// made on first demand and shared by all who need the same shape.
func (e *Entry) AppendEnvelope(dst []byte, sub *Subscriber, shape ahp.Shape) []byte {
	dst = append(dst, '{')
	if e.sender != nil && e.sender == sub {
		dst = ahp.AppendEnvelopeBody(dst, e.channel, e.echo, e.origin, e.rejection, shape)
	} else {
		dst = append(dst, e.body(shape)...)
	}
	dst = append(dst, `,"serverSeq":`...)
	dst = strconv.AppendUint(dst, e.seq, 10)
	return append(dst, '}')
}

// body returns the envelope without its serverSeq. Two callers may encode at
// once; the loser's work is dropped.
func (e *Entry) body(shape ahp.Shape) []byte {
	slot := &e.encoded[e.slot(shape)]
	if p := slot.Load(); p != nil {
		return *p
	}
	origin := e.origin
	if e.sender != nil {
		origin = nil // what others see of an owner's output is the host's data
	}
	b := ahp.AppendEnvelopeBody(make([]byte, 0, e.encodedSize()), e.channel, e.action, origin, e.rejection, shape)
	slot.CompareAndSwap(nil, &b)
	return b
}

// slot returns where the encoding for a shape is kept: most actions look the
// same in every shape and are encoded once for all.
func (e *Entry) slot(shape ahp.Shape) ahp.Shape {
	switch e.action.(type) {
	case ahp.TerminalClaimed, ahp.RootTerminalsChanged:
		return shape
	}
	return 0
}

// encodedSize is about how many bytes an encoding takes.
func (e *Entry) encodedSize() int {
	const envelope = 128
	return len(e.channel) + dataLen(e.action)*9/8 + envelope
}

func (e *Entry) dropEncoded() {
	for i := range e.encoded {
		e.encoded[i].Store(nil)
	}
}

// weight is what an entry counts against its log without its encodings.
func (e *Entry) weight() int { return entryOverhead + dataLen(e.action) }

func dataLen(a ahp.Action) int {
	switch a := a.(type) {
	case ahp.TerminalData:
		return len(a.Data)
	case ahp.TerminalOutput:
		return len(a.Data)
	case ahp.TerminalCommandExecuted:
		return len(a.CommandLine)
	case ahp.RootTerminalsChanged:
		const perTerminal = 160
		return len(a.Terminals) * perTerminal
	}
	return 0
}
