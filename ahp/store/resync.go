package store

import (
	"cmp"
	"errors"
	"slices"
	"strconv"

	"termhost/ahp"
)

// ErrGone says that the channel has been removed, or the subscriber closed.
var ErrGone = errors.New("store: the channel is gone")

// View is a channel's state at a serverSeq. It never changes.
type View struct {
	URI      string
	Seq      uint64
	Root     *ahp.RootState     // of the root channel, else nil
	Terminal *ahp.TerminalState // of a terminal, else nil
}

// AppendJSON appends the view as AHP's Snapshot.
func (v View) AppendJSON(dst []byte, shape ahp.Shape) []byte {
	dst = append(dst, `{"resource":`...)
	dst = ahp.AppendJSONString(dst, v.URI)
	dst = append(dst, `,"state":`...)
	if v.Root != nil {
		dst = v.Root.AppendJSON(dst, shape)
	} else {
		dst = v.Terminal.AppendJSON(dst, shape)
	}
	dst = append(dst, `,"fromSeq":`...)
	dst = strconv.AppendUint(dst, v.Seq, 10)
	return append(dst, '}')
}

func (c *Channel) isRoot() bool { return c.rootState != nil }

func (c *Channel) viewLocked() View {
	v := View{URI: c.uri, Seq: c.store.seq}
	if c.isRoot() {
		root := *c.rootState
		v.Root = &root
		return v
	}
	st := c.state.Clone()
	v.Terminal = &st
	return v
}

// resyncLocked brings a link that fell off its log to the log's end.
func (l *link) resyncLocked(dst []Item) ([]Item, int) {
	if l.ch.isRoot() {
		l.pos = l.ch.log.base // what is left of the root's log is the whole list
		return dst, 0
	}
	if l.sub.raw {
		// It comes back with Skip; until then it has nothing to read.
		l.pos = l.ch.log.end()
		return append(dst, Item{Lagged: l.ch}), 1
	}
	for _, e := range l.ch.rebuildLocked() {
		l.sub.own = append(l.sub.own, ownItem{seq: e.seq, entry: e})
	}
	l.pos = l.ch.log.end()
	l.sub.synced[l.ch.uri] = l.ch.store.seq
	return dst, 0
}

// rebuildLocked returns actions with fresh numbers that make any state of a
// terminal equal to the present one.
func (c *Channel) rebuildLocked() []*Entry {
	if c.isRoot() {
		return []*Entry{c.entryLocked(ahp.RootTerminalsChanged{Terminals: c.rootState.Terminals})}
	}
	st := c.state
	list := []*Entry{c.entryLocked(ahp.TerminalCleared{})}
	add := func(a ahp.Action) { list = append(list, c.entryLocked(a)) }
	if st.Detection {
		add(ahp.TerminalCommandDetectionAvailable{})
	}
	for i := range st.Content {
		p := &st.Content[i]
		if p.Command != nil {
			add(ahp.TerminalCommandExecuted{CommandID: p.Command.ID, CommandLine: p.Command.Line, Timestamp: p.Command.Timestamp})
		}
		for _, b := range p.Text.Chunks() {
			add(ahp.TerminalData{Data: b})
		}
		if p.Command != nil && p.Command.Complete {
			add(ahp.TerminalCommandFinished{CommandID: p.Command.ID, ExitCode: p.Command.ExitCode, DurationMs: p.Command.DurationMs})
		}
	}
	add(ahp.TerminalTitleChanged{Title: st.Title})
	if st.Cwd != "" {
		add(ahp.TerminalCwdChanged{Cwd: st.Cwd})
	}
	if st.Cols > 0 && st.Rows > 0 {
		add(ahp.TerminalResized{Cols: st.Cols, Rows: st.Rows})
	}
	add(ahp.TerminalClaimed{Claim: st.Claim})
	if st.Exited {
		add(ahp.TerminalExited{ExitCode: st.ExitCode})
	}
	return list
}

func (c *Channel) entryLocked(a ahp.Action) *Entry {
	return &Entry{seq: c.store.nextLocked(), channel: c.uri, action: a}
}

// ReplayLimit is how much output the answer to a reconnect may carry, in
// bytes: what is beyond is resynchronised live after it.
const ReplayLimit = 8 << 20

// Reconnect subscribes to the given channels as if sub had never been away
// since lastSeen, and returns what it missed in the order of serverSeq. synced
// is what [Subscriber.Close] of its earlier self returned. A nil channel is
// passed over.
//
// A channel is rebuilt rather than replayed where its log is too short, or
// where a snapshot sent after lastSeen may or may not have arrived.
func (sub *Subscriber) Reconnect(channels []*Channel, lastSeen uint64, synced map[string]uint64) []*Entry {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	var replay []*Entry
	now, room := s.seq, ReplayLimit
	for _, c := range channels {
		if c == nil || c.closed {
			continue
		}
		l := sub.linkLocked(c)
		l.pos = c.log.end()
		l.done = l.pos
		var list []*Entry
		known := lastSeen <= now && c.log.dropped <= lastSeen && synced[c.uri] <= lastSeen
		if known {
			i, _ := slices.BinarySearchFunc(c.log.entries, lastSeen+1, func(e *Entry, seq uint64) int { return cmp.Compare(e.seq, seq) })
			list = c.log.entries[i:]
			sub.synced[c.uri] = synced[c.uri]
		} else {
			if c.contentLen() > room {
				l.pos = lagging
				l.wake()
				continue
			}
			list = c.rebuildLocked()
			sub.synced[c.uri] = s.seq
		}
		size := 0
		for _, e := range list {
			size += e.weight()
		}
		if size > room {
			l.pos = lagging
			l.wake()
			continue
		}
		room -= size
		replay = append(replay, list...)
	}
	slices.SortFunc(replay, func(a, b *Entry) int { return cmp.Compare(a.seq, b.seq) })
	return replay
}

func (c *Channel) contentLen() int {
	if c.isRoot() {
		return 0
	}
	return int(c.content.end - c.content.start)
}
