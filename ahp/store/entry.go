package store

import (
	"bytes"
	"strconv"
	"sync/atomic"

	"termhost/ahp"
)

// Entry is an action with its place in the order of all actions. It never changes.
type Entry struct {
	seq       uint64
	position  int64 // 0 where it is in no channel's log
	channel   string
	action    ahp.Action
	origin    *ahp.Origin
	rejection string

	// audience is who reads the entry. Unless everybody does, owner is the clientId of the
	// terminal's owner.
	owner    string
	audience audience

	// shared: more than one reader will need the encoding, which is then kept in encoded.
	shared  atomic.Bool
	encoded [ahp.Shapes]atomic.Pointer[[]byte]

	// Guarded by store.mu, and used only while the entry is in its channel's log.
	before  int64 // the weight of all earlier entries of the log
	weight  int   // what the entry counts against the log's bound without its encodings
	counted int   // what its encodings count against it
}

// audience is who reads an entry of a client-executed terminal: its owner reads terminal/output, as
// it sent it, and everybody else the terminal/data made from it.
type audience uint8

const (
	everybody audience = iota
	allButOwner
	ownerOnly
)

// entryOverhead is the weight of an entry besides the bytes of its action.
const entryOverhead = 192

// Seq returns the serverSeq.
func (e *Entry) Seq() uint64 { return e.seq }

// Position returns where the entry stands in its channel's log, counted from 0 when the channel was
// added. Every byte of output takes one place, and so does every other action. The echo of output
// to the owner of a client-executed terminal takes none.
//
// So a position depends neither on how the output was cut into entries nor on what the log has
// dropped since. A log that is restored from a record of the same output and actions gives each
// byte and each action its old position. Entries that only one connection reads, such as answers,
// have position 0.
func (e *Entry) Position() int64 { return e.position }

// places returns how many places in its log an entry takes.
func (e *Entry) places() int64 {
	if e.audience == ownerOnly {
		return 0 // the output has its own
	}
	if d, ok := e.action.(ahp.TerminalData); ok {
		return int64(len(d.Data))
	}
	return 1
}

// Channel returns the URI of the entry's channel.
func (e *Entry) Channel() string { return e.channel }

// From reports whether a client dispatched the action.
func (e *Entry) From(client string) bool { return e.origin != nil && e.origin.ClientID == client }

// Action returns the action, which must not be modified. Output that is out of memory is read by
// the first call.
func (e *Entry) Action() ahp.Action {
	if d, ok := e.action.(spilledData); ok {
		return d.read()
	}
	return e.action
}

// Origin returns which client dispatched the action, or nil if it is the host's own.
func (e *Entry) Origin() *ahp.Origin { return e.origin }

// Rejection returns why the action was refused, or "" if it was not.
func (e *Entry) Rejection() string { return e.rejection }

// AppendEnvelope appends the envelope as a JSON object. Readers that need the same shape share one
// encoding, which the first of them makes. The serverSeq is not part of it but appended.
func (e *Entry) AppendEnvelope(dst []byte, shape ahp.Shape) []byte {
	dst = append(dst, '{')
	dst = e.appendBody(dst, shape)
	dst = append(dst, `,"serverSeq":`...)
	dst = strconv.AppendUint(dst, e.seq, 10)
	return append(dst, '}')
}

// appendBody appends the envelope without its serverSeq.
func (e *Entry) appendBody(dst []byte, shape ahp.Shape) []byte {
	if !e.shared.Load() {
		return e.encode(dst, shape)
	}
	return append(dst, e.body(shape)...)
}

// body returns the encoding that readers share, which must not be modified. If two callers encode
// at once, one encoding is kept and the other dropped.
func (e *Entry) body(shape ahp.Shape) []byte {
	slot := &e.encoded[e.slot(shape)]
	if p := slot.Load(); p != nil {
		return *p
	}
	b := e.encode(make([]byte, 0, e.encodedSize()), shape)
	if slot.CompareAndSwap(nil, &b) && !e.shared.Load() {
		slot.Store(nil) // dropEncoded has run since and found nothing to drop
	}
	return b
}

// Output returns how many bytes of output the entry is; 0: it is none.
func (e *Entry) Output() int {
	if d, ok := e.action.(ahp.TerminalData); ok {
		return len(d.Data)
	}
	return 0
}

// AppendJoined appends the envelope of one terminal/data with the output of all items, which are
// entries of one channel, and the serverSeq of the last. To a peer this is the same as their own
// envelopes, one after the other.
func AppendJoined(dst []byte, items []Item, shape ahp.Shape) []byte {
	const behind = len(`"}`) // the text, of a body
	dst = append(dst, '{')
	from := len(dst)
	dst = ahp.AppendDataHead(dst, items[0].Entry.channel)
	head := len(dst) - from
	for _, it := range items {
		if e := it.Entry; e.shared.Load() {
			body := e.body(shape)
			dst = append(dst, body[head:len(body)-behind]...)
		} else {
			dst = ahp.AppendDataText(dst, e.action.(ahp.TerminalData).Data)
		}
	}
	dst = append(dst, `"},"serverSeq":`...)
	dst = strconv.AppendUint(dst, items[len(items)-1].Entry.seq, 10)
	return append(dst, '}')
}

func (e *Entry) encode(dst []byte, shape ahp.Shape) []byte {
	return ahp.AppendEnvelopeBody(dst, e.channel, e.Action(), e.origin, e.rejection, shape)
}

// slot returns where the encoding for a shape is kept. Most actions look the same in every
// shape and share one encoding.
func (e *Entry) slot(shape ahp.Shape) ahp.Shape {
	switch e.action.(type) {
	case ahp.TerminalClaimed, ahp.RootTerminalsChanged:
		return shape
	}
	return 0
}

// encodedSize returns a buffer size that suffices for most encodings. Bytes that are not printable
// grow; in a terminal's output that is mostly ESC, from 1 byte to 6.
func (e *Entry) encodedSize() int {
	n := e.roughEncodedSize()
	if d, ok := e.action.(ahp.TerminalData); ok {
		n += 5 * bytes.Count(d.Data, []byte{'\x1b'})
	}
	return n
}

// RoughSize returns about how many bytes [Entry.AppendEnvelope] appends; seldom fewer.
func (e *Entry) RoughSize() int { return e.encodedSize() }

// roughEncodedSize returns about how many bytes an encoding takes.
func (e *Entry) roughEncodedSize() int {
	const envelope = 128
	return envelope + len(e.channel) + payload(e.action)*9/8
}

// keptBytes returns how many bytes the kept encodings take.
func (e *Entry) keptBytes() int {
	n := 0
	for i := range e.encoded {
		if p := e.encoded[i].Load(); p != nil {
			n += cap(*p)
		}
	}
	return n
}

// dropEncoded drops the kept encodings.
func (e *Entry) dropEncoded() {
	e.shared.Store(false)
	for i := range e.encoded {
		e.encoded[i].Store(nil)
	}
}

// Weight returns about how many bytes of memory an entry keeps, without its encodings.
func (e *Entry) Weight() int { return e.weigh() }

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
	case spilledData:
		return a.size
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
		return len(a.CommandID) + len(a.CommandLine) + len(a.By) + len(a.Cwd)
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
