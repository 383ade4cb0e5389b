package relay

import (
	"context"
	"sync"
	"time"

	"termhost/ahp"
)

// helloWait is how long reconnect waits for other hosts, at most. What they say later follows.
const helloWait = 2 * time.Second

// Resumed is what other hosts say to a client that reconnects.
type Resumed struct {
	Missing []string // terminals that are gone
	// Typed has for each terminal the clientSeq of the last input that its host has taken; nil:
	// nobody knows.
	Typed map[string]int64
}

// Resume goes on with terminals that the client has followed before, by host and URI there. It has
// seen everything up to a number of the door's; 0: nobody knows. Resume returns when the hosts have
// answered, or have not in time; their actions come later.
func (rs *Remotes) Resume(ctx context.Context, terminals [][2]string, seen uint64) Resumed {
	byHost := map[string]map[string]bool{}
	for _, t := range terminals {
		if byHost[t[0]] == nil {
			byHost[t[0]] = map[string]bool{}
		}
		byHost[t[0]][t[1]] = true
	}
	var mu sync.Mutex
	result := Resumed{Typed: map[string]int64{}}
	waiting, answered, known := len(byHost), make(chan struct{}), true
	for name, uris := range byHost {
		r := rs.of(name)
		r.mu.Lock()
		r.follows, r.known, r.lastSeen = uris, true, rs.memory.seen(name, seen)
		r.resumed = func(typed map[string]int64, missing []string) {
			mu.Lock()
			defer mu.Unlock()
			known = known && typed != nil
			for uri, seq := range typed {
				if name, ok := ahp.FleetURI(name, uri); ok {
					result.Typed[name] = seq
				}
			}
			for _, uri := range missing {
				r.forget(ahp.MethodUnsubscribe, uri)
				if name, ok := ahp.FleetURI(name, uri); ok {
					result.Missing = append(result.Missing, name)
				}
			}
			if waiting--; waiting == 0 {
				close(answered)
			}
		}
		r.startLocked()
		r.mu.Unlock()
	}
	ctx, cancel := context.WithTimeout(ctx, helloWait)
	defer cancel()
	select {
	case <-answered:
	case <-ctx.Done():
	}
	mu.Lock()
	defer mu.Unlock()
	if waiting > 0 || !known {
		result.Typed = nil
	}
	return Resumed{result.Missing, result.Typed}
}
