package host

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"sync"

	"termhost/authz"
)

// maxEndedOrigins is how many terminals that have ended are remembered by who made
// them: what they left running may come in by the unix socket, and is still no admin.
// It is about a day of an agent's commands, and some hundred KiB.
const maxEndedOrigins = 2048

// origins says who made a terminal, by the mark that its processes carry.
type origins struct {
	mu     sync.Mutex // a leaf
	byMark map[string]origin
	ended  []string // marks of terminals that have ended, the oldest first
}

// origin is who made a terminal, and what that principal came in with, if it can be
// followed.
type origin struct {
	principal authz.Principal
	proof     Proof
}

// add notes who makes a terminal; its processes may come in at once.
func (o *origins) add(mark string, from origin) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byMark[mark] = from
}

// end says that a terminal has ended, so that it may be forgotten one day.
func (o *origins) end(mark string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.ended) == maxEndedOrigins {
		delete(o.byMark, o.ended[0])
		o.ended = slices.Delete(o.ended, 0, 1)
	}
	o.ended = append(o.ended, mark)
}

// of returns who made the terminal with a mark; the zero origin: it is forgotten.
func (o *origins) of(mark string) origin {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.byMark[mark]
}

// proofOf returns what a principal came in with when it made a terminal; nil: there
// is none to follow.
func (o *origins) proofOf(p authz.Principal) Proof {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, from := range o.byMark {
		if from.proof != nil && from.principal == p {
			return from.proof
		}
	}
	return nil
}

// realm names the terminals of all hosts that have had a state folder, one after the
// other; "" for a host without one.
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

// realmBytes is how much of a hash tells the few state folders of a machine apart.
const realmBytes = 8

// CreatorOf returns the principal whose terminal process pid belongs to, for a peer
// of the unix socket that runs inside one of our terminals or was left behind by it.
// It is the zero Principal if that terminal has ended long ago, or with an earlier
// host. proof, if not nil, is what it came in with when it made the terminal, and ends
// what comes from inside of it as well. inside is false for a process of no terminal.
func (h *Host) CreatorOf(pid int) (p authz.Principal, proof Proof, inside bool) {
	mark := h.pool.Find(pid)
	if mark == "" {
		return authz.Principal{}, nil, false
	}
	from := h.origins.of(mark)
	return from.principal, from.proof, true
}
