package store

import (
	"bytes"
	"slices"

	"termhost/ahp"
)

// Clipboard is a program's request to set the viewer's clipboard: a whole OSC 52 write (xterm
// ctlseqs, "Operating System Commands"). Raw subscribers, and others that want it, read it as an
// action among the others. It is not an action of AHP, changes no state and is in no log.
type Clipboard struct{ Sequence []byte }

// Type returns its name in the host's own log. It has none on the wire.
func (Clipboard) Type() string { return "termhost/clipboard" }

// maxSelections is how many clipboards may wait for a subscriber: X11 has the clipboard and
// the primary and secondary selection, and programs set two of them at a time.
const maxSelections = 3

// WantClipboards has a subscriber that is not raw get every [Clipboard].
func (sub *Subscriber) WantClipboards() {
	sub.store.mu.Lock()
	defer sub.store.mu.Unlock()
	sub.clipboards = true
}

// SetClipboard sends p, which is copied, to the subscribers that read c now and get clipboards. It
// replaces an unread one for the same selection, as it would on the viewer's clipboard.
func (c *Channel) SetClipboard(p []byte) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &Entry{seq: s.nextLocked(), channel: c.uri, action: Clipboard{Sequence: slices.Clone(p)}}
	for _, cur := range c.cursors {
		if cur.sub.raw || cur.sub.clipboards {
			cur.sub.outbox.dropClipboards(c, selection(p))
			cur.sub.pushAnswerLocked(e)
		}
	}
}

// dropClipboards makes room for one more of c's clipboards. It drops those for the same
// selection and, if there are still too many, the oldest ones.
func (o *outbox) dropClipboards(c *Channel, of string) {
	waiting := 0
	for i, it := range slices.Backward(o.items) {
		e := it.item.Entry
		if e == nil || e.channel != c.uri {
			continue
		}
		clip, ok := e.action.(Clipboard)
		if !ok {
			continue
		}
		if waiting++; waiting >= maxSelections || selection(clip.Sequence) == of {
			o.items = slices.Delete(o.items, i, i+1)
			o.forget(it)
			waiting--
		}
	}
}

// selection returns the selection that an OSC 52 write sets.
func selection(seq []byte) string {
	pc, _ := Clipboard{seq}.Parts()
	return pc
}

// Parts returns the selection, such as "c", and its new content in base64: Pc and Pd of ESC ] 52 ;
// Pc ; Pd.
func (c Clipboard) Parts() (pc, pd string) {
	_, rest, _ := bytes.Cut(c.Sequence, []byte{';'})
	of, data, _ := bytes.Cut(rest, []byte{';'})
	return string(of), string(bytes.TrimRight(data, "\a\x1b\\\x9c"))
}

// Notification is a program's desktop notification: a whole OSC 9 or OSC 777 sequence. Like a
// [Clipboard] it is not kept, and only raw subscribers get it.
type Notification struct{ Sequence []byte }

// Type returns its name in the host's own log. It has none on the wire.
func (Notification) Type() string { return "termhost/notification" }

// Notify sends p, which is copied, to the raw subscribers that read c now. It replaces an unread
// one.
func (c *Channel) Notify(p []byte) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &Entry{seq: s.nextLocked(), channel: c.uri,
		action: Notification{Sequence: slices.Clone(p)}}
	for _, cur := range c.cursors {
		if cur.sub.raw {
			cur.sub.outbox.dropNotification(c)
			cur.sub.pushAnswerLocked(e)
		}
	}
}

// dropNotification drops the unread notification of c, if there is one.
func (o *outbox) dropNotification(c *Channel) {
	o.drop(c, func(a ahp.Action) bool {
		_, ok := a.(Notification)
		return ok
	})
}

// drop drops the first message about c for which which is true, if there is one.
func (o *outbox) drop(c *Channel, which func(ahp.Action) bool) {
	for i, it := range o.items {
		e := it.item.Entry
		if e == nil || e.channel != c.uri {
			continue
		}
		if which(e.action) {
			o.items = slices.Delete(o.items, i, i+1)
			o.forget(it)
			return
		}
	}
}

// HolderOnly returns what a [Clipboard] or a [Notification] sends to a viewer's terminal. ok is
// false for every other item.
func (it Item) HolderOnly() (sequence []byte, ok bool) {
	if it.Entry == nil {
		return nil, false
	}
	switch a := it.Entry.action.(type) {
	case Clipboard:
		return a.Sequence, true
	case Notification:
		return a.Sequence, true
	}
	return nil, false
}
