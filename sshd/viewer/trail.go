package viewer

import (
	"maps"
	"time"

	"termhost/ahp/host"
)

// trail has where a viewer has been. It is the input loop's, under its lock.
type trail struct {
	home *host.Terminal // that the connection began with
	last *host.Terminal // that was shown before; nil: none
	// gone has when the viewer went to which terminal because it wanted its person.
	gone map[*host.Terminal]time.Time
}

func newTrail(home *host.Terminal, s *Session) trail {
	gone := map[*host.Terminal]time.Time{}
	if s.Elsewhere != nil {
		gone = s.Elsewhere.Gone()
	}
	return trail{home: home, gone: gone}
}

// back returns the terminal to go back to from t: the one that was shown before, or else the
// connection's own. It is nil if there is none.
func (r *trail) back(t *host.Terminal) *host.Terminal {
	for _, before := range []*host.Terminal{r.last, r.home} {
		if before != nil && before != t && !hasEnded(before) {
			return before
		}
	}
	return nil
}

// next returns the terminal of list, which is not empty, that has wanted the person longest, of
// those that the viewer has not gone to since they began to. When it has gone to all, it goes to
// them in turn: what waits for an answer goes on wanting somebody after a look.
func (r *trail) next(list []host.Wanted) host.Wanted {
	maps.DeleteFunc(r.gone, func(t *host.Terminal, _ time.Time) bool { return isGone(t) })
	next, first := list[0], time.Time{}
	for i, x := range list {
		if at := r.been(x); i == 0 || at.Before(first) {
			next, first = x, at
		}
	}
	return next
}

// been returns when the viewer went to a terminal because of what it wants; zero: it did not.
func (r *trail) been(x host.Wanted) time.Time {
	at := r.gone[x.Terminal]
	if x.At.After(at) {
		return time.Time{} // it wants something new
	}
	return at
}

// hasEnded reports whether there is nothing more to do at t.
func hasEnded(t *host.Terminal) bool {
	_, over := t.Exit()
	return over
}

// isGone reports whether the host has forgotten a terminal.
func isGone(t *host.Terminal) bool {
	select {
	case <-t.Gone():
		return true
	default:
		return false
	}
}
