package authz

import "testing"

func TestWhatAnAgentStartsIsAnAgentOfWhoeversKeyItFinds(t *testing.T) {
	alice := Principal{ID: "SHA256:a", Name: "alice", Role: Admin, Fingerprint: "SHA256:a"}
	bob := Principal{ID: "SHA256:b", Name: "bob", Role: Admin, Fingerprint: "SHA256:b"}
	token := func(p Principal, name string, role Role) Principal {
		p.ID, p.Name, p.Token, p.Role = p.ID+"/"+name, p.Name+"/"+name, name, role
		return p
	}
	inside := func(p Principal) Principal {
		p.Inside = true
		return p
	}
	claude, ci := alice.MCPClient("claude-code", 2), token(alice, "ci", Operator)
	for name, c := range map[string]struct{ p, creator, want Principal }{
		"a person's":                 {bob, alice, bob},
		"a person's, from inside":    {bob, inside(alice), bob},
		"a page's":                   {alice, token(alice, pageName(Operator), Operator), alice},
		"a lowered key's":            {bob, inside(alice.AtMost(Operator)), bob.AtMost(Operator)},
		"an MCP client's":            {alice, claude, claude},
		"another's MCP client's":     {bob, claude, bob.MCPClient("claude-code", 2)},
		"a token's":                  {alice, ci, ci},
		"another's token's":          {bob, ci, token(bob, "ci", Operator)},
		"that of a token's client":   {alice, ci.MCPClient("gemini", 1), ci.MCPClient("gemini", 1)},
		"an MCP client's, a token":   {token(bob, "all", Admin), claude, token(bob, "all", Operator)},
		"that of a client of a user": {ForUID(7), ForUID(7).MCPClient("x", 1), ForUID(7).MCPClient("x", 1)},
		"an observer in an admin's":  {bob.AtMost(Observer), token(alice, "all", Admin), token(bob, "all", Observer)},
	} {
		if got := c.p.StartedBy(c.creator); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
