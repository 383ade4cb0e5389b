package logs

import (
	"io"
	"log/slog"
	"time"

	"termhost/authz"
)

// Places of the audit log that are no files.
const (
	ToStderr = "stderr"
	ToNobody = "none"
)

// Audit is the audit log: a JSON object a line, with the time in UTC, the event's name, and those
// of who, key, from, door, connection, terminal, token, reason, count and others that apply. Its
// methods may be called by several goroutines at once.
type Audit struct {
	*slog.Logger
	counts *counts
	file   *rotated // nil: it goes elsewhere
}

// OpenAudit opens the audit log at path, ToStderr, or ToNobody. The file is made with mode 0600;
// when it would grow beyond maxBytes, it becomes path.1 and a new one begins. What one account does
// beyond its share of records is summed up, so that it does not push out what others did. What
// cannot be written is counted and told to log.
func OpenAudit(path string, maxBytes int64, stderr io.Writer, log *slog.Logger) (*Audit, error) {
	a := &Audit{}
	w := stderr
	switch path {
	case ToStderr:
	case ToNobody:
		a.Logger = slog.New(slog.DiscardHandler)
		return a, nil
	default:
		a.file = &rotated{path: path, most: maxBytes, log: log}
		if err := a.file.Reopen(); err != nil {
			return nil, err
		}
		w = a.file
	}
	s := sum(slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: auditAttr}),
		map[string]time.Duration{authz.AuditDropped: time.Minute}).share()
	a.Logger, a.counts = slog.New(s), s.counts
	return a, nil
}

// auditAttr names the built-in attributes as the audit log does: an event has no level.
func auditAttr(groups []string, a slog.Attr) slog.Attr {
	if len(groups) > 0 {
		return a
	}
	switch a.Key {
	case slog.LevelKey:
		return slog.Attr{}
	case slog.MessageKey:
		a.Key = "event"
	case slog.TimeKey:
		a.Value = slog.StringValue(a.Value.Time().UTC().Format(time.RFC3339Nano))
	}
	return a
}

// Reopen opens the file anew, as after somebody else has moved it away.
func (a *Audit) Reopen() error {
	if a.file == nil {
		return nil
	}
	return a.file.Reopen()
}

// Close writes what has been counted and closes the file.
func (a *Audit) Close() error {
	if a.counts != nil {
		a.counts.flush()
	}
	if a.file == nil {
		return nil
	}
	return a.file.Close()
}
