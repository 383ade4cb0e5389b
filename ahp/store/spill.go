package store

import (
	"io"
	"slices"
	"sync"

	"termhost/ahp"
)

// spillLogShare: ShortenLog leaves 1/spillLogShare of a log's bound to its readers.
const spillLogShare = 16

// Memory returns how much memory a terminal's log and content take, in bytes. It counts shared
// chunks twice.
func (c *Channel) Memory() int {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	n := c.log.bytes + c.log.encoded
	for i := range c.state.Content {
		n += c.state.Content[i].Text.Resident() + partFixed(&c.state.Content[i])
	}
	for i := range c.content.checkpoints {
		n += c.content.checkpoints[i].preamble.Resident()
	}
	return n
}

// Watched reports whether anybody has subscribed to the channel.
func (c *Channel) Watched() bool {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(c.cursors) > 0
}

// ShortenLog drops the entries of a terminal's log that its present readers do not need; clients
// that reconnect later get the state anew. Readers that are far behind are resynchronised.
func (c *Channel) ShortenLog() {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &c.log
	needed := l.end()
	for _, cur := range c.cursors {
		if !cur.laggingLocked() {
			needed = min(needed, cur.done)
		}
	}
	limit := int64(s.logBytes / spillLogShare)
	n := 0
	for n < len(l.entries) && (l.base+int64(n) < needed || l.behind(l.base+int64(n)) > limit) {
		l.forget(l.entries[n])
		c.lostLocked(l.base+int64(n), l.entries[n])
		n++
	}
	l.drop(n)
	l.entries = slices.Clone(l.entries)
}

// Spill moves a terminal's output out of memory, as far as save accepts it: see [ahp.Text.Spill].
// The state and its snapshots do not change. Nobody may append during the call; readers may read.
func (c *Channel) Spill(
	save func(p []byte) (from io.ReaderAt, at int64, err error),
) (err error) {
	s := c.store
	s.mu.Lock()
	content, start, end := c.state.Clone().Content, c.content.start, c.content.end
	checkpoints := slices.Clone(c.content.checkpoints)
	s.mu.Unlock()

	move := func(t *ahp.Text) {
		if err == nil {
			*t, err = t.Spill(save)
		}
	}
	for i := range content {
		move(&content[i].Text)
	}
	for i := range checkpoints {
		move(&checkpoints[i].preamble)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if c.content.start != start || c.content.end != end || len(c.state.Content) != len(content) {
		return err
	}
	for i := range content {
		c.state.Content[i].Text = content[i].Text
	}
	c.content.checkpoints, c.content.arena = checkpoints, arena{}
	return err
}

// spilledData is the terminal/data of output that is out of memory. It is read once, when it is
// needed: not under the store's lock, where everybody would wait for the disk.
type spilledData struct {
	text ahp.Text
	size int // of the data, in bytes
	read func() ahp.TerminalData
}

// newSpilledData returns the terminal/data of before and a text.
func newSpilledData(before string, text ahp.Text) spilledData {
	size := len(before) + text.Len()
	return spilledData{text: text, size: size, read: sync.OnceValue(func() ahp.TerminalData {
		data := make([]byte, 0, size)
		return ahp.TerminalData{Data: text.AppendTo(append(data, before...))}
	})}
}

// Type returns the action's name on the wire.
func (spilledData) Type() string { return ahp.TerminalData{}.Type() }
