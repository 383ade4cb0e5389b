package authz

import (
	"crypto/rand"
	"net"
	"strings"
)

// Source is the connection by which something comes, as the audit log has it. The zero Source is
// none.
type Source struct {
	ID   string // no other connection has it, or has had it
	From string // the peer's address
	Door string // as package host names it
}

// sourceID is how many letters and digits (base32) tell connections apart: 50 bits.
const sourceID = 10

// NewSource returns the Source of a new connection.
func NewSource(from net.Addr, door string) Source {
	return Source{ID: strings.ToLower(rand.Text()[:sourceID]), From: from.String(), Door: door}
}

// Attrs returns the attributes of what p does by the connection; p may be nobody yet.
func (s Source) Attrs(p Principal) []any {
	var attrs []any
	add := func(key, value string) {
		if value != "" {
			attrs = append(attrs, key, value)
		}
	}
	key := p.ID
	if p.Guest != "" { // whose ID is no key's
		key = p.Fingerprint
	}
	add("key", key)
	add("from", s.From)
	add("door", s.Door)
	add("connection", s.ID)
	if p.Inside {
		attrs = append(attrs, "inside", true)
	}
	return attrs
}

// The events of the audit log, which is a *slog.Logger: an event is a record's message, and its
// attributes are who (the principal's name), terminal (its NAME), token (a token's name, never its
// secret), reason and others, as far as they apply. Whatever a connection causes has key (its
// fingerprint, with a token's name behind it, or the user's id), from (the peer's address), door,
// connection (its id), and inside if it is a process inside a terminal: see [Source.Attrs]. Nothing
// of what is typed or printed is among them.
const (
	// AuditLogin: who has come in, from somewhere and by a door. token: with which token.
	AuditLogin = "login"
	// AuditLogout: who has left, or why the connection was ended.
	AuditLogout = "logout"
	// AuditRefused: somebody was not let in, for a reason.
	AuditRefused = "refused"
	// AuditDropped: connections were dropped before they could log in, because there were too many.
	AuditDropped = "startup-dropped"
	// AuditTokenMinted, AuditTokenRevoked: who has made or ended a token.
	AuditTokenMinted  = "token-minted"
	AuditTokenRevoked = "token-revoked"
	// AuditInvited, AuditUninvited: who has made or ended an invitation for a guest.
	AuditInvited   = "invited"
	AuditUninvited = "uninvited"
	// AuditRights: a principal's connections end, or its token or invitation does, because its key
	// or its rights have changed.
	AuditRights = "rights-changed"
	// AuditCreate, AuditDispose: who has made or removed a terminal.
	AuditCreate  = "create"
	AuditDispose = "dispose"
	// AuditRename: who has given a terminal, which was called so, another NAME.
	AuditRename = "rename"
	// AuditAttach, AuditDetach: who looks at a terminal from now on, or no longer.
	AuditAttach = "attach"
	AuditDetach = "detach"
	// AuditKick: who has ended what "to" sees of a terminal.
	AuditKick = "kick"
	// AuditTakeOver: who has taken a terminal's keyboard for itself.
	AuditTakeOver = "take-over"
	// AuditHandBack: who has given a terminal's keyboard to somebody.
	AuditHandBack = "hand-back"
	// AuditAskKeyboard: who asks "to" for a terminal's keyboard.
	AuditAskKeyboard = "ask-keyboard"
	// AuditGuard: who has turned a terminal's guard on or off.
	AuditGuard = "guard"
	// AuditAsk: which agent wants to type, or to start a program, and a person has to decide.
	AuditAsk = "ask"
	// AuditApprove, AuditRefuse: who lets an agent type what it asked to, or does not.
	AuditApprove = "approve"
	AuditRefuse  = "refuse"
	// AuditForward: who has opened a forwarded port or socket.
	AuditForward = "forward"
	// AuditRun: who runs a command that is in no terminal, as sshd would.
	AuditRun = "run"
	// AuditFiles: who transfers files.
	AuditFiles = "files"
	// AuditPage: who has had a ticket for a web page made.
	AuditPage = "page"
	// AuditDeleteRecording: who has deleted a recording.
	AuditDeleteRecording = "delete-recording"
	// AuditDenied: who has asked for what they may not do, with a terminal or without; reason says
	// why not.
	AuditDenied = "denied"
	// AuditLimit: who has run into a limit.
	AuditLimit = "limit"
)
