package recordings

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/authz"
	"termhost/ptypool/statefile"
	"termhost/ptypool/termlog"
)

// Recording is one file. Two of them are the same if the pointers are.
type Recording struct {
	id    string
	about About

	// Guarded by Store.mu.
	bytes int64
	ended time.Time // zero: it goes on
}

// ID returns the recording's name.
func (r *Recording) ID() string { return r.id }

// About returns the recording's description. It must not be modified.
func (r *Recording) About() *About { return &r.about }

// About is the description of a recording. It never changes.
type About struct {
	Format   int       `json:"format"`   // see [journal.Format], which Create sets
	Terminal string    `json:"terminal"` // its NAME at the beginning
	URI      string    `json:"uri"`
	Created  time.Time `json:"created"` // the terminal
	Began    time.Time `json:"began"`
	By       string    `json:"by"` // the ID of the principal who had it made
	Title    string    `json:"title,omitempty"`
	Term     string    `json:"term,omitempty"`
	Nonce    string    `json:"nonce,omitempty"`
	Piped    bool      `json:"piped,omitempty"`
}

// TerminalID returns what the terminal's URI ends with.
func (a *About) TerminalID() string {
	id, _ := ahp.TerminalName(a.URI)
	return id
}

// Seen returns the facts by which the policy knows the terminal, which may be gone.
func (a *About) Seen() authz.Target {
	return authz.Target{Name: a.TerminalID(), Created: a.Created, Called: a.Terminal}
}

// readAbout reads the beginning of a recording's file.
func readAbout(path string) (about About, st fs.FileInfo, err error) {
	f, err := statefile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return about, nil, err
	}
	defer f.Close()
	if st, err = f.Stat(); err != nil {
		return about, nil, err
	}
	first, ok := termlog.FirstRecord(f)
	if !ok || first.Kind != termlog.Description || json.Unmarshal(first.Payload, &about) != nil ||
		about.Format != journal.Format {
		return about, nil, errors.New("this termhost does not know its format")
	}
	return about, st, nil
}
