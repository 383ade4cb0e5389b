package host

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// client is a clientId and the principal that it is bound to.
type client struct {
	id        string     // never changes
	principal string     // the principal's ID; never changes
	output    outputRate // has a lock of its own
	// owns: it owns a client-executed terminal, or did. Few clients do.
	owns atomic.Bool

	// Guarded by Host.mu.
	name     string // see names.go
	number   int    // tells clients of the same name apart, from 1; 0: unknown
	conn     *Conn  // nil: not connected
	version  ahp.Version
	ssh      int               // connections, if SSH sessions or an MCP client have it
	left     time.Time         // when it was last seen, if it is not connected now
	restored bool              // an earlier host knew it, and it has not come back yet
	synced   map[string]uint64 // what the last connection knew: see store.Subscriber.Close
	ended    map[string]string // by URI, why the host ended terminals that the client owned
	kept     any               // see Conn.Keep
}

const (
	// clientMemory is how long a clientId stays bound to its principal after its last connection
	// has ended: long enough for a laptop to sleep, too short to keep names from others for good.
	clientMemory = 10 * time.Minute
	// maxClients bounds the clientIds of one principal, and maxObserverClients those of an
	// observer.
	maxClients         = 256
	maxObserverClients = 8
	// maxClientID bounds a clientId, in bytes.
	maxClientID = 256
	// sshPrefix is the prefix of the clientIds of SSH sessions, which AHP peers may not use.
	sshPrefix = "ssh:"
	// mcpPrefix is that of MCP clients.
	mcpPrefix = "mcp:"
)

// reserved reports whether a clientId is one that the host gives to SSH sessions and MCP clients,
// by their principals.
func reserved(id string) bool {
	return strings.HasPrefix(id, sshPrefix) || strings.HasPrefix(id, mcpPrefix)
}

// ErrClientID refuses a clientId.
var ErrClientID = fmt.Errorf("clientId must be 1 to %d bytes long", maxClientID)

// ErrTakenOver ends a connection whose clientId another one of its principal uses.
var ErrTakenOver = errors.New("another connection of this clientId has taken over")

var (
	errForeignClient = &ForeignClientError{
		"this clientId belongs to somebody else; choose another",
		"a clientId belongs to the principal that first used it"}
	errSSHClient = &ForeignClientError{
		`a clientId that begins with "ssh:" belongs to SSH sessions; choose another`,
		"clientIds that begin with ssh: are reserved"}
	errMCPClient = &ForeignClientError{
		`a clientId that begins with "mcp:" belongs to MCP clients; choose another`,
		"clientIds that begin with mcp: are reserved"}
)

// ForeignClientError refuses a clientId that belongs to somebody else.
type ForeignClientError struct {
	text string
	Rule string
}

func (e *ForeignClientError) Error() string { return e.text }

// ClientsError refuses another clientId of a principal that has too many.
type ClientsError struct{ Most int }

func (e *ClientsError) Error() string {
	return fmt.Sprintf("this key has %d clientIds in use; close some connections or "+
		"wait ten minutes", e.Most)
}

// SSHClientID returns the clientId that all SSH sessions of a principal share. Each key has one,
// and each token, which is a principal of its own. Sessions of processes inside terminals have
// another one, because they may be agents'. That of an MCP client is "mcp:KEY/NAME", or
// "mcp:KEY/TOKEN/NAME".
func SSHClientID(p authz.Principal) string {
	if p.MCP != "" {
		name := "/" + p.MCP
		p.ID, p.Token = p.BehindMCP()
		p.MCP = ""
		return mcpPrefix + strings.TrimPrefix(SSHClientID(p), sshPrefix) + name
	}
	if p.Guest != "" { // the ID is short: it has only a hash of the key
		return sshPrefix + p.ID
	}
	const enough = 12 // characters of base64, or 72 bits: nobody finds another key for them
	// Not cut at a slash, because a fingerprint may have slashes itself.
	id := strings.TrimPrefix(p.ID, "SHA256:")
	if p.Token != "" {
		id = strings.TrimSuffix(id, "/"+p.Token)
	}
	id = sshPrefix + id[:min(len(id), enough)]
	if p.Token != "" {
		id += "/" + p.Token
	}
	if p.Inside {
		id += insideMark
	}
	return id
}

// PersonClientID returns the clientId of the SSH sessions of the person whose page the connection
// is; "": it is no page.
func (c *Conn) PersonClientID() string {
	p := c.principal
	if !p.IsPage() {
		return ""
	}
	p.ID, p.Token = authz.Person(p.ID), ""
	return SSHClientID(p)
}

// clientLocked returns the record of p's clientId id, and creates it if the clientId belongs to
// nobody.
func (h *Host) clientLocked(id string, p authz.Principal) (*client, error) {
	cl := h.knownLocked(id)
	if cl != nil && cl.principal != p.ID {
		return nil, errForeignClient
	}
	if cl != nil {
		return cl, nil
	}
	mine := 0
	h.forgetClientsLocked()
	for _, other := range h.clients {
		if other.principal == p.ID && !reserved(other.id) {
			mine++
		}
	}
	most := maxClients
	if p.Role == authz.Observer {
		most = maxObserverClients
	}
	if mine >= most {
		return nil, &ClientsError{most}
	}
	cl = &client{id: id, principal: p.ID, name: clientBase(p, id)}
	h.clients[id] = cl
	return cl, nil
}

// heldByLocked returns the terminals that a clientId holds.
func (h *Host) heldByLocked(id string) (list []*Terminal) {
	for _, t := range h.order {
		if c := t.ch.Claim(); c.Kind == ahp.ClaimClient && c.ClientID == id {
			list = append(list, t)
		}
	}
	return list
}

// claimsLocked returns a function that returns the clientIds that hold a terminal. It looks at all
// terminals, but only when it is first called, which few of those need who ask for it.
func (h *Host) claimsLocked() func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		ids := make(map[string]bool, len(h.order))
		for _, t := range h.order {
			if c := t.ch.Claim(); c.Kind == ahp.ClaimClient {
				ids[c.ClientID] = true
			}
		}
		return ids
	})
}

// leftLocked reports whether a client has been away for clientMemory. Then its clientId belongs to
// nobody any more, unless it holds a terminal.
func (h *Host) leftLocked(cl *client) bool {
	return cl.conn == nil && cl.ssh == 0 && h.now().Sub(cl.left) >= clientMemory
}

// knownLocked returns the record of a clientId, or nil if it belongs to nobody.
func (h *Host) knownLocked(id string) *client {
	cl := h.clients[id]
	if cl == nil || h.leftLocked(cl) && len(h.heldByLocked(id)) == 0 {
		return nil
	}
	return cl
}

// claimant returns the principal that the clientId of a claim belongs to, and the client's name.
func (h *Host) claimant(id string) (principal, name string, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if cl := h.knownLocked(id); cl != nil {
		return cl.principal, cl.name, true
	}
	return "", "", false
}

// sshClient returns the clientId of p's SSH sessions, and makes sure that the host knows it.
func (h *Host) sshClient(p authz.Principal) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sshClientLocked(p).id
}

func (h *Host) sshClientLocked(p authz.Principal) *client {
	return h.sshRecordLocked(SSHClientID(p), p.ID, nameOf(p))
}

// sshRecordLocked returns the record of a clientId of SSH sessions, and creates it if necessary:
// the clientId itself says whose it is.
func (h *Host) sshRecordLocked(id, principal, name string) *client {
	cl := h.clients[id]
	if cl == nil {
		cl = &client{id: id, principal: principal, name: name}
		h.clients[id] = cl
	}
	cl.left = h.now()
	return cl
}

// nameLocked gives a client of AHP its name, with a number if another client has the name already.
// A number is free again when its client has left and holds nothing. A client that comes back keeps
// its number if it is still free. Host.mu is held.
func (h *Host) nameLocked(cl *client, p authz.Principal) {
	base := clientBase(p, cl.id)
	if base != cl.base() {
		cl.number = 0
	}
	taken := h.takenNamesLocked(cl, base)
	if cl.number == 0 || taken[withNumber(base, cl.number)] {
		for cl.number = 1; taken[withNumber(base, cl.number)]; cl.number++ {
		}
	}
	cl.name = withNumber(base, cl.number)
}

// takenNamesLocked returns the names that begin with base and that other clients of AHP and MCP
// have, which are connected, or are expected back, or hold a terminal. Host.mu is held.
func (h *Host) takenNamesLocked(but *client, base string) map[string]bool {
	taken, holds := map[string]bool{}, h.claimsLocked()
	for _, other := range h.clients {
		switch {
		case other == but, !strings.HasPrefix(other.name, base),
			strings.HasPrefix(other.id, sshPrefix):
		case other.conn != nil, other.ssh > 0, other.restored && !h.leftLocked(other),
			holds()[other.id]:
			taken[other.name] = true
		}
	}
	return taken
}

// withNumber returns the name of a client, with its number if that is not the first.
func withNumber(base string, number int) string {
	if number > 1 {
		return fmt.Sprintf("%s#%d", base, number)
	}
	return base
}

// base returns the client's name without its number.
func (cl *client) base() string {
	if cl.number > 1 {
		return strings.TrimSuffix(cl.name, fmt.Sprintf("#%d", cl.number))
	}
	return cl.name
}

// forgetClientsLocked forgets the clientIds that belong to nobody any more.
func (h *Host) forgetClientsLocked() {
	claims := h.claimsLocked()
	for id, cl := range h.clients {
		if h.leftLocked(cl) && !claims()[id] {
			delete(h.clients, id)
		}
	}
}
