// Package logs makes the host's two logs: the one on stderr, about the host's health, and the audit
// log, of logins, refusals and deeds. Neither holds input or output of terminals, secrets of
// tokens, or values of environment variables.
//
// Both sum up what repeats: of records that are alike, one is written at once and then one a second
// at most, or one a minute for what strangers can bring about, with a count. So nobody fills a disk
// by being refused often.
package logs

import (
	"io"
	"log/slog"
	"os"
	"time"

	"golang.org/x/term"
)

// New returns the host's log: text if w is a terminal, else JSON. Call flush at the end, for what
// has been counted and not been written yet.
func New(w io.Writer) (log *slog.Logger, flush func()) {
	var h slog.Handler = slog.NewJSONHandler(w, nil)
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		h = slog.NewTextHandler(w, nil)
	}
	s := sum(h, map[string]time.Duration{
		"a stranger was kept out of the fleet":                  time.Minute,
		"a connection to the fleet's server was dropped":        time.Minute,
		"a host has too many connections to the fleet's server": time.Minute,
		"fleet server": time.Minute,
	})
	return slog.New(s), s.counts.flush
}
