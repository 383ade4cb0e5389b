package bus

import (
	"errors"
	"slices"
)

// answer answers a request.
func (n *Node) answer(from string, f frame) {
	p := slices.Clone(f.payload)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || n.handlers.Asked == nil || len(p) > MaxMessage || !n.answersLocked(from) {
		return
	}
	n.answering[from]++
	n.running.Go(func() {
		reply := frame{kind: answered, id: f.id}
		var err error
		reply.payload, err = n.handlers.Asked(n.ctx, from, p)
		if err == nil && len(reply.payload) > MaxMessage {
			err = ErrTooLarge
		}
		if err != nil {
			reply.kind, reply.payload = failed, []byte(err.Error())
		}
		_ = n.send(from, Control, reply) // the asker gives up
		n.mu.Lock()
		if n.answering[from]--; n.answering[from] == 0 {
			delete(n.answering, from)
		}
		n.mu.Unlock()
	})
}

// answersLocked reports whether there is room for another request of a host; n.mu is held.
func (n *Node) answersLocked(from string) bool {
	all := 0
	for _, of := range n.answering {
		all += of
	}
	return all < maxAnswering && n.answering[from] < maxAnsweringOne
}

// answered hands an answer to whoever waits for it.
func (n *Node) answered(from string, f frame) {
	n.mu.Lock()
	q := n.asking[f.id]
	n.mu.Unlock()
	if q == nil || q.to != from {
		return
	}
	a := answer{p: slices.Clone(f.payload)}
	if f.kind == failed {
		a = answer{err: errors.New(string(f.payload))}
	}
	select {
	case q.answer <- a:
	default:
	}
}
