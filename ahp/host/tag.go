package host

import (
	"errors"
	"time"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/journal"
	"termhost/authz"
	"termhost/ptypool/termlog"
	"termhost/ptypool/vt"
)

// A door may have state of its own about a terminal, such as whose requests it answers. A tag keeps
// what is needed of that with the terminal, from one host to the next. The host does not look into
// tags.

// Tagged returns the terminals that have a tag, those of an earlier host included.
func (h *Host) Tagged() (list []*Terminal) {
	for _, t := range h.all() {
		if t.Tag() != "" {
			list = append(list, t)
		}
	}
	return list
}

// Tag returns the terminal's tag; "": it has none.
func (t *Terminal) Tag() string {
	t.term.Lock()
	defer t.term.Unlock()
	return t.tag
}

// SetTag replaces the terminal's tag. The next host has the new one, even if this one is killed
// right after SetTag has returned.
func (t *Terminal) SetTag(tag string) {
	t.term.Lock()
	defer t.term.Unlock()
	t.tag = tag
	t.warn(t.log.journal.Describe(t.log.describe(), t.host.now()))
}

// Tap has tap get all visible output of a terminal that an earlier host has started, once and in
// its order: first the log's part of it, before Tap returns, and then new output. whole: the log
// holds all of it. See [CreateOptions] for what tap may do. It returns *authz.Denied if the
// principal may not read the terminal.
func (c *Conn) Tap(t *Terminal, tap func(p []byte)) (whole bool, err error) {
	if err := authz.Check(c.principal, authz.Read, t.seen()); err != nil {
		return false, err
	}
	t.term.Lock() // nothing is printed meanwhile
	defer t.term.Unlock()
	t.kept.loadLocked()
	if whole, err = t.printed(tap); errors.Is(err, journal.ErrNotLogged) {
		st, _ := t.ch.Terminal()
		for i := range st.Content {
			for _, chunk := range st.Content[i].Text.Chunks() {
				tap(chunk)
			}
		}
		whole, err = !t.ch.Trimmed(), nil
	}
	t.tap = tap
	return whole, err
}

// printed gives tap the visible output that the log holds; whole: that is all of it. It parses the
// log as it was parsed when it came. The Term's lock is held.
func (t *Terminal) printed(tap func(p []byte)) (whole bool, err error) {
	r := tapReader{tap: tap, whole: true,
		screen: vt.New(t.log.outline.Cols, t.log.outline.Rows,
			vt.Options{Nonce: t.origin.screen.Nonce})}
	walk := &r.walk
	err = t.log.journal.Records(journal.WholeLog, func(rec termlog.Record) bool {
		walk.Take(rec, &r)
		return true
	})
	if !t.term.Screen().Pending() {
		r.screen.Flush(tapSink{tap: tap}) // what was held back has been given to the viewers since
	}
	return r.whole, err
}

// tapReader gives a tap what a log holds. See [history.Visitor].
type tapReader struct {
	history.Ignore
	tap    func(p []byte)
	screen *vt.Screen
	walk   history.Walker
	begun  bool
	whole  bool
}

// Begin comes first, and at later checkpoints behind gaps.
func (r *tapReader) Begin([]byte) bool {
	r.whole = r.whole && (r.begun || r.walk.At.Pos == 0)
	r.begun = true
	return true
}

// Data is output.
func (r *tapReader) Data(p []byte) {
	r.screen.Tick(r.walk.At.Time, tapSink{tap: r.tap})
	r.screen.Feed(p, tapSink{tap: r.tap})
}

// Unfollowed is output behind what is gone.
func (r *tapReader) Unfollowed(p []byte) {
	r.whole = false
	r.Data(p)
}

// Gap ends whatever sequence was begun, with CAN.
func (r *tapReader) Gap(int64, string) {
	r.whole = false
	r.screen.Feed([]byte{0x18}, nil)
}

// tapSink gives a tap what the parser finds for viewers.
type tapSink struct {
	vt.Discard
	tap func(p []byte)
}

// Data is output.
func (s tapSink) Data(p []byte) { s.tap(p) }

// ClientGrace returns how long terminals wait for a client that is away, at most.
func (h *Host) ClientGrace() time.Duration { return h.cfg().ClientGrace }

// Closing reports whether the host ends. Its terminals may go on under the next one.
func (h *Host) Closing() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

// ClientID returns the clientId of a connection that has been initialized. The connection's reader
// may call it.
func (c *Conn) ClientID() string { return c.client.id }

// Version returns the version of a connection that has been initialized. The connection's reader
// may call it.
func (c *Conn) Version() ahp.Version { return c.version }

// Holds reports whether the peer holds the claim of the terminal on a channel, under the clientId
// of this connection.
func (c *Conn) Holds(channel string) bool {
	t := c.host.lookup(channel)
	if t == nil {
		return false
	}
	c.host.mu.Lock()
	id := c.client.id
	c.host.mu.Unlock()
	t.term.Lock()
	defer t.term.Unlock()
	by := t.keyboard.holder
	return !t.Client() && by.principal == c.principal.ID && by.claim.ClientID == id
}
