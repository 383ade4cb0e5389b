package host

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

// take records that the terminal took s, an input of its client.
func (m *inputMarks) take(s step) {
	if *m == nil {
		*m = inputMarks{}
	}
	if _, known := (*m)[s.origin.ClientID]; !known && len(*m) >= maxInputMarks {
		for id := range *m {
			delete(*m, id)
			break
		}
	}
	(*m)[s.origin.ClientID] = s.origin.ClientSeq
}

// typedBy returns, by URI, the clientSeq of the last input that each terminal took of a client. It
// is called once the client's earlier connection has ended, so that no more of its input is taken.
func (h *Host) typedBy(id string) map[string]int64 {
	typed := map[string]int64{}
	for _, t := range h.all() {
		t.term.Lock()
		if seq, ok := t.inputs[id]; ok {
			typed[t.uri] = seq
		}
		t.term.Unlock()
	}
	return typed
}
