// Package store holds the state of every channel and the order of everything that happens
// to it.
//
// One mutex guards it all, and no goroutine runs here. [Channel.Append] is one short critical
// section: it takes the next serverSeq, reduces the action into the channel's state, appends it to
// the channel's log and wakes the readers of that log. The log is the queue: a [Subscriber], which
// is a connection's reader, has a cursor on the log of each channel that it subscribed to. So live
// delivery, catching up and the replay after a reconnect are one mechanism, and a slow reader costs
// no memory.
//
// A log is bounded in bytes. A reader that falls off it is resynchronised: an AHP
// subscriber gets the answers to its own actions and then actions that rebuild the state
// ([Subscriber.Pull]); a raw one, which is an SSH viewer, is told to draw the screen anew.
// Nobody waits for such a reader, and all it misses is the history in between.
//
// A connection's own messages, such as answers and rejections, wait in its outbox and have places
// in the same order. A snapshot is taken when the answer that carries it is written; what it does
// not contain follows it: see [Subscription].
//
// The bytes of output are copied once, into chunks that the log and the content share and
// that are never written again.
package store

import (
	"errors"
	"sync"

	"termhost/ahp"
)

// ErrExists says that there is already a channel of that URI.
var ErrExists = errors.New("store: the channel exists")

// Options bound a Store. Zero values take the defaults.
type Options struct {
	// FirstSeq is the last serverSeq that an earlier run may have used.
	FirstSeq uint64
	// LogBytes bounds each channel's log, encodings included; default 4 MiB.
	LogBytes int
	// ContentBytes bounds how much of a terminal's output is kept as content; default 1 MiB. The
	// content may exceed it by what lies between two checkpoints.
	ContentBytes int
}

const (
	defaultLogBytes     = 4 << 20
	defaultContentBytes = 1 << 20
)

// Store is the state of all channels. All methods, and those of its Channels and Subscribers, may
// be called concurrently.
type Store struct {
	// mu guards everything below, and every field of channels, subscribers, cursors and
	// subscriptions that is not set once. Callers may hold a Term's lock when they take
	// it. No other lock is taken, and no function of a caller is called, while it is held.
	mu           sync.Mutex
	logBytes     int
	contentBytes int

	seq      uint64
	channels map[string]*Channel
	root     *Channel
	roots    []*Channel // others: see AddRoot and AddFleetRoot
	host     string     // see SetHost
	listed   []*Channel // the terminals of the root's list, oldest first
}

// New returns a Store that holds the root channel, with no terminals.
func New(o Options) *Store {
	s := &Store{seq: o.FirstSeq, channels: map[string]*Channel{}}
	s.SetBounds(o.LogBytes, o.ContentBytes)
	s.root = &Channel{store: s, uri: ahp.RootURI, rootState: &ahp.RootState{}, born: s.seq}
	s.root.log.dropped = s.seq
	s.channels[ahp.RootURI] = s.root
	return s
}

// SetBounds replaces Options.LogBytes and Options.ContentBytes. What exceeds them is trimmed with
// the next entry.
func (s *Store) SetBounds(logBytes, contentBytes int) {
	if logBytes <= 0 {
		logBytes = defaultLogBytes
	}
	if contentBytes <= 0 {
		contentBytes = defaultContentBytes
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logBytes, s.contentBytes = logBytes, contentBytes
}

// Seq returns the last serverSeq.
func (s *Store) Seq() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seq
}

// Root returns the root channel.
func (s *Store) Root() *Channel { return s.root }

// Add makes a terminal's channel, which takes a serverSeq. The state must have no content.
// It returns [ErrExists] if the URI is taken.
func (s *Store) Add(uri string, state ahp.TerminalState) (*Channel, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.channels[uri] != nil {
		return nil, ErrExists
	}
	c := &Channel{store: s, uri: uri, state: &state, born: s.nextLocked()}
	c.log.dropped = c.born
	s.channels[uri] = c
	return c, nil
}

// Lookup returns the channel of a normalized URI, or nil.
func (s *Store) Lookup(uri string) *Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.channels[uri]
}

// nextLocked returns the next serverSeq.
func (s *Store) nextLocked() uint64 {
	s.seq++
	return s.seq
}
