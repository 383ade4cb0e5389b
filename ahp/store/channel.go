package store

import (
	"slices"
	"sync/atomic"

	"termhost/ahp"
)

// Channel is the state and the log of the root or of one terminal.
//
// A terminal's content is trimmed from its head at checkpoints: places where the output may be cut,
// because the checkpoint's preamble brings a fresh terminal into the state that the cut output did.
// The writer of output makes checkpoints when asked to.
type Channel struct {
	store *Store
	uri   string
	born  uint64 // the serverSeq at which it was added

	// Guarded by store.mu.
	state     *ahp.TerminalState // nil for the root
	rootState *ahp.RootState     // nil for a terminal
	within    []*Channel         // of another root: see AddRoot
	elsewhere *elsewhere         // of another root: see AddFleetRoot
	log       log
	cursors   []*cursor
	encoders  int // how many of the cursors belong to readers that need encodings
	// Of the cursors, those from the index passed on need no encodings of the entry at passedAt, if
	// that is still log.encodedFrom. Cursors move forward, but for lookAnewLocked.
	passed   int
	passedAt int64
	closed   bool
	content  content
	trail    *Trail // nil: the next process will not know the serverSeqs

	typist atomic.Pointer[Subscriber] // see SetTypist; nil: nobody
}

// URI returns the channel's normalized URI.
func (c *Channel) URI() string { return c.uri }

// Born returns the serverSeq at which the channel was added. Lower ones that a client has
// seen belong to an earlier channel of the same URI.
func (c *Channel) Born() uint64 { return c.born }

// LogBytes returns the bound of the channel's log, in the same unit as [Subscriber.Lag].
func (c *Channel) LogBytes() int {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	return c.store.logBytes
}

// Record has t record the serverSeqs of the channel's entries, beginning with those that are there;
// nil: nothing is recorded any more.
func (c *Channel) Record(t *Trail) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	c.trail = nil
	c.recordOnLocked(t)
}

// Trail returns a copy of what was recorded, for [NewTrail]; nil: nothing was.
func (c *Channel) Trail() []byte {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.trail == nil {
		return nil
	}
	return slices.Clone(c.trail.mem)
}

// Append applies an action, which must not be modified afterwards, and returns its serverSeq, or 0
// if the channel has been removed. origin may be nil. The root accepts root/terminalsChanged only.
func (c *Channel) Append(a ahp.Action, origin *ahp.Origin) uint64 {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed {
		return 0
	}
	e := &Entry{action: a, origin: origin}
	c.takeViewsBeforeLocked(e)
	return c.appendLocked(e, a)
}

// AppendData applies terminal/data. p is copied; if it is empty, nothing happens. It
// reports whether the caller should call [Channel.Checkpoint] before it appends anything
// else. The owner of a client-executed terminal is not shown the entry: see [Channel.Echo].
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
		c.takeViewsBeforeLocked(e)
	}
	c.appendLocked(e, ahp.TerminalData{Data: d})
	return c.checkpointDueLocked()
}

// Echo sends the owner of a client-executed terminal, and nobody else, the action by which it added
// output. The state contains that output already, as terminal/data. Like the rest of the log, the
// echo is replayed once to an owner that reconnects. a must not be modified afterwards.
func (c *Channel) Echo(a ahp.TerminalOutput, origin *ahp.Origin) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed {
		return
	}
	e := &Entry{action: a, origin: origin, audience: ownerOnly, owner: c.state.Claim.ClientID}
	c.takeViewsBeforeLocked(e)
	c.logLocked(e)
}

// CheckpointDue returns what [Channel.AppendData] does. Call it after appending commands, which
// count as well, even without output.
func (c *Channel) CheckpointDue() bool {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.checkpointDueLocked()
}

func (c *Channel) checkpointDueLocked() bool {
	return !c.closed && c.content.sinceCheckpoint >= c.store.chunkBytes()*3/4
}

// Checkpoint makes the present end of the content a place where it may be cut; preamble then
// replaces what is cut. preamble must not be modified afterwards.
func (c *Channel) Checkpoint(preamble []byte) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.state != nil {
		c.content.checkpoint(preamble)
	}
}

// Terminal returns a copy of a terminal's state, without its asks, which are not for everybody, and
// its serverSeq. It must not be called on the root.
func (c *Channel) Terminal() (ahp.TerminalState, uint64) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.stateLocked(AsksReader{}), s.seq
}

// TerminalFor returns a copy of a terminal's state with those of its asks that r may read. It must
// not be called on the root.
func (c *Channel) TerminalFor(r AsksReader) ahp.TerminalState {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.stateLocked(r)
}

// stateLocked returns a copy of a terminal's state as r may read it: the only way out of the store.
func (c *Channel) stateLocked(r AsksReader) ahp.TerminalState {
	st := c.state.Clone()
	st.Asks = r.Of(st.Asks)
	return st
}

// Trimmed reports whether the beginning of a terminal's content has been trimmed since it was
// cleared.
func (c *Channel) Trimmed() bool {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.content.trimmed
}

// Retire removes a terminal from the root's list with the next [Store.PublishTerminals], and frees
// its URI. Its subscribers can read on until [Channel.Remove].
func (c *Channel) Retire() {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	c.retireLocked()
}

func (c *Channel) retireLocked() {
	s := c.store
	if s.channels[c.uri] == c { // else another channel has the URI already
		delete(s.channels, c.uri)
	}
	if i := slices.Index(s.listed, c); i >= 0 {
		s.listed = slices.Delete(s.listed, i, i+1)
	}
}

// Remove removes the channel from the store. Its subscribers read the rest of the log and are
// released at its end.
func (c *Channel) Remove() {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed {
		return
	}
	c.closed, c.trail = true, nil
	c.retireLocked()
	s.removeRootLocked(c)
	for _, cur := range c.cursors {
		cur.wakeLocked() // its subscriber drops it when it has read the rest
	}
}

// appendLocked makes every change of a channel's state. reduced is e's action, but the output in it
// may have room to grow in place.
func (c *Channel) appendLocked(e *Entry, reduced ahp.Action) uint64 {
	if c.state != nil {
		c.content.apply(c.state, reduced, c.store.contentBytes)
	} else {
		c.rootState.Apply(reduced)
		c.log.dropAll() // the newest list replaces all earlier ones
	}
	return c.logLocked(e)
}

// logLocked puts e into the log with the next serverSeq.
func (c *Channel) logLocked(e *Entry) uint64 {
	e.seq = c.store.nextLocked()
	e.channel = c.uri
	c.log.append(e, c.store.logBytes, c.lostLocked)
	if e.places() > 0 && c.trail != nil {
		c.trail.add(markOf(e))
	}
	if c.log.encoded > 0 {
		c.releaseLocked() // a reader may just have fallen off
	}
	c.wakeReadersLocked(e)
	return e.seq
}

// releaseLocked drops the encodings that no reader needs any more. It is called for each reader
// that has written something, so it must not look at all of them each time.
func (c *Channel) releaseLocked() {
	if c.passedAt != c.log.encodedFrom {
		c.passed, c.passedAt = len(c.cursors), c.log.encodedFrom
	}
	for ; c.passed > 0; c.passed-- {
		if cur := c.cursors[c.passed-1]; cur.needsLocked() && cur.done <= c.log.encodedFrom {
			return
		}
	}
	oldest := c.log.end()
	for _, cur := range c.cursors {
		if cur.needsLocked() {
			oldest = min(oldest, cur.done)
		}
	}
	c.log.dropEncoded(oldest)
}

// needsLocked reports whether the cursor's reader needs the encodings of what it has not written.
func (cur *cursor) needsLocked() bool { return !cur.sub.raw && !cur.laggingLocked() }

// lookAnewLocked is called when a cursor may have moved back, or was dropped.
func (c *Channel) lookAnewLocked() { c.passedAt = -1 }
