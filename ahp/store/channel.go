package store

import (
	"slices"

	"termhost/ahp"
)

// Channel is the state and the log of the root or of one terminal.
//
// A terminal's content is trimmed from its head at checkpoints: places where
// the output may be cut because the checkpoint says what a fresh terminal needs
// to be told first. Whoever appends output makes them when asked to.
type Channel struct {
	store *Store
	uri   string

	// Guarded by store.mu.
	state     *ahp.TerminalState // nil for the root
	rootState *ahp.RootState     // nil for a terminal
	log       log
	links     []*link
	closed    bool
	content   content
}

// URI returns the channel's normalized URI.
func (c *Channel) URI() string { return c.uri }

// LogBytes returns the bound of the channel's log.
func (c *Channel) LogBytes() int { return c.store.logBytes }

// Append applies an action, which must not be modified afterwards, and returns
// its serverSeq. It is 0 if the channel has been removed. origin may be nil.
func (c *Channel) Append(a ahp.Action, origin *ahp.Origin) uint64 {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed {
		return 0
	}
	return c.appendLocked(&Entry{action: a, origin: origin})
}

// AppendData applies terminal/data. p is copied. It reports whether the caller
// should call [Channel.Checkpoint] before it appends anything else.
func (c *Channel) AppendData(p []byte) (checkpoint bool) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed || len(p) == 0 {
		return false
	}
	c.appendLocked(&Entry{action: ahp.TerminalData{Data: c.content.arena.copy(p, s.chunkBytes())}})
	return c.content.sinceMark >= s.chunkBytes()*3/4
}

// AppendOutput applies terminal/output of a client-executed terminal's owner:
// sender is shown the output with its origin, everybody else terminal/data.
// p is copied. It reports what [Channel.AppendData] does.
func (c *Channel) AppendOutput(p []byte, origin *ahp.Origin, sender *Subscriber) (checkpoint bool) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed {
		return false
	}
	d := c.content.arena.copy(p, s.chunkBytes())
	c.appendLocked(&Entry{action: ahp.TerminalData{Data: d}, origin: origin, sender: sender, echo: ahp.TerminalOutput{Data: d}})
	return c.content.sinceMark >= s.chunkBytes()*3/4
}

// Checkpoint says that the content may be cut at its present end, if preamble,
// which must not be modified afterwards, then takes the place of what is cut.
func (c *Channel) Checkpoint(preamble []byte) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.state != nil {
		c.content.mark(preamble)
	}
}

// Terminal returns a copy of a terminal's state and the serverSeq it is of.
func (c *Channel) Terminal() (ahp.TerminalState, uint64) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.state.Clone(), s.seq
}

// Remove takes the channel out of the store. Its subscribers still read what
// the log holds and are released at its end.
func (c *Channel) Remove() {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	delete(s.channels, c.uri)
	if i := slices.Index(s.listed, c); i >= 0 {
		s.listed = slices.Delete(s.listed, i, i+1)
	}
	for _, l := range c.links {
		l.wake() // it drops the link when it has read the rest
	}
}

// appendLocked is where every change of a channel's state happens.
func (c *Channel) appendLocked(e *Entry) uint64 {
	e.seq = c.store.nextLocked()
	e.channel = c.uri
	if c.state != nil {
		c.content.apply(c.state, e.action, c.store.contentBytes)
	} else {
		c.rootState.Apply(e.action)
		c.log.dropAll() // the newest list says everything
	}
	c.log.append(e, c.store.logBytes)
	for _, l := range c.links {
		l.wake()
	}
	return e.seq
}

// log is a bounded run of entries. An entry has a position: one more than that
// of the entry before it in the same channel.
type log struct {
	entries []*Entry
	base    int64  // the position of entries[0]
	dropped uint64 // the serverSeq of the newest entry no longer here; 0: none
	bytes   int

	// Encodings are held by entries at positions [encodedFrom, end).
	encodedFrom int64
}

func (l *log) end() int64 { return l.base + int64(len(l.entries)) }

func (l *log) at(pos int64) *Entry { return l.entries[pos-l.base] }

func (l *log) append(e *Entry, limit int) {
	l.entries = append(l.entries, e)
	l.bytes += e.weight()
	n := 0
	for n < len(l.entries)-1 && l.bytes > limit {
		l.bytes -= l.entries[n].weight()
		l.uncount(l.entries[n])
		n++
	}
	l.drop(n)
}

func (l *log) dropAll() {
	l.drop(len(l.entries))
	l.bytes = 0
}

func (l *log) drop(n int) {
	if n == 0 {
		return
	}
	l.dropped = l.entries[n-1].seq
	clear(l.entries[:n])
	l.entries = l.entries[n:]
	l.base += int64(n)
	l.encodedFrom = max(l.encodedFrom, l.base)
}

// count counts an entry's encoding, which its reader is about to make.
func (l *log) count(e *Entry) {
	if !e.counted {
		e.counted = true
		l.bytes += e.encodedSize()
	}
}

func (l *log) uncount(e *Entry) {
	if e.counted {
		e.counted = false
		l.bytes -= e.encodedSize()
	}
}

// dropEncoded drops the encodings of entries before pos.
func (l *log) dropEncoded(pos int64) {
	for ; l.encodedFrom < pos; l.encodedFrom++ {
		e := l.at(l.encodedFrom)
		l.uncount(e)
		e.dropEncoded()
	}
}
