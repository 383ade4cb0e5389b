package authz

import (
	"strconv"
	"strings"
)

// mcpToken begins what an MCP client adds to the token's name of its credential. No token's name
// has a colon or a slash.
const mcpToken = "mcp:"

// MCPClient returns the principal that an MCP client is: an agent of p's, with a claim and an ID of
// its own, which are told from those of the person, of the token, and of p's other MCP clients.
// client is the name that the client gives itself, and number, from 1, tells those of one name
// apart.
//
// Whatever p has proven itself with, the client is an operator at most: it takes no keyboard from a
// person. So are the programs that it starts; an MCP client among them is another one beside it.
func (p Principal) MCPClient(client string, number int) Principal {
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
	if number > 1 {
		name += "#" + strconv.Itoa(number)
	}
	p = p.AtMost(Operator)
	if p.MCP != "" {
		p.ID, p.Token = p.BehindMCP()
		p.Name = p.Name[:max(strings.LastIndexByte(p.Name, '/'), 0)]
	}
	p.MCP = name
	p.ID += "/" + mcpToken + name
	p.Name += "/" + name
	if p.Token != "" {
		p.Token += "/"
	}
	p.Token += mcpToken + name
	return p
}

// BehindMCP returns the ID of the principal, and its token's name, whose MCP client p is; if it is
// none, its own.
func (p Principal) BehindMCP() (id, token string) {
	if p.MCP == "" {
		return p.ID, p.Token
	}
	token = strings.TrimSuffix(p.Token, mcpToken+p.MCP)
	return strings.TrimSuffix(p.ID, "/"+mcpToken+p.MCP), strings.TrimSuffix(token, "/")
}

// isTokenName reports whether a principal's Token can be one: the name of a token, of an MCP
// client, or of the MCP client of a token.
func isTokenName(token string) bool {
	name, client, both := strings.Cut(token, "/")
	return !both || name != "" && strings.HasPrefix(client, mcpToken) &&
		!strings.Contains(client, "/")
}
