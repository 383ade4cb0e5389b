package acp

import (
	"encoding/json"
	"log/slog"
	"sync"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/host"
)

// Methods are ACP's terminal methods on a host. All methods may be called concurrently.
type Methods struct {
	host *host.Host
	log  *slog.Logger

	mu       sync.Mutex        // no other lock is taken while it is held
	shelves  map[string]*shelf // by the ID of the principal
	releases uint64            // how many there have been; the end of a connection counts as one
	// left are the terminals of an earlier host, whose agents may come back.
	left map[owner][]*terminal
}

// NewMethods returns the methods on h, before h has any connections. log may be nil.
func NewMethods(h *host.Host, log *slog.Logger) *Methods {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	m := &Methods{host: h, log: log, shelves: map[string]*shelf{}, left: map[owner][]*terminal{}}
	m.restore()
	return m
}

// Terminals returns what answers the methods on c, a connection of the host.
func (m *Methods) Terminals(c *host.Conn) *Terminals {
	return &Terminals{Methods: m, conn: c, principal: c.Principal(), byID: map[string]*terminal{}}
}

// Announcement is the member of initialize's _meta that names the methods.
func (m *Methods) Announcement() (key string, value json.RawMessage) {
	methods := wire.TerminalMethods()
	for _, name := range []string{ahp.MethodACPCreated, ahp.MethodACPPermission} {
		methods = append(methods, name, ahp.Reserved(name))
	}
	return ahp.MetaACPTerminals, ahp.Encode(struct {
		Methods []string `json:"methods"`
	}{methods})
}
