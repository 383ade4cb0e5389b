package host

import (
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
)

// client is a clientId and the principal that first used it. Guarded by Host.mu.
type client struct {
	id        string
	principal string // its ID
	name      string // its Name
	conn      *Conn  // nil: not connected
	ssh       int    // SSH connections, for the clientId of SSH sessions
	left      time.Time
	version   ahp.Version
	synced    map[string]uint64 // see store.Subscriber.Close; of the last connection
	ended     map[string]string // by URI, why the host ended terminals that it owned

	flow flow // has a lock of its own
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

// SSHClientID returns the clientId that all SSH sessions of a key share. A token,
// which is a principal of its own, has its own.
func SSHClientID(p authz.Principal) string {
	const enough = 12 // of base64: 72 bits, too many to find a second key for
	// A fingerprint may have a slash of its own.
	id := strings.TrimPrefix(p.ID, "SHA256:")
	if p.Token != "" {
		id = strings.TrimSuffix(id, "/"+p.Token)
	}
	id = sshPrefix + id[:min(len(id), enough)]
	if p.Token != "" {
		id += "/" + p.Token
	}
	return id
}

// heritage is what a connection takes over from the last one of its clientId.
type heritage struct {
	synced   map[string]uint64 // what that knew: see [store.Subscriber.Reconnect]
	channels []*store.Channel  // what it followed, if it was still there
}

// seat binds a clientId to the connection. An older connection of the same
// principal gives way.
func (h *Host) seat(c *Conn, id string, v ahp.Version) (from heritage, bad *ahp.Error) {
	if id == "" || len(id) > maxClientID {
		return from, ahp.FieldProblem("clientId", "must be 1 to 256 bytes long")
	}
	if strings.HasPrefix(id, sshPrefix) {
		return from, ahp.NewError(ahp.CodeNotPermitted, `a clientId that begins with "ssh:" belongs to SSH sessions; choose another`, "rule", "clientIds that begin with ssh: are reserved")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if c.ctx.Err() != nil {
		return from, c.ended()
	}
	cl, bad := h.clientLocked(id, c.principal)
	if bad != nil {
		return from, bad
	}
	if old := cl.conn; old != nil && old != c {
		// The clientId stays connected: nothing it owns is touched.
		from.channels = old.sub.Channels()
		cl.synced = old.sub.Close()
		old.End(errTakenOver)
	}
	cl.conn, cl.version = c, v
	c.client, c.version = cl, v
	c.sub.Identify(id)
	h.backLocked(cl)
	from.synced = cl.synced
	return from, nil
}

// clientLocked returns the record of a clientId of p's, made if it is free.
func (h *Host) clientLocked(id string, p authz.Principal) (*client, *ahp.Error) {
	cl := h.knownLocked(id)
	if cl != nil && cl.principal != p.ID {
		return nil, errForeignClient
	}
	if cl != nil {
		return cl, nil
	}
	mine := 0
	claims := h.claimsLocked()
	for _, other := range h.clients {
		switch {
		case h.leftLocked(other) && !claims[other.id]:
			delete(h.clients, other.id)
		case other.principal == p.ID && !strings.HasPrefix(other.id, sshPrefix):
			mine++
		}
	}
	if mine >= maxClients {
		return nil, ahp.NewError(ahp.CodeLimit, "this key has 256 clientIds in use; close some connections or wait ten minutes", "limit", "clientIds per principal")
	}
	cl = &client{id: id, principal: p.ID, name: p.Name}
	h.clients[id] = cl
	return cl, nil
}

// claimsLocked returns the clientIds that hold a terminal.
func (h *Host) claimsLocked() map[string]bool {
	ids := make(map[string]bool, len(h.order))
	for _, t := range h.order {
		if c := t.ch.Claim(); c.Kind == ahp.ClaimClient {
			ids[c.ClientID] = true
		}
	}
	return ids
}

// leftLocked reports whether a clientId has been away for so long that it is
// nobody's unless it holds a terminal.
func (h *Host) leftLocked(cl *client) bool {
	return cl.conn == nil && cl.ssh == 0 && h.now().Sub(cl.left) >= clientMemory
}

// knownLocked returns the record of a clientId that is bound to somebody, or nil.
func (h *Host) knownLocked(id string) *client {
	cl := h.clients[id]
	if cl == nil || h.leftLocked(cl) && !h.claimsLocked()[id] {
		return nil
	}
	return cl
}

// claimant returns the principal a clientId belongs to, for a claim that names
// it.
func (h *Host) claimant(id string) (principal, name string, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if cl := h.knownLocked(id); cl != nil {
		return cl.principal, cl.name, true
	}
	return "", "", false
}

// sshClient makes sure that the clientId of p's SSH sessions is known, and
// returns it.
func (h *Host) sshClient(p authz.Principal) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sshClientLocked(p).id
}

func (h *Host) sshClientLocked(p authz.Principal) *client {
	id := SSHClientID(p)
	cl := h.clients[id]
	if cl == nil {
		cl = &client{id: id, principal: p.ID, name: p.Name}
		h.clients[id] = cl
	}
	cl.left = h.now()
	return cl
}
