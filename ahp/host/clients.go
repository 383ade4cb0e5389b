package host

import (
	"strings"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// client is a clientId and the principal that first used it. Guarded by Host.mu.
type client struct {
	id        string
	principal string // its ID
	name      string // its Name
	conn      *Conn  // nil: not connected
	left      time.Time
	version   ahp.Version
	synced    map[string]uint64 // see store.Subscriber.Close; of the last connection
}

const (
	// clientMemory is how long a clientId stays bound to its principal after
	// its last connection: time to sleep a laptop, not to squat on names.
	clientMemory = 10 * time.Minute
	// maxClients bounds the clientIds of one principal.
	maxClients = 256
	// maxClientID bounds a clientId, in bytes.
	maxClientID = 256
	// sshPrefix begins the clientIds of SSH sessions, which no AHP peer may use.
	sshPrefix = "ssh:"
)

// SSHClientID returns the clientId that all SSH sessions of a key share.
func SSHClientID(p authz.Principal) string {
	const enough = 12 // of base64: 72 bits, too many to find a second key for
	id := strings.TrimPrefix(p.ID, "SHA256:")
	return sshPrefix + id[:min(len(id), enough)]
}

// seat binds a clientId to the connection. An older connection of the same
// principal gives way.
func (h *Host) seat(c *Conn, id string, v ahp.Version) *ahp.Error {
	if id == "" || len(id) > maxClientID {
		return ahp.FieldProblem("clientId", "must be 1 to 256 bytes long")
	}
	if strings.HasPrefix(id, sshPrefix) {
		return ahp.NewError(ahp.CodeNotPermitted, `a clientId that begins with "ssh:" belongs to SSH sessions; choose another`, "rule", "clientIds that begin with ssh: are reserved")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	cl, err := h.clientLocked(id, c.principal)
	if err != nil {
		return err
	}
	if old := cl.conn; old != nil && old != c {
		// Its subscriptions are the newer connection's business now. The
		// clientId stays connected: nothing it owns is touched.
		cl.synced = old.sub.Close()
		old.end(errTakenOver)
	}
	cl.conn, cl.version = c, v
	c.client, c.version = cl, v
	return nil
}

// clientLocked returns the record of a clientId of p's, made if it is free.
func (h *Host) clientLocked(id string, p authz.Principal) (*client, *ahp.Error) {
	cl := h.clients[id]
	if cl != nil && cl.principal != p.ID {
		if !h.forgottenLocked(cl) {
			return nil, errForeignClient
		}
		cl = nil
	}
	if cl != nil {
		return cl, nil
	}
	mine := 0
	for _, other := range h.clients {
		if other.principal != p.ID {
			continue
		}
		if h.forgottenLocked(other) {
			delete(h.clients, other.id)
			continue
		}
		mine++
	}
	if mine >= maxClients {
		return nil, ahp.NewError(ahp.CodeLimit, "this key has 256 clientIds in use; close some connections or wait ten minutes", "limit", "clientIds per principal")
	}
	cl = &client{id: id, principal: p.ID, name: p.Name}
	h.clients[id] = cl
	return cl, nil
}

// forgottenLocked reports whether nobody is bound to the clientId any more.
func (h *Host) forgottenLocked(cl *client) bool {
	if cl.conn != nil || h.now().Sub(cl.left) < clientMemory {
		return false
	}
	for _, t := range h.order {
		if t.ch.Claim().ClientID == cl.id {
			return false
		}
	}
	return true
}

// claimant returns the principal a clientId belongs to, for a claim that names
// it.
func (h *Host) claimant(id string) (principal, name string, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if cl := h.clients[id]; cl != nil && (cl.conn != nil || !h.forgottenLocked(cl)) {
		return cl.principal, cl.name, true
	}
	return "", "", false
}

// sshClient makes sure that the clientId of p's SSH sessions is known, and
// returns it.
func (h *Host) sshClient(p authz.Principal) string {
	id := SSHClientID(p)
	h.mu.Lock()
	defer h.mu.Unlock()
	cl := h.clients[id]
	if cl == nil {
		cl = &client{id: id, principal: p.ID, name: p.Name}
		h.clients[id] = cl
	}
	cl.left = h.now()
	return id
}
