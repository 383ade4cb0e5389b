package store

import "slices"

// Clipboard is what a program asks its viewer to put on the clipboard: an OSC 52
// write, whole (xterm ctlseqs, "Operating System Commands"). Raw subscribers
// read it as an action among the others; it is no action of AHP, changes no
// state, is in no log and is never sent to an AHP peer.
type Clipboard struct{ Sequence []byte }

// Type names it in logs; it has no name on the wire.
func (Clipboard) Type() string { return "termhost/clipboard" }

// SetClipboard gives p, which is copied, to the raw subscribers that read c now.
// A subscriber that has not read the one before it gets only this one, as its
// clipboard would hold no more.
func (c *Channel) SetClipboard(p []byte) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &Entry{seq: s.nextLocked(), channel: c.uri, action: Clipboard{Sequence: slices.Clone(p)}}
	for _, l := range c.links {
		if l.sub.raw {
			l.sub.own = slices.DeleteFunc(l.sub.own, func(it ownItem) bool { return it.item.Entry != nil && it.item.Entry.channel == c.uri })
			l.sub.pushLocked(e)
		}
	}
}
