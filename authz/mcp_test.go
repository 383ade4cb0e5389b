package authz_test

import (
	"testing"

	"termhost/authz"
)

// Whatever an MCP client comes with, it is an operator at most.
func TestAnMCPClientIsAnOperatorAtMost(t *testing.T) {
	t.Parallel()
	for role, want := range map[authz.Role]authz.Role{
		authz.Admin: authz.Operator, authz.Operator: authz.Operator, authz.Observer: authz.Observer,
		authz.NoRole: authz.NoRole,
	} {
		user := authz.ForUID(1000)
		user.Role = role
		for what, p := range map[string]authz.Principal{
			"key":   {ID: "SHA256:x", Name: "ann", Role: role, Fingerprint: "SHA256:x"},
			"token": {ID: "SHA256:x/ci", Name: "ann/ci", Role: role, Fingerprint: "SHA256:x", Token: "ci"},
			"guest": {ID: "guest:x", Name: "guest:dora", Role: role, Guest: "i", Inviter: "SHA256:x"},
			"user":  user,
		} {
			is := p.MCPClient("Claude Code", 1)
			if is.Role != want || is.MCP != "claude-code" {
				t.Errorf("with a %s of role %s: %+v", what, role, is)
			}
			for _, v := range []authz.Verb{authz.Seize, authz.Kick} {
				if authz.Check(is, v, authz.Target{Executor: authz.Server}) == nil {
					t.Errorf("with a %s of role %s it may %s", what, role, v)
				}
			}
		}
	}
}

// The person, the token, and each MCP client of both are different principals.
func TestAnMCPClientIsToldFromWhatItComesWith(t *testing.T) {
	t.Parallel()
	key := authz.Principal{ID: "SHA256:x", Name: "ann", Role: authz.Operator, Fingerprint: "SHA256:x"}
	token := key
	token.ID, token.Name, token.Token = "SHA256:x/ci", "ann/ci", "ci"
	ids, names := map[string]bool{key.ID: true, token.ID: true}, map[string]bool{"ann": true, "ann/ci": true}
	for _, p := range []authz.Principal{key, token} {
		for number, suffix := range []string{"", "", "#2", "#3"} {
			if number == 0 {
				continue
			}
			is := p.MCPClient("Claude Code", number)
			if want := p.Name + "/claude-code" + suffix; is.Name != want {
				t.Errorf("it is called %q, want %q", is.Name, want)
			}
			if ids[is.ID] || names[is.Name] {
				t.Errorf("another one is %+v", is)
			}
			ids[is.ID], names[is.Name] = true, true
			if id, of := is.BehindMCP(); id != p.ID || of != p.Token {
				t.Errorf("%s is the client of %s, %q", is.ID, id, of)
			}
			if is.Account() != key.Account() {
				t.Errorf("the account of %s is %s", is.ID, is.Account())
			}
		}
	}
	// What a client starts may be one, too, and so on.
	is := token.MCPClient("x", 2)
	is.Name = "ann/ci/x#3" // as it is shown where another has the name
	for range 100 {
		is = is.MCPClient("y", 1)
	}
	if is != token.MCPClient("y", 1) {
		t.Errorf("the client of a client is %+v", is)
	}
	if id, of := token.BehindMCP(); id != token.ID || of != "ci" {
		t.Errorf("%s, %q", id, of)
	}
}
