package authz

import "strings"

// mcpToken begins the token's name of every MCP client that comes with a person's key. No other
// token's name has a colon.
const mcpToken = "mcp:"

// MCPClient returns the principal that an MCP client is: an agent of p's, with a claim and an ID of
// its own, which are told from the person's. client is the name that the client gives itself. A
// token is an agent already: its clients share its ID, but not a claim.
//
// Whatever p has proven itself with, the client is an operator at most: it takes no keyboard from a
// person. So are the programs that it starts.
func (p Principal) MCPClient(client string) Principal {
	name := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '.', r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r + ('a' - 'A')
		}
		return '-'
	}, client), "-.")
	const longest = 32
	if name = name[:min(len(name), longest)]; name == "" {
		name = "client"
	}
	p = p.AtMost(Operator)
	if p.MCP = name; p.Token != "" {
		return p
	}
	p.Token = mcpToken + name
	p.ID += "/" + p.Token
	p.Name += "/" + name
	return p
}

// IsMCP reports whether the principal is the MCP client of a person, by [Principal.MCPClient].
func (p Principal) IsMCP() bool { return strings.HasPrefix(p.Token, mcpToken) }
