package host

// maxInputMarks bounds them: few clients type into one terminal. One that is forgotten types on,
// but is not told what was taken.
const maxInputMarks = 64

// inputMarks remember the clientSeq of the last input that the terminal took of each client, by
// clientId. So a client whose connection was lost can learn what of its input was taken, and what
// it has sent behind an input that was refused is refused, too. It is guarded by the Term's lock.
type inputMarks map[string]int64

// follows returns why an input of s's client does not follow the one that it says it does; after 0:
// it does not say.
func (m inputMarks) follows(s step, after int64) (reason string) {
	if after != 0 && m[s.origin.ClientID] != after {
		return reasonOrder
	}
	return ""
}

// take notes that an input of s's client was taken.
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

// typedBy returns, by URI, the clientSeq of the last input that each terminal took of a client. The
// client's earlier connection has ended, and no input of it is taken any more.
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
