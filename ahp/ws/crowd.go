package ws

import (
	"net"
	"net/http"
	"sync"
	"time"

	"termhost/ahp/host"
	"termhost/authz/penalty"
)

const (
	// maxPending bounds the connections of one door that are not WebSockets, or not yet. Beyond it
	// the one that has waited longest is closed for each new one: silent connections keep nobody
	// out.
	maxPending = 256
	// maxPerSource bounds those of one address, or of one account that comes through an SSH
	// forward: a browser opens six. Everybody on this machine shares its loopback addresses, for
	// which there is no such bound.
	maxPerSource = 64
)

// crowd is the connections that are not WebSockets, or not yet.
type crowd struct {
	mu      sync.Mutex // nothing is locked under it
	members map[*door]*member
}

// member is one of them.
type member struct {
	conn    net.Conn
	source  string
	since   time.Time // when it came, or when its last request was answered
	serving bool      // a request is being answered
}

// connState follows what becomes of a connection.
func (s *Server) connState(c net.Conn, state http.ConnState) {
	below := connBelow(c)
	if below == nil {
		return
	}
	switch state {
	case http.StateNew:
		s.crowd.add(below.door, c)
	case http.StateHijacked, http.StateClosed:
		s.crowd.remove(below.door)
	}
}

// add counts a connection in, and closes another one if there are too many.
func (w *crowd) add(d *door, c net.Conn) {
	source, shared := sourceOf(d)
	w.mu.Lock()
	all, own := 0, 0
	bySource := map[string]int{}
	for other, m := range w.members {
		if other.name != d.name {
			continue
		}
		all++
		bySource[m.source]++
	}
	own = bySource[source]
	var victim *door
	switch {
	case own >= maxPerSource && !shared:
		victim = w.longestLocked(d.name, func(m *member) int {
			if m.source == source {
				return 1
			}
			return 0
		})
	case all >= maxPending:
		victim = w.longestLocked(d.name, func(m *member) int { return bySource[m.source] })
	}
	if victim == nil && all >= maxPending { // all others are being answered
		w.mu.Unlock()
		c.Close()
		return
	}
	if victim != nil {
		// It goes at once: the server notices its end later, and the next one that comes must not
		// close it once more.
		defer w.members[victim].conn.Close()
		delete(w.members, victim)
	}
	w.members[d] = &member{conn: c, source: source, since: time.Now()}
	w.mu.Unlock()
}

// longestLocked returns the connection of a door that has waited longest, among those with the
// highest weight; 0 is none. Those that are being answered do not wait.
func (w *crowd) longestLocked(name string, weight func(*member) int) (longest *door) {
	most := 1
	for d, m := range w.members {
		if d.name != name || m.serving {
			continue
		}
		n := weight(m)
		if n > most || n == most && (longest == nil || m.since.Before(w.members[longest].since)) {
			most, longest = n, d
		}
	}
	return longest
}

func (w *crowd) remove(d *door) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.members, d)
}

// serving notes that a request of a connection is being answered, until done is called.
func (w *crowd) serving(d *door) (done func()) {
	set := func(serving bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if m := w.members[d]; m != nil {
			m.serving, m.since = serving, time.Now()
		}
	}
	set(true)
	return func() { set(false) }
}

// count returns how many connections there are.
func (w *crowd) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.members)
}

// sourceOf returns what counts as one source of connections to a door. shared: many people have it.
func sourceOf(d *door) (source string, shared bool) {
	switch d.name {
	case host.DoorForward:
		return d.principal.Account(), false
	case host.DoorUnix:
		return "", true
	}
	addr := penalty.SourceOf(d.remote)
	if !addr.IsValid() {
		return d.remote.String(), false
	}
	return addr.String(), addr.IsLoopback()
}
