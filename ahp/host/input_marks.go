package host

import (
	"maps"
	"slices"
	"sync"
)

// maxInputMarks bounds the clients that a terminal remembers; few type into one. A client that is
// forgotten may type on, but does not learn what was taken.
const maxInputMarks = 64

// inputMarks has, by clientId, the clientSeq of the last input that the terminal took of each
// client. From it a client whose connection was lost learns which of its inputs were taken, and
// inputs that a client has sent behind a refused one are refused, too. It is guarded by the Term's
// lock.
type inputMarks map[string]int64

// follows returns why the terminal refuses an input of s's client that has to follow the one with
// the clientSeq after; 0: it may follow any.
func (m inputMarks) follows(s step, after int64) (reason string) {
	if after != 0 && m[s.origin.ClientID] != after {
		return reasonOrder
	}
	return ""
}

// take records that the terminal took s, an input of its client. It returns a client that has lost
// its mark; "": none has.
func (m *inputMarks) take(s step) (forgotten string) {
	if *m == nil {
		*m = inputMarks{}
	}
	if _, known := (*m)[s.origin.ClientID]; !known && len(*m) >= maxInputMarks {
		for id := range *m {
			delete(*m, id)
			forgotten = id
			break
		}
	}
	(*m)[s.origin.ClientID] = s.origin.ClientSeq
	return forgotten
}

// has reports whether the terminal took an input of a client, and remembers it.
func (m inputMarks) has(id string) bool {
	_, ok := m[id]
	return ok
}

// typists has, by clientId, the terminals whose inputMarks may have the client, so that a client
// that comes back need not be looked for in all terminals. A terminal is added before it is checked
// whether the client's connection has ended: typedBy, which comes after that end, then either finds
// the terminal, and waits for its lock, or the input is refused.
type typists struct {
	mu       sync.Mutex // no other lock is taken while it is held
	byClient map[string]map[*Terminal]struct{}
}

func (ts *typists) add(id string, t *Terminal) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.byClient == nil {
		ts.byClient = map[string]map[*Terminal]struct{}{}
	}
	if ts.byClient[id] == nil {
		ts.byClient[id] = map[*Terminal]struct{}{}
	}
	ts.byClient[id][t] = struct{}{}
}

// remove undoes add; the clientId "" is nobody's.
func (ts *typists) remove(id string, t *Terminal) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.byClient[id], t)
	if len(ts.byClient[id]) == 0 {
		delete(ts.byClient, id)
	}
}

// of returns the terminals whose inputMarks may have a client.
func (ts *typists) of(id string) []*Terminal {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return slices.Collect(maps.Keys(ts.byClient[id]))
}

// typedBy returns, by URI, the clientSeq of the last input that each terminal took of a client. It
// is called once the client's earlier connection has ended, so that no more of its input is taken.
func (h *Host) typedBy(id string) map[string]int64 {
	typed := map[string]int64{}
	for _, t := range h.typists.of(id) {
		t.term.Lock()
		if seq, ok := t.inputs[id]; ok {
			typed[t.uri] = seq
		}
		t.term.Unlock()
	}
	return typed
}
