package local

import (
	"sync"

	gossh "golang.org/x/crypto/ssh"

	"termhost/sshd/wire"
)

// taken is the host's word on the terminal that it shows: its identity, and how much of its input
// has been taken. Before the first command that asks for that, [wire.InputTaken], it says nothing.
type taken struct {
	ended chan struct{} // closed when the connection has ended, and all that came is in here
	came  chan struct{} // closed when a terminal is shown

	mu    sync.Mutex // a leaf, but for echo's queue
	known bool
	last  wire.Taken
	echo  *echo      // is told; nil: nobody is
	shows wire.Shows // the terminal; without a Name: it has ended
}

func newTaken() *taken {
	return &taken{ended: make(chan struct{}), came: make(chan struct{})}
}

// watch takes what is for it from a connection's global requests, and returns the others.
func (t *taken) watch(reqs <-chan *gossh.Request) <-chan *gossh.Request {
	others := make(chan *gossh.Request)
	go func() { // until the connection ends
		defer close(others)
		defer close(t.ended)
		for r := range reqs {
			var told wire.Taken
			var shows wire.Shows
			switch {
			case r.Type == wire.InputTaken && gossh.Unmarshal(r.Payload, &told) == nil:
				t.mu.Lock()
				t.known, t.last = true, told
				t.echo.taken(told)
				t.mu.Unlock()
			case r.Type == wire.ShowsTerminal && gossh.Unmarshal(r.Payload, &shows) == nil:
				t.shown(shows)
			default:
				others <- r
			}
		}
	}()
	return others
}

// follow has e told what the host says of the input, unless e is nil.
func (t *taken) follow(e *echo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.echo = e; t.known {
		e.taken(t.last)
	}
}

// shown takes which terminal is shown from now on.
func (t *taken) shown(now wire.Shows) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shows = now
	select {
	case <-t.came:
	default:
		close(t.came)
	}
}

// showing returns which terminal is shown; known: the host has said that.
func (t *taken) showing() (now wire.Shows, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.came:
		known = true
	default:
	}
	return t.shows, known
}

// latest returns how many bytes the host has taken, and whether the program shows what is typed.
// known: the host says so.
func (t *taken) latest() (bytes uint64, shown, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last.Bytes, t.last.Shown, t.known
}
