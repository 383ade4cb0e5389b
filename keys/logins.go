package keys

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"termhost/ptypool/statefile"
)

const (
	// loginsName is the file in the state folder of Logins, with an ID on each line.
	loginsName = "logins"
	// maxLogins bounds how many principals are remembered: people and their keys, not tokens.
	maxLogins = 10_000
)

// Logins remembers who has logged in before, over restarts of the host. Its methods may be called
// concurrently.
type Logins struct {
	path string
	log  *slog.Logger

	mu    sync.Mutex // a leaf
	known map[string]bool
}

// OpenLogins reads what a state folder remembers. A file that cannot be read is logged, and counts
// as empty: who is in it is only greeted once more.
func OpenLogins(stateDir string, log *slog.Logger) *Logins {
	l := &Logins{path: filepath.Join(stateDir, loginsName), log: log, known: map[string]bool{}}
	text, err := statefile.Read(l.path)
	if err != nil && !os.IsNotExist(err) {
		log.Warn("who has logged in before is not known", "err", err)
	}
	for line := range strings.Lines(string(text)) {
		if id, whole := strings.CutSuffix(line, "\n"); whole && len(l.known) < maxLogins {
			l.known[id] = true
		}
	}
	return l
}

// First reports whether the principal with an ID has not logged in before, and remembers it.
func (l *Logins) First(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known[id] || len(l.known) >= maxLogins || strings.ContainsAny(id, "\r\n") {
		return false
	}
	l.known[id] = true
	f, err := statefile.Open(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteString(id + "\n")
		f.Close()
	}
	if err != nil {
		l.log.Warn("who has logged in is not remembered after a restart", "err", err)
	}
	return true
}
