package rpc

import (
	"errors"
	"time"
	"unicode/utf8"

	"termhost/ahp"
	"termhost/ahp/store"
)

// Flow control of a channel (AHP 1.1, specification, "Experimental windowed delivery") is for a
// peer that bounds what it is sent of each channel. Each message of the channel is text of which
// the peer gets pieces, in frames. A message may begin while fewer bytes than the window are sent
// and not consumed; the peer says what it has consumed with credit. All sizes are those of the text
// in UTF-16.
//
// The writer pulls a channel's entries into its window and holds the channel until they are sent:
// see [store.Subscriber.Hold]. No channel is pulled that has no credit, and none while much is
// queued in other windows. So a window has what one Pull has taken, the state that is rebuilt for a
// reader that fell off the log, and answers to what its peer sends.

// receiveLimits are what one side receives at most of a channel, in bytes of UTF-16.
type receiveLimits struct {
	Window  int64 `json:"windowBytes"`         // sent and not consumed, when a message begins
	Frame   int64 `json:"maximumFrameBytes"`   // of a whole notification channel/frame
	Message int64 `json:"maximumMessageBytes"` // of a message, before it is cut
}

// flowControl is what a host accepts.
type flowControl struct {
	Client receiveLimits `json:"clientReceive"`
	Host   receiveLimits `json:"hostReceive"`
}

const (
	// The most that a peer is granted, whatever it offers: a window that holds more controls
	// nothing, and larger frames hold up other channels.
	mostWindow, mostFrame, mostMessage = 4 << 20, 64 << 10, 64 << 20
	// The least that a peer has to offer: an entry's action fits, and a frame has room for a name
	// and some text. Else the channel is delivered as usual.
	leastFrame, leastMessage = 4 << 10, 1 << 20
)

// granted returns the limits for a peer that offers some; false: they are too low.
func granted(offer receiveLimits) (receiveLimits, bool) {
	return receiveLimits{
		Window:  min(offer.Window, mostWindow),
		Frame:   min(offer.Frame, mostFrame),
		Message: min(offer.Message, mostMessage),
	}, offer.Frame >= leastFrame && offer.Message >= leastMessage
}

// maxSafe is the largest integer that JSON numbers of all peers can hold.
const maxSafe = 1<<53 - 1

func (l receiveLimits) check(field string) *ahp.Error {
	for _, f := range []struct {
		name  string
		value int64
	}{{"windowBytes", l.Window}, {"maximumFrameBytes", l.Frame},
		{"maximumMessageBytes", l.Message}} {
		if f.value < 1 || f.value > maxSafe {
			return ahp.FieldProblem(field+"."+f.name, "must be 1 to 9007199254740991")
		}
	}
	return nil
}

// window is the delivery of one channel under flow control.
type window struct {
	uri    string
	limits receiveLimits

	// Of the writer.
	queue []queued // what has not begun
	text  []byte   // the rest of the message that has begun
	held  store.Holding

	// Guarded by windows.mu.
	dropped        bool      // the subscription has ended
	credited       time.Time // when credit came last, or the window was opened
	sent, consumed int64     // in all, in bytes of UTF-16
	ends           []int64   // of sent, behind each whole message that is not consumed

	incoming // of the reader
}

// queued is what is to be sent: an entry, or a message, or channel/ready.
type queued struct {
	entry   store.Item
	message func(dst []byte) []byte
	ready   bool // message is channel/ready, which is sent at once and not in frames
}

// weight returns about how many bytes of memory it keeps.
func (q *queued) weight() int64 {
	if q.entry.Entry != nil {
		return int64(q.entry.Entry.Weight())
	}
	return 0 // it is made when it is sent
}

// weight returns that of what is queued.
func (w *window) weight() (n int64) {
	for i := range w.queue {
		n += w.queue[i].weight()
	}
	return n
}

// mayBegin reports whether a message may begin.
func (w *window) mayBegin() bool { return w.sent-w.consumed < w.limits.Window }

var errTooLarge = errors.New("a message of the channel is larger than the peer receives")

// begin takes the text of the next message. windows.mu is held.
func (w *window) begin(text []byte) error {
	size := sizeUTF16(text)
	if size > w.limits.Message {
		return errTooLarge
	}
	w.sent += size
	w.text = text
	return nil
}

// end has the peer's credit count the message that has been begun. windows.mu is held.
func (w *window) end() { w.ends = append(w.ends, w.sent) }

var errCredit = errors.New("credit is the size of whole messages that have been sent")

// consume takes the peer's credit, which counts from the first message on. windows.mu is held.
func (w *window) consume(consumed int64) error {
	if consumed <= w.consumed {
		return nil // it was overtaken
	}
	for i, end := range w.ends {
		if end == consumed {
			w.consumed, w.ends, w.credited = consumed, w.ends[i+1:], time.Now()
			return nil
		}
	}
	return errCredit
}

const (
	frameHead  = `{"jsonrpc":"2.0","method":"` + ahp.MethodChannelFrame + `","params":{"channel":`
	frameData  = `,"data":`
	frameFinal = `,"final":true`
	frameTail  = `}}`
)

// appendFrame appends a frame with as much of the text as it may have, and removes that from the
// text.
func (w *window) appendFrame(dst []byte) []byte {
	from := len(dst)
	dst = ahp.AppendJSONString(append(dst, frameHead...), w.uri)
	dst = append(dst, frameData...)
	around := sizeUTF16(dst[from:]) + 2*int64(len(`""`+frameFinal+frameTail))
	piece := cutUTF16(w.text, w.limits.Frame-around)
	dst = ahp.AppendJSONString(dst, piece)
	if w.text = w.text[len(piece):]; len(w.text) == 0 {
		w.text = nil
		dst = append(dst, frameFinal...)
	}
	return append(dst, frameTail...)
}

// sizeUTF16 returns how many bytes a text of valid UTF-8 has in UTF-16.
func sizeUTF16(text []byte) (size int64) {
	for _, b := range text {
		switch {
		case b >= 0xf0: // the first byte of a surrogate pair
			size += 4
		case b < utf8.RuneSelf || b >= 0xc0: // the first byte of another character
			size += 2
		}
	}
	return size
}

// cutUTF16 returns the longest beginning of a JSON text that takes at most size bytes of UTF-16
// inside a JSON string, but one character at least.
func cutUTF16(text []byte, size int64) []byte {
	for i := 0; i < len(text); {
		cost, n := int64(2), 1
		switch b := text[i]; {
		case b == '"' || b == '\\':
			cost = 4
		case b >= utf8.RuneSelf:
			_, n = utf8.DecodeRune(text[i:])
			if n == 4 {
				cost = 4
			}
		}
		if size -= cost; size < 0 && i > 0 {
			return text[:i]
		}
		i += n
	}
	return text
}
