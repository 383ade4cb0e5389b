package bus

import (
	"slices"
	"time"
)

// Drop ends all streams with a host at once, whatever the link does. Reads and writes fail with
// why.
func (n *Node) Drop(peer string, why error) { drop(n.with(peer), why) }

// Restarted ends the streams that a host does not know any more, because it is another process than
// the one that was heard last. Those that were open then end at once, with why. A younger one may
// be of either process, and the host is asked.
func (n *Node) Restarted(peer string, heard time.Time, why error) {
	all := n.with(peer)
	young := slices.IndexFunc(all, func(s *Stream) bool { return !s.opened.Before(heard) })
	if young < 0 {
		young = len(all)
	}
	drop(all[:young], why)
	for _, s := range all[young:] {
		s.doubt()
	}
}

// with returns the streams with a host, the oldest first.
func (n *Node) with(peer string) (all []*Stream) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for key, s := range n.streams {
		if key.peer == peer {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *Stream) int { return a.opened.Compare(b.opened) })
	return all
}

func drop(all []*Stream, why error) {
	for _, s := range all { // the link may take its time
		s.fail(why)
	}
	for _, s := range all {
		s.tell(why)
	}
}

// doubt asks the peer, now and at each tick until it answers, whether it knows the stream.
func (s *Stream) doubt() {
	s.mu.Lock()
	s.doubted = true
	s.mu.Unlock()
	s.probe(true)
}
