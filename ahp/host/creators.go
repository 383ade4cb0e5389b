package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"termhost/authz"
)

// maxEndedCreators bounds the ended terminals whose creator is remembered: a process that one of
// them left running may come in by the unix socket, and must not be taken for an admin. It is about
// a day of an agent's commands, and some hundred KiB.
const maxEndedCreators = 2048

// creators says who made a terminal, by the marker that its processes carry.
type creators struct {
	mu       sync.Mutex // no other lock is taken while it is held
	byMarker map[string]creator
	ended    []string // markers of terminals that have ended, the oldest first
}

// creator is who made a terminal.
type creator struct {
	principal authz.Principal
	proof     Proof           // what the principal came in with; nil: it cannot be followed
	record    json.RawMessage // the same for the next host
}

// add notes who makes a terminal, before it has any process that could come in.
func (cs *creators) add(marker string, c creator) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.byMarker[marker] = c
}

// end says that a terminal has ended, so that its creator may be forgotten one day.
func (cs *creators) end(marker string) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if len(cs.ended) == maxEndedCreators {
		delete(cs.byMarker, cs.ended[0])
		cs.ended = slices.Delete(cs.ended, 0, 1)
	}
	cs.ended = append(cs.ended, marker)
}

// of returns who made the terminal of a marker; the zero creator: that is forgotten.
func (cs *creators) of(marker string) creator {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.byMarker[marker]
}

// proofOf returns what a principal came in with when it made a terminal; nil: nothing that can be
// followed.
func (cs *creators) proofOf(p authz.Principal) Proof {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, c := range cs.byMarker {
		p.Inside = c.principal.Inside // the proof is the same, inside a terminal and out of it
		if c.proof != nil && c.principal == p {
			return c.proof
		}
	}
	return nil
}

// recordOf returns the record of what a principal comes in with that makes a terminal: of its
// connection, or if it comes from inside a terminal of its own, of that terminal.
func (h *Host) recordOf(p authz.Principal) json.RawMessage {
	if a := h.cfg().Authority; a != nil {
		if record := a.Record(p); record != nil {
			return record
		}
	}
	cs := &h.creators
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, c := range cs.byMarker {
		if c.principal.ID == p.ID && c.record != nil {
			return c.record
		}
	}
	return nil
}

// restoredProof returns the creator of a terminal of an earlier host. What it came in with is
// followed again. If that cannot be, nobody comes in as the creator any more.
func (h *Host) restoredProof(p authz.Principal, record json.RawMessage) creator {
	c := creator{principal: p, record: record}
	a := h.cfg().Authority
	if p.Fingerprint == "" && p.Token == "" {
		return c // a user of this machine, who stays who it is
	}
	c.proof = func(end func(error)) (release func()) {
		if a == nil {
			end(errNotRecalled)
			return func() {}
		}
		g, err := a.Restore(p, record)
		if err != nil {
			end(err)
			return func() {}
		}
		return a.Track(g, end)
	}
	return c
}

var errNotRecalled = errors.New("host: nobody knows whether the creator may still come in")

// realm returns a name for the terminals of all hosts that use a state folder, one after the other:
// what an earlier host left running is recognised. It is "" without a state folder.
func realm(stateDir string) string {
	if stateDir == "" {
		return ""
	}
	if dir, err := filepath.Abs(stateDir); err == nil {
		stateDir = dir
	}
	if dir, err := filepath.EvalSymlinks(stateDir); err == nil {
		stateDir = dir
	}
	sum := sha256.Sum256([]byte(stateDir))
	return hex.EncodeToString(sum[:realmBytes])
}

// realmBytes is how many bytes of a hash tell the few state folders of a machine apart.
const realmBytes = 8

// CreatorOf returns who made the terminal that process pid belongs to. It is for peers of the unix
// socket, which may run inside one of our terminals, or have been left behind by one. p is the zero
// Principal if that terminal ended long ago, or with an earlier host. proof, if not nil, is what p
// came in with when it made the terminal: when it is withdrawn, what comes from inside the terminal
// ends as well. inside is false for a process of no terminal.
func (h *Host) CreatorOf(pid int) (p authz.Principal, proof Proof, inside bool) {
	marker := h.pool.Find(pid)
	if marker == "" {
		return authz.Principal{}, nil, false
	}
	c := h.creators.of(marker)
	return c.principal, c.proof, true
}
