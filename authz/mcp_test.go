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
			is := p.MCPClient("Claude Code")
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
