package host

import (
	"context"
	"log/slog"

	"termhost/authz"
)

// Audit returns the audit log, for what doors have to record.
func (h *Host) Audit() *slog.Logger { return h.auditLog }

// audit records an event of the feed in the audit log, if it is one that says who disturbed whom.
// Somebody reads the record long after, so it is written whether or not somebody reads the feed.
func (t *Terminal) audit(e Event) {
	event := ""
	switch e.Kind {
	case EventCreated:
		event = authz.AuditCreate
	case EventDisposed:
		event = authz.AuditDispose
	case EventAttached:
		event = authz.AuditAttach
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
	attrs := append(make([]slog.Attr, 0, 5), slog.String("terminal", t.name))
	for _, a := range []slog.Attr{
		slog.String("who", e.By), slog.String("to", e.To), slog.String("door", e.door),
		slog.String("reason", e.Reason),
	} {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	t.host.auditLog.LogAttrs(context.Background(), slog.LevelInfo, event, attrs...)
}
