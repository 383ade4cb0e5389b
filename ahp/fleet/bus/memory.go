package bus

import (
	"errors"
	"slices"
	"sync"
)

// Network links the hosts of one process, for tests. The zero Network has none. Its methods may be
// called concurrently.
type Network struct {
	// Lose reports whether a message is lost; nil: none is. It is set before the first Connect.
	Lose func(from, to string, class Class, p []byte) bool

	mu    sync.Mutex // a leaf
	links map[string]*memoryLink
}

// Connect returns what makes the link of the host of that name.
func (w *Network) Connect(name string) Connect {
	return func(r Receiver) (Link, error) {
		l := &memoryLink{net: w, name: name, receiver: r, done: make(chan struct{})}
		l.more.L = &l.mu
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.links[name] != nil {
			return nil, errors.New("bus: there is a host of that name")
		}
		if w.links == nil {
			w.links = map[string]*memoryLink{}
		}
		w.links[name] = l
		go l.deliver()
		return l, nil
	}
}

// memoryLink is a link of a Network.
type memoryLink struct {
	net      *Network
	name     string
	receiver Receiver
	done     chan struct{} // closed when deliver has returned

	mu     sync.Mutex // a leaf
	more   sync.Cond
	queue  []message
	closed bool
	hears  func(from string) bool // nil: nobody
}

type message struct {
	from string
	all  bool
	p    []byte
}

// Send implements Link.
func (l *memoryLink) Send(to string, class Class, p []byte) error {
	if l.net.Lose != nil && l.net.Lose(l.name, to, class, p) {
		return nil
	}
	l.net.mu.Lock()
	peer := l.net.links[to]
	l.net.mu.Unlock()
	if peer != nil {
		peer.put(message{l.name, false, slices.Clone(p)})
	}
	return nil
}

// SendAll implements Link.
func (l *memoryLink) SendAll(p []byte) error {
	l.net.mu.Lock()
	var all []*memoryLink
	for _, peer := range l.net.links {
		all = append(all, peer)
	}
	l.net.mu.Unlock()
	for _, peer := range all {
		if l.net.Lose == nil || !l.net.Lose(l.name, peer.name, Control, p) {
			peer.put(message{l.name, true, slices.Clone(p)})
		}
	}
	return nil
}

// Hear implements Link.
func (l *memoryLink) Hear(hosts []string) error {
	hosts = slices.Clone(hosts)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hears = func(from string) bool { return hosts == nil || slices.Contains(hosts, from) }
	return nil
}

// Reconnect implements Link.
func (l *memoryLink) Reconnect() { l.receiver.Connected() }

// Close implements Link.
func (l *memoryLink) Close() error {
	l.net.mu.Lock()
	delete(l.net.links, l.name)
	l.net.mu.Unlock()
	l.mu.Lock()
	l.closed = true
	l.more.Signal()
	l.mu.Unlock()
	<-l.done
	return nil
}

func (l *memoryLink) put(m message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.all && (l.hears == nil || !l.hears(m.from)) {
		return
	}
	l.queue = append(l.queue, m)
	l.more.Signal()
}

// deliver is the link's goroutine.
func (l *memoryLink) deliver() {
	defer close(l.done)
	for {
		l.mu.Lock()
		for len(l.queue) == 0 && !l.closed {
			l.more.Wait()
		}
		if l.closed {
			l.mu.Unlock()
			return
		}
		all := l.queue
		l.queue = nil
		l.mu.Unlock()
		for _, m := range all {
			l.receiver.Receive(m.from, m.all, m.p)
		}
	}
}
