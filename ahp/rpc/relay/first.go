package relay

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"termhost/ahp"
)

// firstWait is how long initialize waits for other hosts that are there, at most. A client may take
// what is left out for gone. Until a host has answered there are about ten round trips, most of
// SSH, and an answer may wait behind output.
const firstWait = 10 * time.Second

// First are the subscriptions of an initialize to terminals of other hosts. Their snapshots are a
// part of its answer, and have its number. What follows them waits until the answer is written.
type First struct {
	all []*remote

	mu        sync.Mutex // a leaf, but for a remote's mu
	snapshots [][]byte   // up to the number
	waiting   int
	over      bool          // what comes now is too late
	come      chan struct{} // closed when nothing is waited for
}

// First subscribes to terminals, given by host and URI there, and returns when the hosts have
// answered, or have not in time. Those without an answer, and those that do not exist, are left
// out. Release must be called.
func (rs *Remotes) First(ctx context.Context, terminals [][2]string) *First {
	f := &First{waiting: len(terminals), come: make(chan struct{})}
	for _, t := range terminals {
		r, uri := rs.of(t[0]), t[1]
		r.hold()
		f.all = append(f.all, r)
		q := &question{follows: uri}
		q.deliver = func(snapshot json.RawMessage, e *ahp.Error) { f.take(r, uri, snapshot, e) }
		if r.reachable() != nil || r.ask(q, ahp.MethodSubscribe, []byte("{}"), uri) != nil {
			f.take(r, uri, nil, r.errFull())
		}
	}
	ctx, cancel := context.WithTimeout(ctx, firstWait)
	defer cancel()
	select {
	case <-f.come:
	case <-ctx.Done():
	}
	f.mu.Lock()
	f.over = true
	f.mu.Unlock()
	return f
}

// take takes a snapshot.
func (f *First) take(r *remote, uri string, snapshot []byte, e *ahp.Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case e != nil:
	case f.over:
		r.forget(ahp.MethodUnsubscribe, uri)
		_ = r.ask(nil, ahp.MethodUnsubscribe, []byte("{}"), uri)
	default:
		f.snapshots = append(f.snapshots, snapshot)
	}
	if f.waiting--; f.waiting == 0 {
		close(f.come)
	}
}

// AppendJSON appends the snapshots, each behind a comma unless it is the first of the list.
func (f *First) AppendJSON(dst []byte, number uint64) []byte {
	for _, text := range f.snapshots {
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		dst = append(strconv.AppendUint(append(dst, text...), number, 10), '}')
	}
	return dst
}

// Release has what follows the snapshots be passed on.
func (f *First) Release() {
	for _, r := range f.all {
		r.release()
	}
}

// hold has the actions and notifications of the host wait for release, which is to be called as
// often.
func (r *remote) hold() {
	r.receiving.Lock()
	defer r.receiving.Unlock()
	if r.holds++; r.holds == 1 {
		r.released = make(chan struct{})
	}
}

func (r *remote) release() {
	r.receiving.Lock()
	defer r.receiving.Unlock()
	if r.holds--; r.holds > 0 {
		return
	}
	for _, m := range r.held {
		if r.receive(m) != nil {
			break // no honest host sends it
		}
	}
	r.held, r.heldBytes = nil, 0
	close(r.released)
}
