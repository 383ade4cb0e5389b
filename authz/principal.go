package authz

import (
	"fmt"
	"strconv"
	"time"
)

// Principal is an authenticated identity. It travels as a value; nothing in it
// is secret. The zero Principal is nobody and is denied everything.
type Principal struct {
	// ID is unique and stable: "SHA256:..." for a key or certificate (the
	// fingerprint of the key), "SHA256:.../NAME" for a token minted with that
	// key, "uid:N" for a peer of the unix socket. Claims, clientIds and
	// ownership are bound to it.
	ID string
	// Name is what people see: the [[principal]] name or the key's comment, and
	// KEYNAME/NAME for a token. Printable, without control characters; at most
	// keys.MaxCommentBytes long, and a token's name more; not unique.
	Name string
	// Role bounds every verb; see Check.
	Role Role
	// Fingerprint is the "SHA256:..." of the key, of the minting key for a
	// token, and empty for a peer of the unix socket.
	Fingerprint string
	// Token is the token's name, empty for everything that is no token.
	Token string
	// Expires is when the identity ends; zero means never.
	Expires time.Time
	// ReadOnly restricts the principal to listing and reading, whatever its
	// role (authorized_keys options restrict and no-pty).
	ReadOnly bool
	// Command is the forced command ("" for none): the principal may run it and
	// do nothing else.
	Command string
	// NoForward refuses the forwarded HTTP door (authorized_keys option
	// no-port-forwarding).
	NoForward bool
}

// ForUID returns the principal of a peer of the unix socket, proven by its
// user id: an admin, because whoever has the host's uid (or root) can reach
// everything of the host without asking it. The caller compares the uid first.
func ForUID(uid uint32) Principal {
	id := "uid:" + strconv.FormatUint(uint64(uid), 10)
	return Principal{ID: id, Name: id, Role: Admin}
}

// AtMost returns p with its role lowered to limit if it was above; it never
// raises a role. The door behind a port forward uses it.
func (p Principal) AtMost(limit Role) Principal {
	p.Role = min(p.Role, limit)
	return p
}

// Valid reports whether p is somebody at now: an error says that p is nobody or
// has expired. Check has no clock, so whoever keeps a Principal for a while (a
// connection) asks Valid, or ends the connection at Expires.
func (p Principal) Valid(now time.Time) error {
	if p.ID == "" || p.Role == NoRole {
		return fmt.Errorf("authz: %s", ruleNobody)
	}
	if !p.Expires.IsZero() && !now.Before(p.Expires) {
		return fmt.Errorf("authz: the identity %s expired at %s; authenticate again",
			p.ID, p.Expires.UTC().Format(time.RFC3339))
	}
	return nil
}
