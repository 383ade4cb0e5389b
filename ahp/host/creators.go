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

// maxEndedCreators bounds the ended terminals whose creators are remembered: a process that such a
// terminal has left running may come in by the unix socket, and must not be taken for an admin. The
// bound is about a day of an agent's commands, and some hundred KiB.
const maxEndedCreators = 2048

// creators has the creators of terminals, by the markers that the terminals' processes carry.
type creators struct {
	mu sync.Mutex // guards the rest; no other lock is taken while it is held

	byMarker map[string]creator
	ended    []string // markers of terminals that have ended, the oldest first
}

// creator is the principal that created a terminal.
type creator struct {
	principal authz.Principal
	proof     Proof           // what the principal came in with; nil: it cannot be followed
	record    json.RawMessage // the proof for the next host
	forwards  bool            // a command of no terminal runs, whose peer has a key agent
	listed    <-chan struct{} // closed when the terminal is found, or has failed; nil: it was
}

// add records who creates a terminal, before the terminal has a process that could come in.
func (cs *creators) add(marker string, c creator) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.byMarker[marker] = c
}

// end records that a terminal has ended, so that its creator may be forgotten one day.
func (cs *creators) end(marker string) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if len(cs.ended) == maxEndedCreators {
		delete(cs.byMarker, cs.ended[0])
		cs.ended = slices.Delete(cs.ended, 0, 1)
	}
	if c := cs.byMarker[marker]; c.forwards {
		c.forwards = false
		cs.byMarker[marker] = c
	}
	cs.ended = append(cs.ended, marker)
}

// of returns the creator of a marker's terminal; zero: it is forgotten.
func (cs *creators) of(marker string) creator {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.byMarker[marker]
}

// proofOf returns what a principal came in with when it created a terminal; nil: nothing that can
// be followed.
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

// proofOf returns the proof of a principal that creates a terminal; nil: there is none. It is the
// proof of the principal's connection, perhaps one with another role: an SSH connection also proves
// what comes through its forwards. A principal without such a connection comes from inside a
// terminal that it has created, and has that terminal's proof.
func (h *Host) proofOf(p authz.Principal) Proof {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if c.proof != nil && c.principal.ID == p.ID {
			return c.proof
		}
	}
	return h.creators.proofOf(p)
}

// recordOf returns the record of the proof of a principal that creates a terminal: its connection's
// or, if it comes from inside a terminal that it has created, that terminal's.
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

// restoredCreator returns the creator of a terminal of an earlier host. Its proof is restored from
// the record. If that fails, nobody comes in as the creator any more.
func (h *Host) restoredCreator(p authz.Principal, record json.RawMessage) creator {
	c := creator{principal: p, record: record}
	a := h.cfg().Authority
	if p.Fingerprint == "" && p.Token == "" {
		return c // a user of this machine needs no proof
	}
	c.proof = func(end func(error)) (release func()) {
		if a == nil {
			end(errNotRestored)
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

var errNotRestored = errors.New("host: nobody knows whether the creator may still come in")

// realm returns a name that all hosts of a state folder share, one after the other, so that a host
// recognizes what an earlier one has left running. It is "" without a state folder.
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

// realmBytes is how many bytes of a hash name a state folder: a machine has few.
const realmBytes = 8

// CreatorOf returns the creator of the terminal that process pid belongs to. It is for peers of the
// unix socket, which may run inside one of the host's terminals or be left running by one. p is the
// zero Principal if that terminal ended long ago, or with an earlier host. proof, if not nil, is
// what p came in with when it created the terminal: when it is withdrawn, connections from inside
// the terminal end as well. inside is false for a process of no terminal.
func (h *Host) CreatorOf(pid int) (p authz.Principal, proof Proof, inside bool) {
	p, proof, within := h.CreatorWithin(pid)
	return p, proof, within != ""
}

// CreatorWithin is CreatorOf, and returns the marker of the terminal; "": the process is of none.
func (h *Host) CreatorWithin(pid int) (p authz.Principal, proof Proof, within string) {
	marker := h.pool.Find(pid)
	if marker == "" {
		return authz.Principal{}, nil, ""
	}
	c := h.creators.of(marker)
	return c.principal, c.proof, marker
}
