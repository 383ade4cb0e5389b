package host

import (
	"termhost/authz"
)

// MCPClient says which MCP client connects.
type MCPClient struct {
	Name string // that it gives itself
	// Instance tells the client from others that call themselves the same, over all of its
	// connections; "": nothing does.
	Instance string
	// Number is the one that it had on its last connection; 0: it had none.
	Number int
}

// maxMCPNumber bounds the number that a client may ask for: there are not as many connections.
const maxMCPNumber = 1 << 16

// mcpSeat is the place of an MCP client among those of its principal and name. It never changes.
type mcpSeat struct {
	first    string // the ID of the first of them
	number   int
	instance string
}

// ConnectMCP is [Host.ConnectFrom] for an MCP client of p. Each connection is a client of its own:
// while others of the same name are connected, it has the lowest number that is free, and so a
// claim and a name of its own (see [authz.Principal.MCPClient]). A client that comes back gets the
// number that it had, if that is free. If its last connection is still there, because nobody has
// noticed its end yet, that is ended.
func (h *Host) ConnectMCP(p authz.Principal, m MCPClient, source authz.Source) (*Conn, error) {
	return h.connect(p, DoorMCP, source, func(c *Conn) {
		c.mcp = h.seatLocked(p, m)
		as := p.MCPClient(m.Name, c.mcp.number)
		base := p.MCPClient(m.Name, 1).Name
		record := h.sshRecordLocked(SSHClientID(as), as.ID, as.Name)
		taken := h.takenNamesLocked(record, base)
		for n := c.mcp.number; ; n++ { // the name may be that of a token, or of a client of AHP
			if as.Name = withNumber(base, n); !taken[as.Name] {
				break
			}
		}
		record.name = as.Name
		record.ssh++
		c.principal = as
	})
}

// seatLocked returns a client's place. Host.mu is held.
func (h *Host) seatLocked(p authz.Principal, m MCPClient) *mcpSeat {
	first := p.MCPClient(m.Name, 1).ID
	taken := map[int]bool{}
	var last *Conn // of this client
	for c := range h.conns {
		switch {
		case c.mcp == nil, c.mcp.first != first, c.ctx.Err() != nil:
		case m.Instance != "" && c.mcp.instance == m.Instance:
			last = c
		default:
			taken[c.mcp.number] = true
		}
	}
	seat := &mcpSeat{first: first, number: 1, instance: m.Instance}
	switch {
	case last != nil:
		last.End(ErrTakenOver)
		seat.number = last.mcp.number
	case m.Number > 0 && m.Number <= maxMCPNumber && !taken[m.Number]:
		seat.number = m.Number
	}
	for taken[seat.number] {
		seat.number++
	}
	return seat
}

// MCPNumber returns the number of a connection of [Host.ConnectMCP] among those of its client's
// name.
func (c *Conn) MCPNumber() int { return c.mcp.number }
