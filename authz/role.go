package authz

import (
	"fmt"
	"log/slog"
)

// Role is what a principal may do in general; higher roles compare greater.
// The zero Role is no role and is denied everything.
type Role uint8

// The roles, lowest first.
const (
	// NoRole is the zero Role: denied everything.
	NoRole Role = iota
	// Observer may list and look.
	Observer
	// Operator may also create terminals and use those it holds.
	Operator
	// Admin may also seize any claim and dispose any terminal.
	Admin
)

// ParseRole reads a role's name: "admin", "operator" or "observer", in lower
// case. Anything else, the empty string included, is an error.
func ParseRole(name string) (Role, error) {
	for r := Observer; r <= Admin; r++ {
		if r.String() == name {
			return r, nil
		}
	}
	return NoRole, fmt.Errorf("authz: unknown role %q; it must be admin, operator or observer",
		name)
}

// String returns the role's name as ParseRole reads it; "none" for NoRole and
// for values that are no role.
func (r Role) String() string {
	switch r {
	case Observer:
		return "observer"
	case Operator:
		return "operator"
	case Admin:
		return "admin"
	default:
		return "none"
	}
}

// LogValue makes a log show the role's name also as JSON.
func (r Role) LogValue() slog.Value { return slog.StringValue(r.String()) }
