package store

import "termhost/ahp"

// A client waits for the echo of each action that it dispatched, even if its connection has
// fallen off the log that held the echo. It then gets an answer in place of the echo, before
// the actions that rebuild the state.

// lostLocked is called for an entry that c's log drops. A cursor that has not read it has
// fallen off the log.
func (c *Channel) lostLocked(index int64, e *Entry) {
	if c.trail != nil && c.encoders > 0 {
		for _, cur := range c.cursors {
			if cur.pos == index { // the first entry that it has not read
				c.trail.synced(cur.sub.client, 0)
			}
		}
	}
	if e.origin == nil {
		return
	}
	for _, cur := range c.cursors {
		if index >= max(cur.pos, cur.since) {
			cur.sub.answerLostLocked(e)
		}
	}
}

// answerLostLocked answers e, which the reader will not read, if its client dispatched it.
func (sub *Subscriber) answerLostLocked(e *Entry) {
	if sub.dispatchedLocked(e) {
		sub.pushAnswerLocked(e.answerLocked(sub.store))
	}
}

// answeredLocked returns answers to the actions after lastSeen in c's log that the reader's
// client dispatched. It does not return nil.
func (sub *Subscriber) answeredLocked(c *Channel, lastSeen uint64) []*Entry {
	list := []*Entry{}
	for _, e := range c.log.after(lastSeen) {
		if sub.dispatchedLocked(e) {
			list = append(list, e.answerLocked(sub.store))
		}
	}
	return list
}

// dispatchedLocked reports whether e is an echo for the reader's client.
func (sub *Subscriber) dispatchedLocked(e *Entry) bool {
	return !sub.raw && e.origin != nil && e.origin.ClientID == sub.client && sub.mayReadLocked(e)
}

// answerLocked returns an answer to e with a serverSeq of its own. It does not repeat output
// and command lines, which may be large: the answer waits in memory, and the state follows
// it.
func (e *Entry) answerLocked(s *Store) *Entry {
	a := e.action
	switch act := a.(type) {
	case ahp.TerminalOutput:
		a = ahp.TerminalOutput{Notice: act.Notice}
	case ahp.TerminalCommandExecuted:
		act.CommandLine = ""
		a = act
	}
	answer := &Entry{seq: s.nextLocked(), channel: e.channel, action: a, origin: e.origin}
	answer.weight = answer.weigh()
	return answer
}
