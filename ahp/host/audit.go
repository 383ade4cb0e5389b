package host

import (
	"errors"
	"log/slog"

	"termhost/authz"
)

// Audit returns the audit log, for what doors have to record.
func (h *Host) Audit() *slog.Logger { return h.auditLog }

// Audit records a deed of the connection's peer, or its outcome.
func (c *Conn) Audit(event string, attrs ...any) {
	c.host.auditLog.Info(event, append(attrs, c.source.Attrs(c.principal)...)...)
}

// Denied records err, if that is a refusal by the policy.
func (c *Conn) Denied(err error) {
	var denied *authz.Denied
	if errors.As(err, &denied) {
		var about []any
		if denied.Terminal != "" {
			about = []any{"terminal", denied.Terminal}
		}
		c.Audit(authz.AuditDenied, append(about, "who", c.principal.Name,
			"verb", denied.Verb.String(), "reason", denied.Rule)...)
	}
}

// LogFailure records in the host's log why a request failed, where that is not for the peer.
func (c *Conn) LogFailure(err error) {
	c.host.log.Error("a request failed", "principal", c.principal.Name, "err", err)
}

// audit records an event of the feed in the audit log, if it is one that says who disturbed whom.
// Somebody reads the record long after, so it is written whether or not somebody reads the feed.
func (t *Terminal) audit(e Event) {
	event := ""
	switch e.Kind {
	case EventCreated:
		event = authz.AuditCreate
	case EventDisposed:
		event = authz.AuditDispose
	case EventRenamed:
		event = authz.AuditRename
	case EventAttached:
		event = authz.AuditAttach
	case EventDetached:
		event = authz.AuditDetach
	case EventAsksKeyboard:
		event = authz.AuditAskKeyboard
	case EventAsks:
		event = authz.AuditAsk
	case EventHolderChanged:
		event = authz.AuditHandBack
		if e.By == e.To {
			event = authz.AuditTakeOver
		}
	case EventApproved:
		event = authz.AuditApprove
	case EventRefused:
		event = authz.AuditRefuse
	default:
		return
	}
	attrs := append(make([]any, 0, 16), "terminal", t.Name())
	for _, a := range []slog.Attr{
		slog.String("was", e.Was), slog.String("who", e.By), slog.String("to", e.To),
		slog.String("ask", e.Ask), slog.String("reason", e.Reason),
	} {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	if e.from != nil {
		e.from.Audit(event, attrs...)
		return
	}
	t.host.auditLog.Info(event, attrs...)
}
