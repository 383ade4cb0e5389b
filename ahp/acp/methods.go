package acp

import (
	"encoding/json"
	"log/slog"
	"slices"
	"sync"

	"termhost/ahp/host"
	"termhost/authz"
)

// How many exited terminals of a principal's agents stay listed, over all
// connections: enough to look at what an agent has just done, and together too few
// to push people's own out of the host's list (max_exited, 64 by default).
const (
	// keepReleased is for those that the agent has released, or left with its
	// connection.
	keepReleased = 16
	// keepHeld is for those that it has not: what shows them may not have come yet.
	keepHeld = 32
)

// Methods are ACP's terminal methods on a host.
type Methods struct {
	host *host.Host
	log  *slog.Logger

	mu      sync.Mutex        // a leaf
	shelves map[string]*shelf // by principal
}

// shelf are a principal's exited terminals that may be listed, oldest first.
type shelf struct{ held, released []*host.Terminal }

// NewMethods returns the methods on h. log may be nil.
func NewMethods(h *host.Host, log *slog.Logger) *Methods {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Methods{host: h, log: log, shelves: map[string]*shelf{}}
}

// Terminals returns what answers for c, a connection of the host. It may be called
// concurrently.
func (m *Methods) Terminals(c *host.Conn) *Terminals {
	return &Terminals{Methods: m, conn: c, byID: map[string]*terminal{}}
}

// shelve notes that a terminal of p's has exited, and later that it is released as
// well, and has those forgotten that are then too many. What they had left in the
// background goes on.
func (m *Methods) shelve(p authz.Principal, t *host.Terminal, released bool) {
	m.mu.Lock()
	for id, sh := range m.shelves { // what the host has forgotten by itself, for any reason
		sh.held, sh.released = slices.DeleteFunc(sh.held, isGone), slices.DeleteFunc(sh.released, isGone)
		if len(sh.held)+len(sh.released) == 0 {
			delete(m.shelves, id)
		}
	}
	sh := m.shelves[p.ID]
	if sh == nil {
		sh = &shelf{}
		m.shelves[p.ID] = sh
	}
	var old []*host.Terminal
	if i := slices.Index(sh.held, t); !released {
		old = push(&sh.held, t, keepHeld)
	} else if i >= 0 { // it is listed
		sh.held = slices.Delete(sh.held, i, i+1)
		old = push(&sh.released, t, keepReleased)
	}
	m.mu.Unlock()
	for _, t := range old {
		_ = m.host.Forget(p, t) // what a person holds by now stays theirs
	}
}

// push appends t to a list that may have as many as most, and returns which are
// then off it.
func push(list *[]*host.Terminal, t *host.Terminal, most int) (off []*host.Terminal) {
	*list = append(*list, t)
	n := max(0, len(*list)-most)
	off = slices.Clone((*list)[:n])
	*list = slices.Delete(*list, 0, n)
	return off
}

func isGone(t *host.Terminal) bool {
	select {
	case <-t.Gone():
		return true
	default:
		return false
	}
}

// Announcement is what initialize's _meta says of the methods.
func (m *Methods) Announcement() (key string, value json.RawMessage) {
	return "termhost/acpTerminals", encode(struct {
		Methods []string `json:"methods"`
	}{[]string{methodCreate, methodOutput, methodWait, methodKill, methodRelease}})
}
