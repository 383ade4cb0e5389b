package bus

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// MaxAnnouncement bounds an announcement, in bytes: every host gets that of every other one
	// every few seconds.
	MaxAnnouncement = 1 << 10
	// MaxMessage bounds a request, an answer and a stream's greeting, in bytes.
	MaxMessage = 64 << 10
	// maxStreams bounds the streams that one host has opened at another.
	maxStreams = 1 << 10
	// maxAnswering bounds the requests that are answered at once, and maxAnsweringOne those of one
	// host; others get no answer.
	maxAnswering    = 64
	maxAnsweringOne = 4
	// tick is how often a Node looks for streams that stand still.
	tick = time.Second
)

// Errors of a Node.
var (
	ErrClosed   = errors.New("bus: closed")
	ErrTooLarge = errors.New("bus: the message is too large")
)

// Handlers handle a Node's messages. nil ones ignore, or refuse.
type Handlers struct {
	// Announced takes an announcement of a host in Hears (nil: of any host), the Node's own too if
	// it is one of them. It does not block, and does not keep p.
	Announced func(from string, p []byte)
	Hears     []string
	// Connected is called when the link was cut and is whole again. It does not block.
	Connected func()
	// Asked answers a request. It is called on a goroutine of its own, and ctx ends with the Node.
	Asked func(ctx context.Context, from string, p []byte) ([]byte, error)
	// Opened serves a stream that from has opened, and closes it. It is called on a goroutine of
	// its own.
	Opened func(from string, greeting []byte, s *Stream)
}

// Node is a host's end of the bus. Its methods may be called concurrently.
type Node struct {
	name     string
	handlers Handlers
	link     Link

	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup // handlers; added under mu while not closed
	replies replies

	mu        sync.Mutex // a leaf, but for a Stream's mu, which comes after it
	closed    bool
	asking    map[uint64]*question
	answering map[string]int // requests that are being answered, by who asks
	streams   map[streamKey]*Stream
	ticking   *time.Timer // nil: there are no streams
}

// question is a request that waits for its answer.
type question struct {
	to     string
	answer chan answer // 1 deep
}

type answer struct {
	p   []byte
	err error
}

// streamKey names a stream. Its id is the choice of whoever opened it.
type streamKey struct {
	peer string
	id   uint64
	ours bool // this Node has opened it
}

// New connects the host of that name.
func New(name string, connect Connect, h Handlers) (*Node, error) {
	n := &Node{name: name, handlers: h, asking: map[uint64]*question{},
		answering: map[string]int{}, streams: map[streamKey]*Stream{}}
	n.ctx, n.stop = context.WithCancel(context.Background())
	ready := make(chan struct{})
	link, err := connect(Receiver{
		Receive: func(from string, all bool, p []byte) {
			<-ready
			n.receive(from, all, p)
		},
		Connected: func() {
			<-ready
			n.probe(true)
			if h.Connected != nil {
				h.Connected()
			}
		},
	})
	n.link = link
	close(ready)
	if err == nil && h.Announced != nil {
		if err = link.Hear(h.Hears); err != nil {
			link.Close()
		}
	}
	if err != nil {
		n.stop()
		return nil, err
	}
	return n, nil
}

// Hear has the Node hear the announcements of other hosts than before: see Handlers.Hears.
func (n *Node) Hear(hosts []string) error { return n.link.Hear(hosts) }

// Name returns the host's name.
func (n *Node) Name() string { return n.name }

// Announce sends p to all hosts that are connected and hear this one.
func (n *Node) Announce(p []byte) error {
	if len(p) > MaxAnnouncement {
		return fmt.Errorf("%w: an announcement of %d bytes", ErrTooLarge, len(p))
	}
	return n.link.SendAll(frame{kind: announced, payload: p}.append(nil))
}

// Request asks a host, and returns its answer. A host that is not there does not answer: bound ctx.
func (n *Node) Request(ctx context.Context, to string, p []byte) ([]byte, error) {
	if len(p) > MaxMessage {
		return nil, ErrTooLarge
	}
	id, q := randomID(), &question{to, make(chan answer, 1)}
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return nil, ErrClosed
	}
	n.asking[id] = q
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		delete(n.asking, id)
		n.mu.Unlock()
	}()
	if err := n.send(to, Control, frame{kind: asked, id: id, payload: p}); err != nil {
		return nil, err
	}
	select {
	case a := <-q.answer:
		return a.p, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%s does not answer: %w", to, context.Cause(ctx))
	case <-n.ctx.Done():
		return nil, ErrClosed
	}
}

// Open opens a stream to a host. It does not wait for the host: one that is there and refuses ends
// the stream, with the reason as the error of Read.
func (n *Node) Open(to string, greeting []byte) (*Stream, error) {
	if len(greeting) > MaxMessage {
		return nil, ErrTooLarge
	}
	s := newStream(n, streamKey{to, randomID(), true})
	s.greeting = slices.Clone(greeting)
	if err := n.add(s); err != nil {
		return nil, err
	}
	return s, s.greet()
}

// Reconnect cuts a link that only looks alive, and connects again. No stream ends.
func (n *Node) Reconnect() { n.link.Reconnect() }

// Streams returns how many streams are open.
func (n *Node) Streams() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.streams)
}

// Close ends all streams and the link, and waits for the handlers.
func (n *Node) Close() error {
	n.mu.Lock()
	n.closed = true
	var all []*Stream
	for _, s := range n.streams {
		all = append(all, s)
	}
	n.mu.Unlock()
	n.stop()
	for _, s := range all {
		s.Refuse(ErrClosed)
	}
	err := n.link.Close()
	n.running.Wait()
	return err
}

// inBackground runs f, which does not wait for the Node, on a goroutine of its own.
func (n *Node) inBackground(f func()) {
	n.mu.Lock()
	closed := n.closed
	if !closed {
		n.running.Go(f)
	}
	n.mu.Unlock()
	if closed {
		f() // the link takes nothing any more
	}
}

// add makes a stream known.
func (n *Node) add(s *Stream) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return ErrClosed
	}
	n.streams[s.key] = s
	if n.ticking == nil {
		n.ticking = time.AfterFunc(tick, func() { n.probe(false) })
	}
	return nil
}

// forget removes a stream.
func (n *Node) forget(s *Stream) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.streams, s.key)
}

// probe has every stream look after what is under way; lost: messages may have been lost.
func (n *Node) probe(lost bool) {
	n.mu.Lock()
	var all []*Stream
	for _, s := range n.streams {
		all = append(all, s)
	}
	if !lost {
		n.ticking = nil
		if len(all) > 0 && !n.closed {
			n.ticking = time.AfterFunc(tick, func() { n.probe(false) })
		}
	}
	n.mu.Unlock()
	for _, s := range all {
		s.probe(lost)
	}
}

// send sends a frame to a host.
func (n *Node) send(to string, class Class, f frame) error {
	return n.link.Send(to, class, f.append(make([]byte, 0, frameHead+len(f.payload))))
}

// receive takes a message. It does not block.
func (n *Node) receive(from string, all bool, p []byte) {
	f, err := parseFrame(p)
	switch {
	case err != nil:
	case all:
		if f.kind == announced && n.handlers.Announced != nil &&
			len(f.payload) <= MaxAnnouncement {
			n.handlers.Announced(from, f.payload)
		}
	case f.kind == asked:
		n.answer(from, f)
	case f.kind == answered, f.kind == failed:
		n.answered(from, f)
	case f.kind == opened:
		n.accept(from, f)
	default:
		n.forStream(from, f)
	}
}

// accept serves a stream that a peer opens, once however often it asks.
func (n *Node) accept(from string, f frame) {
	key := streamKey{from, f.id, false}
	n.mu.Lock()
	if known := n.streams[key]; known != nil || n.closed {
		n.mu.Unlock()
		if known != nil && n.replies.allowed(from) {
			known.credit(credited) // the peer has not heard from it
		}
		return
	}
	count := 0
	for k := range n.streams {
		if k.peer == from && !k.ours {
			count++
		}
	}
	refusal := ""
	switch {
	case n.handlers.Opened == nil:
		refusal = "this host serves no streams"
	case count >= maxStreams:
		refusal = "too many streams are open"
	case len(f.payload) > MaxMessage:
		refusal = ErrTooLarge.Error()
	}
	if refusal != "" {
		n.mu.Unlock()
		if !n.replies.allowed(from) {
			return
		}
		_ = n.send(from, Control, n.frameFor(key, frame{kind: reset, payload: []byte(refusal)}))
		return
	}
	s := newStream(n, key)
	n.streams[key] = s
	if n.ticking == nil {
		n.ticking = time.AfterFunc(tick, func() { n.probe(false) })
	}
	greeting := slices.Clone(f.payload)
	n.running.Go(func() { n.handlers.Opened(from, greeting, s) })
	n.mu.Unlock()
	s.credit(credited)
}

// The highest bit of an id tells, in every frame of a stream but that which opens it, whether its
// receiver has opened the stream: both may have chosen the same number.
const openedByReceiver = 1 << 63

// frameFor fills in the id of a stream.
func (n *Node) frameFor(key streamKey, f frame) frame {
	if f.id = key.id; !key.ours {
		f.id |= openedByReceiver
	}
	return f
}

// forStream hands a frame to its stream.
func (n *Node) forStream(from string, f frame) {
	key := streamKey{from, f.id &^ openedByReceiver, f.id&openedByReceiver != 0}
	n.mu.Lock()
	s := n.streams[key]
	n.mu.Unlock()
	switch {
	case s != nil:
		if f.kind != probed || n.replies.allowed(from) {
			s.receive(f)
		}
	case f.kind != reset && n.replies.allowed(from):
		_ = n.send(from, Control, n.frameFor(key,
			frame{kind: reset, a: unknownStream, payload: []byte(unknown)}))
	}
}

// unknownStream marks a reset for a stream that its sender does not know; unknown is its reason.
const unknownStream = 1
const unknown = "the host does not know this stream: it has restarted"

// randomID returns an id without its highest bit.
func randomID() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.BigEndian.Uint64(b[:]) &^ openedByReceiver
}
