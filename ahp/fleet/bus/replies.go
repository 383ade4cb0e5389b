package bus

import (
	"sync"
	"time"

	"termhost/authz/admit"
)

// replyRate is how many frames of one host are answered at once, of those to which each answer is a
// frame: a host with maxStreams sends one for each of them every tick. Beyond it they are ignored,
// and an honest host sends them again. Otherwise one that floods this host would use up what it may
// send itself.
var replyRate = admit.Rate{PerSecond: 2 * maxStreams, Burst: 2 * maxStreams}

// replies paces the answers to each host.
type replies struct {
	mu sync.Mutex // a leaf
	of map[string]*admit.Bucket
}

// allowed takes an answer to a host, and reports whether it may be sent.
func (r *replies) allowed(to string) bool {
	const some = 64 // hosts that have not sent lately are forgotten beyond it
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	b := r.of[to]
	if b == nil {
		if len(r.of) >= some {
			for host, old := range r.of {
				if old.Full(now) {
					delete(r.of, host)
				}
			}
		}
		if r.of == nil {
			r.of = map[string]*admit.Bucket{}
		}
		b = &admit.Bucket{}
		r.of[to] = b
	}
	return b.Allow(replyRate, 1, now)
}
