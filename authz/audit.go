package authz

// The events of the audit log, which is a *slog.Logger: an event is a record's message, and its
// attributes are who (the principal's name), from (the peer's address), door, terminal (its NAME),
// token (a token's name, never its secret), reason and others, as far as they apply. Nothing of
// what is typed or printed is among them.
const (
	// AuditLogin: who has come in, from somewhere and by a door. token: with which token.
	AuditLogin = "login"
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
	// AuditAttach: who looks at a terminal from now on.
	AuditAttach = "attach"
	// AuditTakeOver: who has taken a terminal's keyboard for itself.
	AuditTakeOver = "take-over"
	// AuditHandBack: who has given a terminal's keyboard to somebody.
	AuditHandBack = "hand-back"
	// AuditApprove, AuditRefuse: who lets an agent type what it asked to, or does not.
	AuditApprove = "approve"
	AuditRefuse  = "refuse"
	// AuditForward: who has opened a forwarded port or socket.
	AuditForward = "forward"
	// AuditLimit: who has run into a limit.
	AuditLimit = "limit"
)
