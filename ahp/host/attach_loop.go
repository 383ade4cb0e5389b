package host

import "fmt"

// A viewer that runs inside a terminal draws what it shows into that terminal. If it shows that
// very terminal, or one in which a viewer shows it, each drawing brings the next one, for ever. So
// such a viewer is refused. One that has no window prints plain output, which may go elsewhere.

// LoopError refuses a viewer whose output would come back to it.
type LoopError struct {
	Terminal string // the NAME of the terminal that the viewer is inside
	Shown    string // the NAME of the one that it would show
}

func (e *LoopError) Error() string {
	if e.Shown == e.Terminal {
		return "you are inside " + e.Terminal
	}
	return fmt.Sprintf("you are inside %s, which %s shows", e.Terminal, e.Shown)
}

// checkLoop returns a *LoopError if a viewer of t, for a process that is inside a terminal, would
// show itself.
func (c *Conn) checkLoop(t *Terminal) error {
	if c.source.Within == "" {
		return nil
	}
	h := c.host
	h.mu.Lock()
	defer h.mu.Unlock()
	shown := map[string][]*Terminal{} // by the marker of the terminal that a viewer is inside
	for a := range h.attaches {
		if within := a.conn.source.Within; within != "" && a.hasWindow() {
			shown[within] = append(shown[within], a.t)
		}
	}
	seen := map[*Terminal]bool{}
	for next := []*Terminal{t}; len(next) > 0; next = next[1:] {
		switch x := next[0]; {
		case x.origin.marker == c.source.Within:
			return &LoopError{Terminal: x.Name(), Shown: t.Name()}
		case !seen[x]:
			seen[x] = true
			next = append(next, shown[x.origin.marker]...)
		}
	}
	return nil
}
