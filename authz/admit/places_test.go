package admit

import (
	"errors"
	"testing"

	"termhost/authz"
)

// principal returns one of a key.
func principal(key string, role authz.Role) authz.Principal {
	return authz.Principal{ID: key, Fingerprint: key, Role: role}
}

// The last places are for admins.
func TestAdminsHaveAReserve(t *testing.T) {
	t.Parallel()
	var s Places
	enter := func(role authz.Role) error {
		return s.Take(principal("one", role), Limit{What: "connections", Most: 32, Bound: true})
	}
	for i := range 30 {
		if err := enter(authz.Operator); err != nil {
			t.Fatalf("number %d: %v", i, err)
		}
	}
	var quota *QuotaError
	if err := enter(authz.Operator); !errors.As(err, &quota) || quota.Own || quota.Limit != 30 {
		t.Errorf("an operator takes an admin's place: %v", err)
	}
	for range 2 {
		if err := enter(authz.Admin); err != nil {
			t.Errorf("an admin is refused: %v", err)
		}
	}
	var full *FullError
	if err := enter(authz.Admin); !errors.As(err, &full) {
		t.Errorf("there is no end to admins: %v", err)
	}
	s.Leave(principal("one", authz.Operator))
	if err := enter(authz.Admin); err != nil {
		t.Errorf("a place that was given up: %v", err)
	}
}

// An account has its share, of which an admin's own use takes nothing, unless the configuration
// says how much the account may have.
func TestAnAccountHasAShare(t *testing.T) {
	t.Parallel()
	admin, token := principal("key", authz.Admin), principal("key", authz.Operator)
	other := principal("other", authz.Operator)
	var s Places
	limit := Limit{What: "terminals", Each: Share(80)}
	for range 100 {
		if err := s.Take(admin, limit); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		if err := s.Take(token, limit); err != nil {
			t.Fatal(err)
		}
	}
	var quota *QuotaError
	if err := s.Take(token, limit); !errors.As(err, &quota) || !quota.Own || quota.Limit != 20 {
		t.Errorf("one too many: %v", err)
	}
	if err := s.Take(other, limit); err != nil {
		t.Errorf("somebody else: %v", err)
	}
	limit.Own = 121
	if err := s.Take(admin, limit); err != nil {
		t.Errorf("the last by the configuration: %v", err)
	}
	for _, p := range []authz.Principal{admin, token} {
		if err := s.Take(p, limit); !errors.As(err, &quota) || quota.Limit != 121 {
			t.Errorf("beyond the configuration: %v", err)
		}
	}
	for range 101 {
		s.Leave(admin)
	}
	for range 20 {
		s.Leave(token)
	}
	s.Leave(other)
	if s.all != 0 || len(s.accounts) > 0 {
		t.Errorf("of those who have left there is %d, %v", s.all, s.accounts)
	}
}

func TestSharesOfSmallLimits(t *testing.T) {
	t.Parallel()
	for most, want := range map[int]int{1: 0, 16: 0, 17: 16, 64: 16, 68: 17, 1000: 250} {
		if got := Share(most); got != want {
			t.Errorf("of %d: %d, want %d", most, got, want)
		}
	}
}
