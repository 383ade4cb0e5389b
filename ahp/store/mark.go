package store

import (
	"slices"

	"termhost/ahp"
)

// Mark is a mark of shell integration for a viewer's terminal: a whole OSC 133 sequence, perhaps
// with cursor movement around it. Like a [Clipboard] it is not kept, and only raw subscribers get
// it.
type Mark struct{ Sequence []byte }

// Type returns its name in the host's own log. It has none on the wire.
func (Mark) Type() string { return "termhost/mark" }

// maxMarks is how many marks may wait for a subscriber. A shell prints four for a command, so that
// is far more than the log has prompts; beyond it, the oldest are dropped.
const maxMarks = 1024

// Mark sends p, which is copied, to the raw subscribers that read c now.
func (c *Channel) Mark(p []byte) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	var e *Entry
	for _, cur := range c.cursors {
		if !cur.sub.raw {
			continue
		}
		if e == nil {
			e = &Entry{seq: s.nextLocked(), channel: c.uri,
				action: Mark{Sequence: slices.Clone(p)}}
		}
		if len(cur.sub.outbox.items) >= maxMarks {
			cur.sub.outbox.drop(c, func(a ahp.Action) bool {
				_, ok := a.(Mark)
				return ok
			})
		}
		cur.sub.pushAnswerLocked(e)
	}
}
