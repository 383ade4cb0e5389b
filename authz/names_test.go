package authz

import (
	"errors"
	"testing"
	"time"
)

func TestRefusalsNameTheirRule(t *testing.T) {
	operator := keyPrincipal(Operator)
	for _, c := range []struct {
		v    Verb
		t    Target
		rule string
	}{
		{Input, Target{Executor: Server}, "input needs the claim"},
		{Input, Target{Executor: Client, Holds: true, Owner: true}, "client-executed terminals are observation-only"},
		{Claim, Target{Executor: Server}, "passing the claim on needs the claim; only an admin may seize it"},
		{Seize, Target{Executor: Server, Holds: true}, "only an admin may seize the claim"},
		{Output, Target{Executor: Client, Holds: true}, "output of a client-executed terminal comes from its owner only"},
		{Dispose, Target{Executor: Client}, "only its owner or an admin may dispose a client-executed terminal"},
		{MintToken, Target{TokenRole: Admin}, "a token may not have a higher role than its key"},
	} {
		var denied *Denied
		if err := Check(operator, c.v, c.t); !errors.As(err, &denied) || denied.Rule != c.rule || denied.Verb != c.v {
			t.Errorf("Check(%s) = %v, want the rule %q", c.v, err, c.rule)
		} else if err.Error() != "not permitted: "+c.rule {
			t.Errorf("message %q does not carry the rule", err)
		}
	}
}

func TestRolesAreOrderedAndReadBack(t *testing.T) {
	if !(NoRole < Observer && Observer < Operator && Operator < Admin) {
		t.Fatal("the roles are out of order")
	}
	for r := Observer; r <= Admin; r++ {
		text, err := r.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back Role
		if err := back.UnmarshalText(text); err != nil || back != r {
			t.Errorf("%s read back as %s, %v", text, back, err)
		}
	}
	for _, bad := range []string{"", "none", "Admin", "root", "operator "} {
		if r, err := ParseRole(bad); err == nil || r != NoRole {
			t.Errorf("ParseRole(%q) = %v, %v; want an error", bad, r, err)
		}
	}
	if _, err := NoRole.MarshalText(); err == nil {
		t.Error("NoRole was written")
	}
}

func TestVerbsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]Verb{}
	for v := List; v < endOfVerbs; v++ {
		name := v.String()
		if other, ok := seen[name]; ok || name == "unknown verb" {
			t.Errorf("verb %d is called %q like verb %d", v, name, other)
		}
		seen[name] = v
	}
}

func TestValidEndsAtExpiry(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p := keyPrincipal(Admin)
	if err := p.Valid(now); err != nil {
		t.Errorf("no expiry: %v", err)
	}
	p.Expires = now
	if err := p.Valid(now); err == nil {
		t.Error("valid at its own expiry")
	}
	if err := p.Valid(now.Add(-time.Nanosecond)); err != nil {
		t.Errorf("before its expiry: %v", err)
	}
	if err := (Principal{}).Valid(now); err == nil {
		t.Error("nobody is valid")
	}
}

func TestAtMostNeverRaises(t *testing.T) {
	if r := keyPrincipal(Observer).AtMost(Operator).Role; r != Observer {
		t.Errorf("observer became %s", r)
	}
	if r := keyPrincipal(Admin).AtMost(Operator).Role; r != Operator {
		t.Errorf("admin became %s", r)
	}
}
