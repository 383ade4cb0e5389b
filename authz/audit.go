package authz

import (
	"crypto/rand"
	"net"
	"strings"
)

// Source is a connection, as the audit log describes it. The zero Source is none.
type Source struct {
	ID   string // no other connection ever has it
	From string // the peer's address
	Door string // the name of one of Doors
	// Within is the marker of the terminal that the peer is a process of; "": none, or unknown.
	Within string
}

// sourceID is the length of a Source's ID, in base32: 50 bits.
const sourceID = 10

// NewSource returns the Source of a new connection.
func NewSource(from net.Addr, door string) Source {
	return Source{ID: strings.ToLower(rand.Text()[:sourceID]), From: from.String(), Door: door}
}

// Attrs returns the attributes of an event that p causes on the connection; p may be nobody yet.
func (s Source) Attrs(p Principal) []any {
	var attrs []any
	add := func(key, value string) {
		if value != "" {
			attrs = append(attrs, key, value)
		}
	}
	key := p.ID
	if p.Guest != "" { // a guest's ID is no key's
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

// The events of the audit log, which is a *slog.Logger. An event is a record's message. Its
// attributes, as far as they apply, are who (the principal's name), terminal (its NAME), token (its
// name, never its secret), reason and others. What a connection causes also has key (its
// fingerprint, followed by a token's name, or the user's id), from (the peer's address), door,
// connection (its id), and inside for a process inside a terminal: see [Source.Attrs]. Nothing that
// is typed or printed is logged.
const (
	// AuditLogin: who has logged in, from where, by which door, and with which token.
	AuditLogin = "login"
	// AuditLogout: who has disconnected, or why the connection was ended.
	AuditLogout = "logout"
	// AuditRefused: a login was refused, and why.
	AuditRefused = "refused"
	// AuditDropped: too many connections were waiting to log in, and some were dropped.
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
	// AuditRole: a key or user has another role than it had: "was" and "role".
	AuditRole = "role-changed"
	// AuditCreate, AuditDispose: who has made or removed a terminal.
	AuditCreate  = "create"
	AuditDispose = "dispose"
	// AuditRename: who has renamed a terminal.
	AuditRename = "rename"
	// AuditAttach, AuditDetach: who attaches to a terminal, or detaches.
	AuditAttach = "attach"
	AuditDetach = "detach"
	// AuditKick: who has detached "to" from a terminal.
	AuditKick = "kick"
	// AuditTakeOver: who has taken a terminal's keyboard.
	AuditTakeOver = "take-over"
	// AuditHandBack: who has given a terminal's keyboard to somebody.
	AuditHandBack = "hand-back"
	// AuditAskKeyboard: who asks "to" for a terminal's keyboard.
	AuditAskKeyboard = "ask-keyboard"
	// AuditGuard: who has turned a terminal's guard on or off.
	AuditGuard = "guard"
	// AuditAsk: which agent waits for approval of what it wants to type or start.
	AuditAsk = "ask"
	// AuditApprove, AuditRefuse: who has approved or refused that.
	AuditApprove = "approve"
	AuditRefuse  = "refuse"
	// AuditForward: who has opened a forwarded port or socket.
	AuditForward = "forward"
	// AuditCarry: who was carried to another host of the fleet, "to".
	AuditCarry = "carry"
	// AuditRun: who runs a command outside of any terminal, as sshd would.
	AuditRun = "run"
	// AuditFiles: who transfers files.
	AuditFiles = "files"
	// AuditDrop: who has given a file to the program of a terminal, and of how many bytes.
	AuditDrop = "drop"
	// AuditPage: who has requested a ticket for a web page.
	AuditPage = "page"
	// AuditDeleteRecording: who has deleted a recording.
	AuditDeleteRecording = "delete-recording"
	// AuditDenied: who was denied something, of a terminal or not, and the reason.
	AuditDenied = "denied"
	// AuditLimit: who has reached a limit.
	AuditLimit = "limit"
)
