package access

import (
	"log/slog"
	"os"
	"path/filepath"

	"termhost/cmd/termhost/config"
	"termhost/cmd/termhost/logs"
)

// auditFile is the audit log's name in the state folder.
const auditFile = "audit.log"

// openAudit opens the audit log that the configuration names. If that fails, as on a full disk, the
// records go to stderr: they are not lost, and the host starts.
func openAudit(cfg config.Config, log *slog.Logger) *logs.Audit {
	path := cfg.Audit.File
	switch path {
	case "":
		path = filepath.Join(cfg.StateDir, auditFile)
	case config.AuditStderr:
		path = logs.ToStderr
	case config.AuditNone:
		path = logs.ToNobody
	}
	audit, err := logs.OpenAudit(path, int64(cfg.Audit.MaxBytes), os.Stderr, log)
	if err != nil {
		log.Error("audit records go to stderr", "err", err)
		audit, _ = logs.OpenAudit(logs.ToStderr, 0, os.Stderr, log) // which cannot fail
	}
	return audit
}
