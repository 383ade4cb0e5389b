package typed

import (
	"bufio"
	"io"
	"time"

	"termhost/ptypool/keyboard"
)

// bufferBytes is how much is read at a time: some keys with their heads.
const bufferBytes = 512

// Reader reads messages, and returns what was typed in time. Of a paste that has lost a part, the
// rest is dropped, too: its lines would be typed. It must not be used concurrently.
type Reader struct {
	from *bufio.Reader
	late func(heard uint64) time.Duration
	lost func(keys int)

	unread   []byte
	returned time.Time     // when Read did; zero: it has not
	away     time.Duration // how long nobody has read what may have come

	// Of the message that is handled, and what was before it:
	filter  keyboard.Filter // finds pastes
	drops   bool            // the message is late
	pasting bool            // what comes next goes on with a paste
	gap     bool            // of which something was dropped
	keys    int             // that the message has lost; a paste is one
}

// NewReader returns a Reader of the messages in from. late returns by how much more than a host may
// be silent it is since the heartbeat of a number was said; negative: it is less. lost is told how
// many keys were dropped.
func NewReader(from io.Reader, late func(heard uint64) time.Duration, lost func(keys int)) *Reader {
	return &Reader{from: bufio.NewReaderSize(from, bufferBytes), late: late, lost: lost}
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	if !r.returned.IsZero() && len(r.unread) == 0 {
		r.away += time.Since(r.returned)
	}
	for len(r.unread) == 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.unread)
	r.unread, r.returned = r.unread[n:], time.Now()
	return n, nil
}

// next handles a message. A reader that was busy, because a program does not read, makes no message
// late.
func (r *Reader) next() error {
	heard, p, err := read(r.from)
	if err != nil {
		return err
	}
	late := r.late(heard)
	if late <= 0 {
		r.away = 0
	}
	r.drops, r.keys, r.unread = late > r.away, 0, nil
	r.filter.Feed(p, r)
	if r.keys > 0 {
		r.lost(r.keys)
	}
	return nil
}

// pasteEnd ends a paste (xterm ctlseqs, "Bracketed Paste Mode").
const pasteEnd = "\x1b[201~"

// Typed implements [keyboard.Handler].
func (r *Reader) Typed(p []byte) {
	rest := r.pasting
	r.pasting = r.filter.Pasting()
	switch {
	case rest && r.gap:
		r.gap = r.pasting
	case !r.drops:
		r.unread = append(r.unread, p...)
	case rest: // the program takes what follows for pasted otherwise
		r.unread = append(r.unread, pasteEnd...)
		r.gap = r.pasting
		r.keys++
	case r.pasting:
		r.gap = true
		r.keys++
	default:
		r.keys += keyboard.Count(p)
	}
}

// Prefixed implements [keyboard.Handler]: there is no prefix.
func (r *Reader) Prefixed() {}

// Commanded implements [keyboard.Handler].
func (r *Reader) Commanded(rune, []byte, []byte) {}
