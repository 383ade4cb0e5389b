package store

import "termhost/ahp"

// A client waits for the echo of what it dispatched, also when it has fallen off
// the log that holds it. It then gets the echo as an answer of its own, ahead of the
// actions that rebuild the state.

// lostLocked is called for an entry that c's log drops: a link that has not read it
// has fallen off.
func (c *Channel) lostLocked(pos int64, e *Entry) {
	if e.origin == nil {
		return
	}
	for _, l := range c.links {
		if pos >= l.pos && pos >= l.since {
			l.sub.answerLostLocked(e)
		}
	}
}

// answerLostLocked answers e, which will not be read, if it is the reader's own.
func (sub *Subscriber) answerLostLocked(e *Entry) {
	if sub.dispatchedLocked(e) {
		sub.pushLocked(e.answerLocked(sub.store))
	}
}

// answeredLocked returns answers to what c's log holds of the reader's own after
// lastSeen, not nil.
func (sub *Subscriber) answeredLocked(c *Channel, lastSeen uint64) []*Entry {
	list := []*Entry{}
	for _, e := range c.log.entries {
		if e.seq > lastSeen && sub.dispatchedLocked(e) {
			list = append(list, e.answerLocked(sub.store))
		}
	}
	return list
}

// dispatchedLocked reports whether the reader's client has dispatched e and would
// have read it.
func (sub *Subscriber) dispatchedLocked(e *Entry) bool {
	return !sub.raw && e.origin != nil && e.origin.ClientID == sub.client && sub.mayReadLocked(e)
}

// answerLocked returns an answer to e with a number of its own. It carries nothing
// large: answers wait in memory, and the state follows.
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
