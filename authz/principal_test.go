package authz

import (
	"testing"
	"time"
)

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
