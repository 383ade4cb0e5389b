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
	born  uint64 // the serverSeq at which it was added

	// Guarded by store.mu.
	state     *ahp.TerminalState // nil for the root
	rootState *ahp.RootState     // nil for a terminal
	log       log
	links     []*link
	encoders  int // how many of links need encodings
	closed    bool
	content   content
}

// URI returns the channel's normalized URI.
func (c *Channel) URI() string { return c.uri }

// Born returns the serverSeq at which the channel was added: what a client saw
// before it is of another channel of that URI.
func (c *Channel) Born() uint64 { return c.born }

// LogBytes returns the bound of the channel's log, in the measure of
// [Subscriber.Lag].
func (c *Channel) LogBytes() int { return c.store.logBytes }

// Append applies an action, which must not be modified afterwards, and returns
// its serverSeq. It is 0 if the channel has been removed. origin may be nil.
// The root takes no other action than root/terminalsChanged.
func (c *Channel) Append(a ahp.Action, origin *ahp.Origin) uint64 {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed {
		return 0
	}
	return c.appendLocked(&Entry{action: a, origin: origin}, a)
}

// AppendData applies terminal/data. p is copied. It reports whether the caller
// should call [Channel.Checkpoint] before it appends anything else. The owner of
// a client-executed terminal is not shown it: see [Channel.Echo]. Empty data is
// nothing.
func (c *Channel) AppendData(p []byte) (checkpoint bool) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed || len(p) == 0 {
		return false
	}
	d := c.content.arena.copy(p, s.chunkBytes())
	e := &Entry{action: ahp.TerminalData{Data: slices.Clip(d)}}
	if c.state.Client {
		e.audience, e.owner = allButOwner, c.state.Claim.ClientID
	}
	c.appendLocked(e, ahp.TerminalData{Data: d})
	return c.checkpointDueLocked()
}

// Echo shows the owner of a client-executed terminal, and nobody else, the
// action by which it added output: the state has that already, as terminal/data.
// Like all of the log it is replayed to an owner that comes back, once. a must
// not be modified afterwards.
func (c *Channel) Echo(a ahp.TerminalOutput, origin *ahp.Origin) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.closed {
		c.logLocked(&Entry{action: a, origin: origin, audience: ownerOnly, owner: c.state.Claim.ClientID})
	}
}

// CheckpointDue reports what [Channel.AppendData] does. It is for who appends
// commands without output, which take room too.
func (c *Channel) CheckpointDue() bool {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.checkpointDueLocked()
}

func (c *Channel) checkpointDueLocked() bool {
	return !c.closed && c.content.sinceMark >= c.store.chunkBytes()*3/4
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

// Terminal returns a copy of a terminal's state and the serverSeq it is of. The
// root is no terminal.
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
	c.retireLocked()
	for _, l := range c.links {
		l.wakeLocked() // its subscriber drops it when it has read the rest
	}
}

// appendLocked is where every change of a channel's state happens. reduced is
// e's action, but output may grow into the memory behind it.
func (c *Channel) appendLocked(e *Entry, reduced ahp.Action) uint64 {
	if c.state != nil {
		c.content.apply(c.state, reduced, c.store.contentBytes)
	} else {
		c.rootState.Apply(reduced)
		c.log.dropAll() // the newest list says everything
	}
	return c.logLocked(e)
}

// logLocked puts e into the log with the next serverSeq.
func (c *Channel) logLocked(e *Entry) uint64 {
	e.seq = c.store.nextLocked()
	e.channel = c.uri
	c.log.append(e, c.store.logBytes, c.lostLocked)
	if c.log.encoded > 0 {
		c.releaseLocked() // somebody may just have fallen off
	}
	for _, l := range c.links {
		l.wakeLocked()
	}
	return e.seq
}

// releaseLocked drops the encodings that no reader needs any more.
func (c *Channel) releaseLocked() {
	oldest := c.log.end()
	// Readers are woken from the front: the slowest is likely at the back.
	for _, l := range slices.Backward(c.links) {
		if l.sub.raw || l.laggingLocked() {
			continue
		}
		if l.done <= c.log.encodedFrom {
			return
		}
		oldest = min(oldest, l.done)
	}
	c.log.dropEncoded(oldest)
}
