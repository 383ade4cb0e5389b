package main

import (
	"sync"

	gossh "golang.org/x/crypto/ssh"

	"termhost/sshd"
)

// inputTaken is what a host has said last about the input of the command that it runs. Without
// sshd.Taken it says nothing.
type inputTaken struct {
	ended chan struct{} // closed when the connection has ended, and all that came is in here

	mu    sync.Mutex // a leaf
	known bool
	last  sshd.InputTaken
}

// watch takes what is for it from a connection's global requests, and returns the others.
func (t *inputTaken) watch(reqs <-chan *gossh.Request) <-chan *gossh.Request {
	others := make(chan *gossh.Request)
	go func() { // until the connection ends
		defer close(others)
		defer close(t.ended)
		for r := range reqs {
			var told sshd.InputTaken
			if r.Type != sshd.Taken || gossh.Unmarshal(r.Payload, &told) != nil {
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

// latest returns how many bytes the host has taken, and whether what is typed is shown there.
// known: the host says so.
func (t *inputTaken) latest() (bytes uint64, shown, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last.Bytes, t.last.Shown, t.known
}
