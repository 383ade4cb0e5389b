package authz

import "strings"

// unknown is the MCP client for which a process counts that nobody knows who has started.
const unknown = "unknown"

// StartedBy returns the principal of a process inside a terminal that creator has made, which comes
// in with credentials of its own: p. A program that a person has started is p. One that an agent
// has started is an agent with the agent's role at most: p's, beside the person, if p is a key or a
// user, and for the agent's own person that agent itself. So neither holds what the person holds.
// The zero creator is not known, and may have been an agent.
func (p Principal) StartedBy(creator Principal) Principal {
	if creator == (Principal{}) {
		creator = p.MCPClient(unknown, 1)
	}
	switch {
	case creator.IsPage(), creator.Token == "" && !creator.Inside:
		return p
	case creator.Token == "" || p.Token != "":
		return p.AtMost(creator.Role)
	}
	name := creator.Name
	for range strings.Count(creator.Token, "/") + 1 {
		name = name[:max(strings.LastIndexByte(name, '/'), 0)]
	}
	p = p.AtMost(creator.Role)
	p.ID += "/" + creator.Token
	p.Name += strings.TrimPrefix(creator.Name, name)
	p.Token, p.MCP = creator.Token, creator.MCP
	return p
}
