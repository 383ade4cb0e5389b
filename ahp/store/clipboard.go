package store

import (
	"bytes"
	"slices"
)

// Clipboard is what a program asks its viewer to put on the clipboard: an OSC 52
// write, whole (xterm ctlseqs, "Operating System Commands"). Raw subscribers
// read it as an action among the others; it is no action of AHP, changes no
// state, is in no log and is never sent to an AHP peer.
type Clipboard struct{ Sequence []byte }

// Type names it in logs; it has no name on the wire.
func (Clipboard) Type() string { return "termhost/clipboard" }

// maxSelections is how many clipboards wait for a subscriber: X11's clipboard,
// primary and secondary selection, of which programs set two at a time.
const maxSelections = 3

// SetClipboard gives p, which is copied, to the raw subscribers that read c now.
// Of those for one selection that a subscriber has not read it gets only the
// newest, as its clipboard would hold no more.
func (c *Channel) SetClipboard(p []byte) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &Entry{seq: s.nextLocked(), channel: c.uri, action: Clipboard{Sequence: slices.Clone(p)}}
	for _, l := range c.links {
		if l.sub.raw {
			l.sub.own = makeRoom(l.sub.own, c, selection(p))
			l.sub.pushLocked(e)
		}
	}
}

// makeRoom takes c's clipboards for a selection out of own, and beyond
// maxSelections its oldest ones.
func makeRoom(own []ownItem, c *Channel, of string) []ownItem {
	waiting := 0
	for i := len(own) - 1; i >= 0; i-- {
		e := own[i].item.Entry
		if e == nil || e.channel != c.uri {
			continue
		}
		clip, ok := e.action.(Clipboard)
		if !ok {
			continue
		}
		if waiting++; waiting >= maxSelections || selection(clip.Sequence) == of {
			own = slices.Delete(own, i, i+1)
			waiting--
		}
	}
	return own
}

// selection returns what an OSC 52 write, ESC ] 52 ; Pc ; Pd, sets: its Pc.
func selection(seq []byte) string {
	_, rest, _ := bytes.Cut(seq, []byte{';'})
	pc, _, _ := bytes.Cut(rest, []byte{';'})
	return string(pc)
}
