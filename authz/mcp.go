package authz

import "strings"

// mcpToken begins the token's name of every MCP client that comes with a person's key.
const mcpToken = "mcp."

// MCPClient returns the principal that an MCP client is: an agent of p's, with a claim and an ID of
// its own, which are told from the person's, and at most the role operator. client is the name that
// the client gives itself. A token is an agent already, and is returned as it is.
func (p Principal) MCPClient(client string) Principal {
	if p.Token != "" {
		return p
	}
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
	p.Token = mcpToken + name
	p.ID += "/" + p.Token
	p.Name += "/" + name
	return p
}
