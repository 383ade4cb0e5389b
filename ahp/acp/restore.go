package acp

import (
	"encoding/json"
	"sync"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
)

// tag is what the next host must know of an agent's terminal.
type tag struct {
	Client   string `json:"client"` // the clientId of the agent's connection
	Session  string `json:"session"`
	Key      string `json:"key"`                // the end of the id
	Limit    int    `json:"limit"`              // of the output, see tail
	Killed   bool   `json:"killed,omitempty"`   // SIGKILL is due soon
	Released bool   `json:"released,omitempty"` // the agent does not know it any more
}

// text returns the tag as the host keeps it.
func (g tag) text() string { return string(ahp.Encode(g)) }

// owner identifies the agent of a terminal, across connections. A clientId belongs to its principal
// for at least as long as the host waits for the agent.
type owner struct {
	principal string // its ID
	client    string // the clientId
}

// restore finds the terminals of an earlier host. Their agents have some time to come back for
// them.
func (m *Methods) restore() {
	for _, ht := range m.host.Tagged() {
		var g tag
		if json.Unmarshal([]byte(ht.Tag()), &g) != nil || g.Client == "" {
			continue // it is not of this package
		}
		t := restored(ht, g)
		whose := owner{ht.Creator().ID, g.Client}
		if _, over := ht.Exit(); over && g.Released {
			ht.SetOver(true)
			m.shelve(ht.Creator(), exited{ht, m.nextRelease()}, false)
		} else if g.Released {
			go m.finish([]*terminal{t}) // it ends with the program, and so before the host
		} else {
			m.left[whose] = append(m.left[whose], t)
		}
	}
	if len(m.left) > 0 {
		time.AfterFunc(m.host.ClientGrace(), m.expire)
	}
}

// restored returns a terminal of an earlier host. Its output is read when it is asked for.
func restored(ht *host.Terminal, g tag) *terminal {
	t := newTerminal(g)
	t.host, t.id, t.old = ht, idOf(ht.ID(), g.Key), true
	return t
}

// Begin takes over the terminals that the agent had with an earlier host.
func (s *Terminals) Begin() {
	list := s.take(owner{s.principal.ID, s.conn.ClientID()})
	if len(list) > 0 {
		s.log.Info("an agent has come back", "principal", s.principal.Name,
			"terminals", len(list))
		s.adopt(list)
	}
}

// take returns the terminals that wait for an agent, which has come back.
func (m *Methods) take(whose owner) []*terminal {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.left[whose]
	delete(m.left, whose)
	return list
}

// adopt makes an earlier host's terminals those of s.
func (s *Terminals) adopt(list []*terminal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range list {
		s.byID[t.id] = t
		s.tasks.Go(func() { s.attend(t) })
		if t.tag.Killed && t.exit() == nil {
			s.killLaterLocked(t)
		}
	}
}

// expire ends what no agent has come back for.
func (m *Methods) expire() {
	m.mu.Lock()
	left := m.left
	m.left = map[owner][]*terminal{}
	m.mu.Unlock()
	var all sync.WaitGroup
	for _, list := range left {
		m.log.Info("an agent has not come back, and its commands end",
			"principal", list[0].host.Creator().Name, "terminals", len(list))
		all.Go(func() { m.finish(list) })
	}
	all.Wait()
}

// finish kills and releases terminals of one owner, whose agent is not there.
func (m *Methods) finish(list []*terminal) {
	s := &Terminals{Methods: m, principal: list[0].host.Creator(), byID: map[string]*terminal{}}
	s.adopt(list)
	s.Close()
}

// fillTail reads the output that an earlier host has logged, and follows the terminal.
func (s *Terminals) fillTail(t *terminal) {
	if !t.old {
		return
	}
	if whole, err := s.conn.Tap(t.host, t.out.write); err != nil || !whole {
		t.out.missed()
	}
}
