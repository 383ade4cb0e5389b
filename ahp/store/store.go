// Package store holds the state of every channel and the order of everything
// that happens to it.
//
// One mutex guards it all and no goroutine runs here. [Channel.Append] is one
// short critical section: it takes the next serverSeq, reduces the action into
// the channel's state, appends it to the channel's log and wakes whoever reads
// that log. The log is the queue: a [Subscriber] is a position in the log of
// each channel it subscribed to, so delivering live, replaying after a
// reconnect and catching up are one thing, and a slow reader costs no memory.
//
// A log is bounded in bytes. A reader that falls off it is resynchronised: an
// AHP subscriber gets the answers to its own actions and then actions that rebuild
// the state ([Subscriber.Pull]), a raw one is told to take a new redraw. Nobody waits
// for it, and it loses nothing but the history in between.
//
// A connection's own messages, such as answers and rejections, have their place
// in the same order, so a state that is answered with and the actions that follow
// it meet exactly: see [Subscriber.Subscribe].
//
// The bytes of output are copied once, into chunks that the log and the content
// share and that are never written again.
package store

import (
	"errors"
	"sync"

	"termhost/ahp"
)

// ErrExists says that a channel of that URI is there already.
var ErrExists = errors.New("store: the channel exists")

// Options bound a Store. Zero values take the defaults.
type Options struct {
	// FirstSeq is the serverSeq to begin after.
	FirstSeq uint64
	// LogBytes bounds each channel's log, encodings included; default 4 MiB.
	LogBytes int
	// ContentBytes is how much of a terminal's output is kept as content,
	// give or take one chunk; default 1 MiB.
	ContentBytes int
}

const (
	defaultLogBytes     = 4 << 20
	defaultContentBytes = 1 << 20
)

// Store is the shared state. All methods, and those of the Channels and
// Subscribers it gives out, may be called concurrently.
type Store struct {
	logBytes     int
	contentBytes int

	// mu guards everything below and every field of channels and subscribers.
	// It is the last lock taken: Term, then store.
	mu       sync.Mutex
	seq      uint64
	channels map[string]*Channel
	root     *Channel
	listed   []*Channel // the terminals of the root's list, oldest first
}

// New returns a Store that holds the root channel, with no terminals.
func New(o Options) *Store {
	s := &Store{logBytes: o.LogBytes, contentBytes: o.ContentBytes, seq: o.FirstSeq, channels: map[string]*Channel{}}
	if s.logBytes <= 0 {
		s.logBytes = defaultLogBytes
	}
	if s.contentBytes <= 0 {
		s.contentBytes = defaultContentBytes
	}
	s.root = &Channel{store: s, uri: ahp.RootURI, rootState: &ahp.RootState{}, born: s.seq, log: log{dropped: s.seq}}
	s.channels[ahp.RootURI] = s.root
	return s
}

// Seq returns the last serverSeq given out.
func (s *Store) Seq() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seq
}

// Root returns the root channel.
func (s *Store) Root() *Channel { return s.root }

// Add makes a terminal's channel, which takes a serverSeq. The state's content
// must be empty. It returns [ErrExists] if the URI is taken.
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
