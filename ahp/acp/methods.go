package acp

import (
	"encoding/json"
	"log/slog"
	"slices"
	"sync"

	"termhost/ahp/host"
	"termhost/authz"
)

// keepExited is how many exited terminals of a principal's agents stay listed,
// whether they are released or not, and over all connections: enough to look at
// what an agent has just done, too few to push people's own out of the host's
// list (max_exited, 64 by default).
const keepExited = 16

// Methods are ACP's terminal methods on a host.
type Methods struct {
	host *host.Host
	log  *slog.Logger

	mu     sync.Mutex                  // a leaf
	exited map[string][]*host.Terminal // by principal: exited ones that may be listed, oldest first
}

// NewMethods returns the methods on h. log may be nil.
func NewMethods(h *host.Host, log *slog.Logger) *Methods {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Methods{host: h, log: log, exited: map[string][]*host.Terminal{}}
}

// Terminals returns what answers for c, a connection of the host. It may be called
// concurrently.
func (m *Methods) Terminals(c *host.Conn) *Terminals {
	return &Terminals{Methods: m, conn: c, byID: map[string]*terminal{}}
}

// shelve notes that a terminal of p's has exited, and has those forgotten that
// are then too many. What they had left in the background goes on.
func (m *Methods) shelve(p authz.Principal, t *host.Terminal) {
	m.mu.Lock()
	for id, list := range m.exited { // what the host has forgotten by itself, for any reason
		if list = slices.DeleteFunc(list, isGone); len(list) == 0 {
			delete(m.exited, id)
		} else {
			m.exited[id] = list
		}
	}
	list := append(m.exited[p.ID], t)
	n := max(0, len(list)-keepExited)
	old := slices.Clone(list[:n])
	m.exited[p.ID] = slices.Delete(list, 0, n)
	m.mu.Unlock()
	for _, t := range old {
		_ = m.host.Forget(p, t) // what a person holds by now stays theirs
	}
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
