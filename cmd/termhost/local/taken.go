package local

import (
	"sync"

	gossh "golang.org/x/crypto/ssh"

	"termhost/sshd/wire"
)

// taken is what a host has said last about the input of the command that it runs. Unless it was
// asked with [wire.InputTaken], it says nothing.
type taken struct {
	ended chan struct{} // closed when the connection has ended, and all that came is in here

	mu    sync.Mutex // a leaf
	known bool
	last  wire.Taken
}

// watch takes what is for it from a connection's global requests, and returns the others.
func (t *taken) watch(reqs <-chan *gossh.Request) <-chan *gossh.Request {
	others := make(chan *gossh.Request)
	go func() { // until the connection ends
		defer close(others)
		defer close(t.ended)
		for r := range reqs {
			var told wire.Taken
			if r.Type != wire.InputTaken || gossh.Unmarshal(r.Payload, &told) != nil {
				others <- r
				continue
			}
			t.mu.Lock()
			t.known, t.last = true, told
			t.mu.Unlock()
		}
	}()
	return others
}

// latest returns how many bytes the host has taken, and whether the program shows what is typed.
// known: the host says so.
func (t *taken) latest() (bytes uint64, shown, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last.Bytes, t.last.Shown, t.known
}
