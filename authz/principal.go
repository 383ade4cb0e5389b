package authz

import (
	"fmt"
	"strconv"
	"time"

	"termhost/keys"
)

// Principal is an authenticated identity. It travels as a value; nothing in it is secret. The zero
// Principal is nobody and is denied everything. It is stored as JSON: see
// [Principal.UnmarshalJSON].
type Principal struct {
	// ID is unique and stable: "SHA256:..." for a key or certificate (the
	// fingerprint of the key), "SHA256:.../NAME" for a token minted with that
	// key, "uid:N" for a peer of the unix socket who is no person with a key. Claims, clientIds and
	// ownership are bound to it.
	ID string `json:"id"`
	// Name is what people see: the [[principal]] name or the key's comment, and KEYNAME/NAME for a
	// token. It is printable, without control characters, and not unique. A key's name is at most
	// keys.MaxCommentBytes long; a token's name is added to it.
	Name string `json:"name"`
	// Role bounds every verb; see Check.
	Role Role `json:"role"`
	// Fingerprint is the "SHA256:..." of the key, of the minting key for a
	// token, and empty for a peer of the unix socket.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Token is the token's name, "mcp:CLIENT" for an MCP client, and both with a slash between them
	// for an MCP client with a token; empty if the principal is a key or a user.
	Token string `json:"token,omitempty"`
	// MCP is the name of an MCP client, with its number; empty if the principal is none.
	MCP string `json:"mcp,omitempty"`
	// TypesSecrets lets a token type where a program asks for a secret, as a person does.
	TypesSecrets bool `json:"secrets,omitempty"`
	// Expires is when the identity ends; zero means never.
	Expires time.Time `json:"expires,omitzero"`
	// ReadOnly restricts the principal to listing and reading, whatever its
	// role (authorized_keys options restrict and no-pty).
	ReadOnly bool `json:"readOnly,omitempty"`
	// Command is the forced command ("" for none): the principal may run it and
	// do nothing else.
	Command string `json:"command,omitempty"`
	// NoForward refuses all port forwarding, the HTTP door's included (authorized_keys option
	// no-port-forwarding).
	NoForward bool `json:"noForward,omitempty"`
	// Forwards lets a ReadOnly principal forward ports: its key's options permit it.
	Forwards bool `json:"forwards,omitempty"`
	// Opens is what forwards may connect to, and Listens where they may listen (authorized_keys
	// options permitopen and permitlisten).
	Opens   keys.Permits `json:"opens,omitempty"`
	Listens keys.Permits `json:"listens,omitempty"`
	// NoAgent refuses agent forwarding (authorized_keys option no-agent-forwarding).
	NoAgent bool `json:"noAgent,omitempty"`
	// Limits are those that the [[principal]] of the key sets.
	Limits Limits `json:"limits,omitzero"`
	// Inviter is the Account of whoever invited a guest; "": it is no guest.
	Inviter string `json:"inviter,omitempty"`
	// UID is the user id, in decimal, of a peer of the unix socket, and of its pages; "": it was
	// authenticated otherwise.
	UID string `json:"uid,omitempty"`
	// Guest is the ID of the invitation that a guest came with; "": it is no guest. The ID of a
	// guest's Principal begins with "guest:".
	Guest string `json:"guest,omitempty"`
	// Reach has the only terminals that exist for a guest, and for a page that was opened with the
	// link of a notification; "" for everybody else.
	Reach Reach `json:"reach,omitempty"`
	// Inside: it is a process inside one of the host's own terminals, and may be an agent. On the
	// unix socket it is authenticated as the terminal's creator, on TCP by a key or token.
	Inside bool `json:"inside,omitempty"`
}

// Limits bound what an account, see [Principal.Account], has at once; 0: the default of its role.
type Limits struct {
	Connections int // SSH connections, and as many other ones
	Terminals   int
}

// Account returns the account whose limits p counts against: its key, shared by the key's tokens;
// for a guest the account of its inviter.
func (p Principal) Account() string {
	switch {
	case p.Inviter != "":
		return p.Inviter
	case p.Fingerprint != "":
		return p.Fingerprint
	}
	return p.ID
}

// ForUID returns the principal of a user of this machine whom no [[principal]] names. It is an
// admin, because a process of the host's user, or of root, can do all that the host can do without
// asking it. The caller has checked the uid.
func ForUID(uid uint32) Principal {
	text := strconv.FormatUint(uint64(uid), 10)
	id := keys.UserPrefix + text
	return Principal{ID: id, Name: id, Role: Admin, UID: text}
}

// owner returns the owner of the principal's tokens: its key's fingerprint, or a user's id; "": it
// has none.
func (p Principal) owner() string {
	if p.Fingerprint == "" && p.UID != "" {
		return keys.UserPrefix + p.UID
	}
	return p.Fingerprint
}

// AtMost returns p with its role lowered to limit; it never raises a role. The door behind a port
// forward uses it.
func (p Principal) AtMost(limit Role) Principal {
	p.Role = min(p.Role, limit)
	return p
}

// Valid fails if p is nobody or has expired at now. Check has no clock, so a connection, which
// keeps its Principal for a while, must call Valid again or end at Expires.
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
