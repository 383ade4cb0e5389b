package host

import "time"

// Keys and certificates may live for minutes, and a host for years. So the host forgets a principal
// some time after it has left, if it holds nothing.

// lastUseMemory is how long the last use of a principal that has left is remembered: until the
// evening of a working day.
const lastUseMemory = 12 * time.Hour

// forgetAbsent forgets the principals that have left.
func (h *Host) forgetAbsent() {
	now := h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forgetClientsLocked()
	h.forgetPacesLocked()
	here := map[string]bool{}
	for _, cl := range h.clients {
		here[cl.principal] = true
	}
	for id, last := range h.lastUsed {
		switch {
		case here[id]:
			h.lastUsed[id] = lastUse{last.terminal, now}
		case now.Sub(last.at) >= lastUseMemory:
			delete(h.lastUsed, id)
		}
	}
}
