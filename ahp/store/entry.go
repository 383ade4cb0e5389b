package store

import (
	"bytes"
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

	// audience says who reads it; owner is the clientId that it is about.
	audience audience
	owner    string

	// shared says that more than one reader will need the encoding, which is
	// then kept in encoded.
	shared  atomic.Bool
	encoded [ahp.Shapes]atomic.Pointer[[]byte]

	// Guarded by store.mu, and of use only while the entry is in a log.
	before  int64 // what all entries before this one in the same log weighed
	weight  int   // what it counts against the log without its encodings
	counted int   // what its encodings count against the log
}

// audience is who reads an entry of a client-executed terminal: its owner sees
// terminal/output, as it sent it, and everybody else the terminal/data that was
// made of it.
type audience uint8

const (
	everybody audience = iota
	allButOwner
	ownerOnly
)

// entryOverhead is what an entry weighs in a log besides what it carries.
const entryOverhead = 192

// Seq returns the serverSeq.
func (e *Entry) Seq() uint64 { return e.seq }

// Channel returns the URI of the entry's channel.
func (e *Entry) Channel() string { return e.channel }

// Action returns the action. It must not be modified.
func (e *Entry) Action() ahp.Action { return e.action }

// Origin returns which client's action this is, or nil for the host's own.
func (e *Entry) Origin() *ahp.Origin { return e.origin }

// Rejection returns why the action was refused; "": it was not.
func (e *Entry) Rejection() string { return e.rejection }

// AppendEnvelope appends the envelope as a JSON object. Where several readers
// need it, the encoding is made on first demand and shared by all who need the
// same shape; the serverSeq is stamped behind it.
func (e *Entry) AppendEnvelope(dst []byte, shape ahp.Shape) []byte {
	dst = append(dst, '{')
	dst = e.appendBody(dst, shape)
	dst = append(dst, `,"serverSeq":`...)
	dst = strconv.AppendUint(dst, e.seq, 10)
	return append(dst, '}')
}

// appendBody appends the envelope without its serverSeq. Two callers may encode
// at once; the loser's work is dropped.
func (e *Entry) appendBody(dst []byte, shape ahp.Shape) []byte {
	if !e.shared.Load() {
		return e.encode(dst, shape)
	}
	slot := &e.encoded[e.slot(shape)]
	if p := slot.Load(); p != nil {
		return append(dst, *p...)
	}
	b := e.encode(make([]byte, 0, e.encodedSize()), shape)
	if slot.CompareAndSwap(nil, &b) && !e.shared.Load() {
		slot.Store(nil) // dropEncoded came between and found nothing to drop
	}
	return append(dst, b...)
}

func (e *Entry) encode(dst []byte, shape ahp.Shape) []byte {
	return ahp.AppendEnvelopeBody(dst, e.channel, e.action, e.origin, e.rejection, shape)
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

// encodedSize returns room enough for most encodings: what is not printable
// grows, and in a terminal's output that is mostly ESC, from 1 byte to 6.
func (e *Entry) encodedSize() int {
	n := e.roughEncodedSize()
	if d, ok := e.action.(ahp.TerminalData); ok {
		n += 5 * bytes.Count(d.Data, []byte{'\x1b'})
	}
	return n
}

// roughEncodedSize is about how many bytes an encoding takes.
func (e *Entry) roughEncodedSize() int {
	const envelope = 128
	return envelope + len(e.channel) + payload(e.action)*9/8
}

// keptBytes returns what the encodings that are kept take.
func (e *Entry) keptBytes() int {
	n := 0
	for i := range e.encoded {
		if p := e.encoded[i].Load(); p != nil {
			n += cap(*p)
		}
	}
	return n
}

func (e *Entry) dropEncoded() {
	e.shared.Store(false)
	for i := range e.encoded {
		e.encoded[i].Store(nil)
	}
}

// weigh returns what an entry counts against its log without its encodings.
func (e *Entry) weigh() int {
	n := entryOverhead + payload(e.action) + len(e.rejection)
	if e.origin != nil {
		n += len(e.origin.ClientID)
	}
	return n
}

// payload returns how many bytes an action carries.
func payload(a ahp.Action) int {
	switch a := a.(type) {
	case ahp.TerminalData:
		return len(a.Data)
	case ahp.TerminalInput:
		return len(a.Data)
	case ahp.TerminalOutput:
		return len(a.Data) + len(a.Notice)
	case ahp.TerminalExited:
		return len(a.Notice)
	case ahp.TerminalClaimed:
		return claimBytes(a.Claim)
	case ahp.TerminalTitleChanged:
		return len(a.Title)
	case ahp.TerminalCwdChanged:
		return len(a.Cwd)
	case ahp.TerminalCommandExecuted:
		return len(a.CommandID) + len(a.CommandLine)
	case ahp.TerminalCommandFinished:
		return len(a.CommandID)
	case ahp.RootTerminalsChanged:
		const each = 128 // the struct, and the keys of its encoding
		n := 0
		for i := range a.Terminals {
			t := &a.Terminals[i]
			n += each + len(t.Resource) + len(t.Title) + claimBytes(t.Claim)
		}
		return n
	case ahp.Unknown:
		return len(a.Name) + len(a.Raw)
	}
	return 0
}

func claimBytes(c ahp.Claim) int {
	return len(c.ClientID) + len(c.Session) + len(c.Chat) + len(c.TurnID) + len(c.ToolCallID)
}
